import Foundation

/// Turns rows into the context's objects, a run at a time.
struct FetchCollector {
    let context: NSManagedObjectContext
    let refreshes: Bool
    var objects: [NSManagedObject] = []
    private var found: [NSManagedObject?] = []

    init(context: NSManagedObjectContext, refreshes: Bool) {
        self.context = context
        self.refreshes = refreshes
    }

    mutating func collect(_ run: RowRun) {
        let scope = context.registry.scope(of: run.entity, store: run.store)
        let batch = run.batch
        found.removeAll(keepingCapacity: true)
        scope.identity?.objects(of: batch, run.range, into: &found)
        let first = objects.count
        var isNew = true
        for (offset, index) in run.range.enumerated() {
            if let object = found[offset], object.scope === scope {
                isNew = false
                refresh(object, run, index)
                objects.append(object)
            } else {
                if let object = found[offset] { disown(object, offset) }
                objects.append(make(scope, run, index))
            }
        }
        // Where all are new, which is the common case, they are listed under one lock.
        if isNew { scope.identity?.insert(objects[first...]) } else { list(first) }
    }

    /// Somebody took the row for one of another entity; the row knows better.
    private mutating func disown(_ object: NSManagedObject, _ offset: Int) {
        context.unregister(object)
        found[offset] = nil
    }

    private func list(_ first: Int) {
        for (offset, object) in found.enumerated() where object == nil {
            objects[first + offset].scope.identity?.insert(objects[first + offset])
        }
    }

    private func make(_ scope: EntityScope, _ run: RowRun, _ index: Int) -> NSManagedObject {
        let row = run.known.isEmpty ? Row(run.batch, index) : self.row(run, index)
        let state: ObjectState = row.isOwn ? [.registered, .fault, .ownRow, .sharedRow] : [.registered, .fault]
        return Construction(scope: scope, row: row, key: EntityLayout.key(row.bytes), state: state).make()
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
