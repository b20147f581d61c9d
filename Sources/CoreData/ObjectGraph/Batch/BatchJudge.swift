import Foundation

/// Decides about rows of which SQL cannot tell whether a batch request means them: with objects, in a context of its own that sees the stores alone.
///
/// It does so between two transactions, as no program's code runs within one. The second finds out whether anybody has changed what was read.
struct BatchJudge {
    private static let chunk = 1000
    /// So often others may be quicker.
    private static let patience = 10

    private let coordinator: NSPersistentStoreCoordinator
    private let query: FetchQuery
    private let name: String
    private var overtaken = 0

    init(_ coordinator: NSPersistentStoreCoordinator, _ query: FetchQuery, _ name: String) {
        (self.coordinator, self.query, self.name) = (coordinator, query, name)
    }

    /// - Throws: `CocoaError` 133020 where others change the rows whenever they were read; what reading them throws.
    mutating func decision(_ rows: UndecidedRows) throws -> BatchDecision {
        if rows.isOvertaken { overtaken += 1 }
        guard overtaken < Self.patience else {
            throw CocoaError.coreData(
                .managedObjectMerge,
                """
                An \(name) of \(query.entity.name ?? "?") has a part that only memory can evaluate, and others have changed the rows \(overtaken) \
                times meanwhile. Nothing was written: try again, or let the predicate say more that SQL can.
                """
            )
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.retainsRegisteredObjects = true
        return try context.performAndWait { try decision(rows, in: context) }
    }

    private func decision(_ rows: UndecidedRows, in context: NSManagedObjectContext) throws -> BatchDecision {
        let size = rows.sortsInMemory ? max(rows.candidates.count, 1) : Self.chunk
        var (chosen, premises): ([BatchDecision.Candidate], [RowReference: Int32]) = ([], [:])
        for start in stride(from: 0, to: rows.candidates.count, by: size) {
            let chunk = rows.candidates[start..<min(start + size, rows.candidates.count)]
            chosen += try meant(of: chunk, rows, in: context)
            for (row, version) in premisesBeside(chunk, rows.store, in: context) { premises[row] = version }
            context.reset()
        }
        let rest = chosen.dropFirst(query.offset)
        return BatchDecision(
            candidates: rows.candidates,
            chosen: Array(query.limit > 0 ? rest.prefix(query.limit) : rest),
            premises: premises
        )
    }

    /// Those of some rows that the request means, in its order.
    private func meant(
        of chunk: ArraySlice<BatchDecision.Candidate>,
        _ rows: UndecidedRows,
        in context: NSManagedObjectContext
    ) throws -> [BatchDecision.Candidate] {
        let found = try objects(chunk, rows.store, in: context)
        var meant = try chunk.compactMap { row -> (row: BatchDecision.Candidate, object: NSManagedObject)? in
            guard let object = found[row.key], try query.predicate?.holds(for: object) ?? true else { return nil }
            return (row, object)
        }
        if rows.sortsInMemory { meant.sort { ObjectOrder.precedes($0.object, $1.object, query.sortDescriptors) } }
        return meant.map(\.row)
    }

    private func objects(
        _ chunk: ArraySlice<BatchDecision.Candidate>,
        _ store: Int32,
        in context: NSManagedObjectContext
    ) throws -> [Int64: NSManagedObject] {
        let entities = coordinator.managedObjectModel.entitiesInIndexOrder
        let ids = Dictionary(grouping: chunk, by: \.entity).flatMap { entity, rows in
            let space = coordinator.ids(of: entities[entity], inStoreNumbered: store)
            return rows.map { NSManagedObjectID(RowIdentity(RowReference(key: $0.key, entity: Int32(entity), store: store), in: space)) }
        }
        let request = NSFetchRequest<NSManagedObject>()
        (request.entity, request.predicate) = (query.entity, NSPredicate(format: "SELF IN %@", ids))
        return Dictionary(try context.fetch(request).map { ($0.key, $0) }) { first, _ in first }
    }

    /// What else was read: rows that predicate and order were led to.
    private func premisesBeside(
        _ chunk: ArraySlice<BatchDecision.Candidate>,
        _ store: Int32,
        in context: NSManagedObjectContext
    ) -> [(RowReference, Int32)] {
        let root = query.entity.rootEntity
        let own = Set(chunk.map(\.key))
        return context.registeredObjects.compactMap { object in
            guard object.state.isDisjoint(with: [.rowless, .pending]) else { return nil }
            if object.entity.rootEntity === root, object.rowReference.store == store, own.contains(object.key) { return nil }
            return (object.rowReference, object.currentRow.version)
        }
    }
}
