import Foundation
import SQLiteDriver

extension SQLiteStore {
    /// Whether keys are collected also where nobody asks for them: for who writes down, in the same transaction, what was changed.
    var tracksBatchKeys: Bool { false }

    /// Carries a batch request out, in one transaction. `next` runs before the commit: where it throws, nothing is written here either.
    ///
    /// - Throws: a `CocoaError`; the file is as it was then.
    func execute(_ request: BatchRequest, _ next: () throws -> Void) throws -> BatchReceipt {
        do {
            return try pool.write { connection in
                let changes = try connection.transaction(.immediate) {
                    try requireSameStore(connection)
                    let changes = try write(request, connection)
                    // NB: what keeps a history writes it here: `changes` says which rows, of which entities, and with which properties.
                    try requireFile()
                    try next()
                    return changes
                }
                let number = publicationOrder.next()
                return BatchReceipt(changes: changes) { [self] in publicationOrder.publish(number) { _ in forget(changes) } }
            }
        } catch let error as SQLiteError {
            orderMarks.forget()
            throw reported(error, request)
        } catch {
            orderMarks.forget()
            throw error
        }
    }

    private func write(_ request: BatchRequest, _ connection: Connection) throws -> BatchChanges {
        let collectsKeys = request.wantsKeys || tracksBatchKeys
        switch request.change {
        case .delete(let query):
            var deletion = BatchDeletion(self, connection, query, collectsKeys: collectsKeys)
            return try deletion.run()
        case .update(let query, let assignments):
            var updating = BatchUpdating(self, connection, query, assignments, collectsKeys: collectsKeys)
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
            "An \(request.name) of \(request.entity.name ?? "?") would break a uniqueness constraint, and nothing was written: \(error.message).",
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
