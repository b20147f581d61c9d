import Foundation

/// What one store has told of its history: what transactions and changes are made of.
// Sendable: immutable; the descriptions are frozen.
final class HistoryLog: @unchecked Sendable {
    let records: HistoryRecords
    let storeID: String
    private let spaces: [IDSpace?]
    private let store: Int32

    init(_ records: HistoryRecords, _ store: any RowStore, _ coordinator: NSPersistentStoreCoordinator) {
        self.records = records
        (storeID, self.store) = (store.identifier, store.number)
        spaces = coordinator.managedObjectModel.entitiesInIndexOrder.map { entity in
            store.holds(entity) ? coordinator.ids(of: entity, inStoreNumbered: store.number) : nil
        }
    }

    private init(_ other: HistoryLog, _ records: HistoryRecords) {
        (self.records, storeID, spaces, store) = (records, other.storeID, other.spaces, other.store)
    }

    func objectID(_ change: HistoryRecords.Change) -> NSManagedObjectID {
        guard let space = spaces[Int(change.entity)] else { misuse("unreachable: a store tells of its own entities") }
        return NSManagedObjectID(RowIdentity(RowReference(key: change.key, entity: change.entity, store: store), in: space))
    }

    /// Where no other store is told of: the place behind a transaction.
    func token(_ transaction: Int) -> NSPersistentHistoryToken {
        NSPersistentHistoryToken([storeID: records.transactions[transaction].number])
    }

    /// The transactions for which a predicate holds, or those with changes for which it does.
    func filtered(by query: HistoryQuery) throws -> HistoryLog {
        guard let predicate = records.remainder else { return self }
        var rest = records
        (rest.transactions, rest.changes, rest.remainder) = ([], [], nil)
        for index in records.transactions.indices {
            var transaction = records.transactions[index]
            let first = rest.changes.count
            switch query.subject {
            case .transactions:
                guard try predicate.evaluate(NSPersistentHistoryTransaction(self, index, token(index), hasChanges: true)) == true else {
                    continue
                }
                rest.changes += records.changes[transaction.changes]
            case .changes:
                for change in transaction.changes where try predicate.evaluate(NSPersistentHistoryChange(self, index, change)) == true {
                    rest.changes.append(records.changes[change])
                }
                if rest.changes.count == first { continue }
            }
            transaction.changes = first..<rest.changes.count
            rest.transactions.append(transaction)
        }
        return HistoryLog(self, rest)
    }
}
