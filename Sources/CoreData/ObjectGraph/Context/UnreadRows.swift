import Foundation

/// Results of one fetch whose rows are read together, when the first of them is used.
///
/// The objects share an empty row, which knows this, or have rows of some values, which know it too.
final class UnreadRows {
    let references: [RowReference]
    let paths: PrefetchPaths
    /// What the objects hold until then; nil for nothing.
    let held: HeldValues?

    init(_ references: ArraySlice<RowReference>, _ paths: PrefetchPaths, held: HeldValues? = nil) {
        self.references = Array(references)
        self.paths = paths
        self.held = held
    }
}

extension NSManagedObject {
    /// What the object's row is read with; nil where it has one, or is read alone.
    final var unreadRows: UnreadRows? {
        guard state.contains(.rowless), !state.contains(.ownRow) else { return nil }
        return batch.unread as? UnreadRows
    }
}

extension NSManagedObjectContext {
    /// The objects of rows that are to be read `count` at a time; those that the context has already, and are no faults, as they are.
    func objects(for references: [RowReference], unread count: Int, _ paths: PrefetchPaths) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(references.count)
        for start in stride(from: 0, to: references.count, by: count) {
            appendUnread(references[start..<min(start + count, references.count)], paths, to: &objects)
        }
        return objects
    }

    func appendUnread(_ references: ArraySlice<RowReference>, _ paths: PrefetchPaths, to objects: inout [NSManagedObject]) {
        let unread = UnreadRows(references, paths)
        var batch: RowBatch?
        func emptyRow(_ layout: EntityLayout) -> Row {
            if let batch, batch.layout === layout { return Row(batch, 0) }
            let made = RowBatch(emptyFor: unread, layout: layout)
            batch = made
            return Row(made, 0)
        }
        for reference in references {
            if reference.key < 0 || registeredObject(for: reference) != nil {
                let object = object(for: reference)
                // A fault shows what this fetch finds, not what the context or the row cache has had of it before.
                if object.key > 0 { object.beUnread(emptyRow(object.scope.shape.layout)) }
                objects.append(object)
                continue
            }
            let entity = parentSource.managedObjectModel.entitiesInIndexOrder[Int(reference.entity)]
            let scope = registry.scope(of: entity, store: reference.store)
            let row = emptyRow(scope.shape.layout)
            let object = Construction.make(scope, row, key: reference.key, state: [.registered, .fault, .rowless])
            scope.identity?.insert(object)
            objects.append(object)
        }
    }

    /// Reads the rows of all those that are still here and have none, with one statement, and what was to be read along.
    func read(_ unread: UnreadRows) throws {
        let objects = unread.references.compactMap { registeredObject(for: $0) }
        let waiting = objects.filter { $0.unreadRows === unread }
        // Others may have changed them since they came into the row cache.
        parentSource.forgetRows(waiting.map(\.rowReference))
        try readRows(of: waiting)
        try prefetch(unread.paths, of: objects)
    }
}
