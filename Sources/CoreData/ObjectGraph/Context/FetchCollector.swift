import Foundation

/// Turns rows into the context's objects, a run at a time.
struct FetchCollector {
    let context: NSManagedObjectContext
    let refreshes: Bool
    var objects: [NSManagedObject] = []
    private var found: [NSManagedObject?] = []
    /// As long as what count values that are read of some properties only; nil where rows are read whole.
    private let stamp: HeldValues.Stamp?
    /// Nil for a context on a coordinator.
    private let above: ChangesAbove?
    private let changeCount: Int

    /// - Parameters:
    ///   - changeCount: of the changes above, before they were looked at.
    ///   - isPartial: whether rows may hold some values only.
    init(context: NSManagedObjectContext, refreshes: Bool, changeCount: Int, isPartial: Bool = false) {
        self.context = context
        self.refreshes = refreshes
        self.changeCount = changeCount
        stamp = isPartial ? context.heldValuesStamp : nil
        above = context.registry.changesAbove
    }

    mutating func collect(_ run: RowRun) {
        let scope = context.registry.scope(of: run.entity, store: run.store)
        if let above { noteNewest(run, above) }
        found.removeAll(keepingCapacity: true)
        scope.identity?.objects(of: run.batch, run.range, into: &found)
        if let slots = run.heldSlots, let stamp { run.batch.unread = UnreadRows(run, held: HeldValues(slots: slots, stamp: stamp)) }
        if run.known.isEmpty, found.allSatisfy({ $0 == nil }) { return makeAll(scope, run) }
        for (offset, index) in run.range.enumerated() {
            if let object = found[offset], object.scope === scope {
                refresh(object, run, index)
                objects.append(object)
            } else {
                // Somebody took the row for one of another entity; the row knows better.
                if let object = found[offset] { context.vanish(object, .wrongEntity) }
                let object = make(scope, run, index)
                scope.identity?.insert(object)
                objects.append(object)
            }
        }
    }

    /// The common case: rows that nobody has yet. They are listed under one lock.
    private mutating func makeAll(_ scope: EntityScope, _ run: RowRun) {
        let (first, batch) = (objects.count, run.batch)
        let (stride, rows) = (batch.layout.batchStride, batch.base)
        let state = state(of: run)
        for index in run.range {
            let bytes = rows + index * stride
            let construction = Construction(
                scope: scope,
                owner: batch,
                bytes: bytes,
                key: EntityLayout.key(bytes),
                state: state
            )
            objects.append(construction.make(scope))
        }
        scope.identity?.insert(objects[first...])
    }

    private func make(_ scope: EntityScope, _ run: RowRun, _ index: Int) -> NSManagedObject {
        let row = row(run, index)
        let knownState: ObjectState = row.isOwn ? [.registered, .fault, .ownRow, .sharedRow] : [.registered, .fault]
        let state = row.owner === run.batch ? state(of: run) : knownState
        return Construction.make(scope, row, key: EntityLayout.key(row.bytes), state: state)
    }

    /// The state of an object with a row of the run.
    private func state(of run: RowRun) -> ObjectState {
        run.heldSlots == nil ? [.registered, .fault] : [.registered, .fault, .rowless]
    }

    private func noteNewest(_ run: RowRun, _ above: ChangesAbove) {
        // The rows of a batch are noted as one.
        let known = run.known.compactMap { $0 }
        for row in known + [Row(run.batch, run.range.lowerBound)] { above.noteNewest(row, at: changeCount, write: row.listing?.write) }
    }

    private func row(_ run: RowRun, _ index: Int) -> Row {
        (run.known.isEmpty ? nil : run.known[index - run.range.lowerBound]) ?? Row(run.batch, index)
    }

    /// An object that the context has keeps its values; one without takes the row. One that counts as deleted is seen to after the fetch.
    private func refresh(_ object: NSManagedObject, _ run: RowRun, _ index: Int) {
        if object.isMissing { return }
        let row = row(run, index)
        if run.heldSlots != nil, row.owner === run.batch {
            object.hold(row)
        } else if object.state.contains(.rowless) || (object.isFault && object.state.isDisjoint(with: .pending)) {
            context.adopt(row, object)
        } else if refreshes {
            context.refresh(object, mergeChanges: true)
        }
    }
}
