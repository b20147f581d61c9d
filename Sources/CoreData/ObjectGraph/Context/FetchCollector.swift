import Foundation

/// Turns rows into the context's objects, a run at a time.
struct FetchCollector {
    let context: NSManagedObjectContext
    let refreshes: Bool
    var objects: [NSManagedObject] = []
    private var found: [NSManagedObject?] = []
    /// Nil for a context on a coordinator.
    private let above: ChangesAbove?
    private let changeCount: Int

    /// - Parameter changeCount: of the changes above, before they were looked at.
    init(context: NSManagedObjectContext, refreshes: Bool, changeCount: Int) {
        self.context = context
        self.refreshes = refreshes
        self.changeCount = changeCount
        above = context.registry.changesAbove
    }

    mutating func collect(_ run: RowRun) {
        let scope = context.registry.scope(of: run.entity, store: run.store)
        if let above { noteNewest(run, above) }
        found.removeAll(keepingCapacity: true)
        scope.identity?.objects(of: run.batch, run.range, into: &found)
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
        for index in run.range {
            let bytes = rows + index * stride
            let construction = Construction(
                scope: scope,
                owner: batch,
                bytes: bytes,
                key: EntityLayout.key(bytes),
                state: [.registered, .fault]
            )
            objects.append(construction.make(scope))
        }
        scope.identity?.insert(objects[first...])
    }

    private func make(_ scope: EntityScope, _ run: RowRun, _ index: Int) -> NSManagedObject {
        let row = row(run, index)
        let state: ObjectState = row.isOwn ? [.registered, .fault, .ownRow, .sharedRow] : [.registered, .fault]
        return Construction.make(scope, row, key: EntityLayout.key(row.bytes), state: state)
    }

    private func noteNewest(_ run: RowRun, _ above: ChangesAbove) {
        // The rows of a batch are noted as one.
        let known = run.known.compactMap { $0 }
        for row in known + [Row(run.batch, run.range.lowerBound)] { above.noteNewest(row, at: changeCount, write: row.listing?.write) }
    }

    private func row(_ run: RowRun, _ index: Int) -> Row {
        (run.known.isEmpty ? nil : run.known[index - run.range.lowerBound]) ?? Row(run.batch, index)
    }

    /// An object that the context has keeps its values; one without takes the row.
    private func refresh(_ object: NSManagedObject, _ run: RowRun, _ index: Int) {
        if object.state.contains(.rowless) || (object.isFault && object.state.isDisjoint(with: .pending)) {
            context.adopt(row(run, index), object)
        } else if refreshes {
            context.refresh(object, mergeChanges: true)
        }
    }
}
