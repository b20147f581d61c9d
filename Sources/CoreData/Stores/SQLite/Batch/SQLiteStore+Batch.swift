import Foundation
import SQLiteDriver

extension SQLiteStore {
    /// Carries a batch request out, in one transaction. `next` runs before the commit: where it throws, nothing is written here either.
    ///
    /// - Throws: a `CocoaError`; `UndecidedRows` where memory has to tell which rows are meant. The file is as it was then.
    func execute(_ request: BatchRequest, _ next: () throws -> Void) throws -> BatchReceipt {
        do {
            return try pool.write { connection in
                _ = connection.takeReportedRows()
                let changes = try connection.transaction(.immediate) {
                    try requireSameStore(connection)
                    let writer = try history.map { try HistoryWriter(self, connection, $0) }
                    let changes = try write(request, connection, writer)
                    try writer?.note(changes)
                    _ = try writer?.finish(request.origin)
                    try requireFile(of: connection)
                    try next()
                    return changes
                }
                let derived = changedByTriggers(connection)
                let number = publicationOrder.next()
                lock.commits.signal()
                return BatchReceipt(changes: changes) { [self] in
                    publicationOrder.publish(number) { _ in
                        forget(changes)
                        for (root, keys) in derived { cache.forget(root: root, keys: keys) }
                    }
                }
            }
        } catch let error as SQLiteError {
            orderMarks.forget()
            throw reported(error, request)
        } catch {
            orderMarks.forget()
            throw error
        }
    }

    private func write(_ request: BatchRequest, _ connection: Connection, _ history: HistoryWriter?) throws -> BatchChanges {
        let (collectsKeys, decision) = (request.wantsKeys || history != nil, request.decisions[number])
        switch request.change {
        case .delete(let query):
            var deletion = BatchDeletion(self, connection, query, decision, collectsKeys: collectsKeys, history)
            return try deletion.run()
        case .update(let query, let assignments):
            var updating = BatchUpdating(self, connection, query, assignments, decision, collectsKeys: collectsKeys)
            return try updating.run()
        case .insert(let rows):
            var insertion = BatchInsertion(self, connection, rows, collectsKeys: collectsKeys)
            return try insertion.run()
        }
    }

    private func reported(_ error: SQLiteError, _ request: BatchRequest) -> CocoaError {
        guard error.isBrokenUniqueIndex else {
            return CocoaError(error, url: url, doing: "carry out an \(request.name)", default: .persistentStoreSave)
        }
        return .coreData(
            .managedObjectConstraintMerge,
            "An \(request.name) of \(request.entity.name ?? "?") would break a uniqueness constraint, of "
                + "\(schema.entity(for: request.entity).unique(in: error)), and nothing was written.",
            userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)]
        )
    }

    /// Rows are not what they were: whoever needs one reads it.
    private func forget(_ changes: BatchChanges) {
        for root in changes.unlistedRoots { cache.forget(root: root) }
        for rows in changes.updated + changes.deleted {
            cache.forget(root: model.entitiesInIndexOrder[rows.entity].rootEntity.index, keys: rows.keys)
        }
    }
}

extension BatchChanges {
    /// The updated rows, each once with all that was written of it.
    fileprivate var updatedOnce: [Rows] {
        Dictionary(grouping: updated.filter { !$0.keys.isEmpty }, by: \.entity).sorted { $0.key < $1.key }.flatMap { entity, lists in
            if lists.count == 1 { return lists }
            var properties: [Int64: Set<String>] = [:]
            for rows in lists { for key in rows.keys { properties[key, default: []].formUnion(rows.properties) } }
            return Dictionary(grouping: properties.keys) { properties[$0] ?? [] }
                .map { Rows(entity: entity, keys: $1.sorted(), properties: $0.sorted()) }
                .sorted { $0.keys[0] < $1.keys[0] }
        }
    }
}

extension HistoryWriter {
    /// What a batch request has inserted and updated; it has noted deletes itself, while the rows were there.
    fileprivate func note(_ changes: BatchChanges) throws {
        let entities = store.model.entitiesInIndexOrder
        for rows in changes.inserted { try noteInserts(ContiguousArray(rows.keys), entities[rows.entity]) }
        for rows in changes.updatedOnce {
            let (entity, names) = (entities[rows.entity], Set(rows.properties))
            var (slots, toManys) = (SlotMask(), SlotMask())
            for (slot, property) in entity.shape.layout.slots.enumerated() where property.kind != .position && names.contains(property.name)
            {
                slots.insert(slot)
            }
            for (index, relationship) in entity.shape.toManys.enumerated() where names.contains(relationship.name) { toManys.insert(index) }
            try noteUpdates(of: rows.keys, entity, store.historyBits(entity).bytes(slots, toManys))
        }
    }
}
