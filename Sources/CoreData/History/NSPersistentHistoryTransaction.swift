import Foundation
import Predicates

/// One save of a context, or one batch request, as the history of a store tells it.
///
/// Immutable, and good on any thread. Two are equal where they are the same transaction of the same store.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    // Sendable: immutable but for what is behind a lock.
    private let log: HistoryLog
    private let index: Int
    /// The place in the history behind this transaction. Where several stores were asked, it tells how far each of them had been read.
    public let token: NSPersistentHistoryToken
    private let hasChanges: Bool
    private let made = Lock<[NSPersistentHistoryChange]?>(nil)

    init(_ log: HistoryLog, _ index: Int, _ token: NSPersistentHistoryToken, hasChanges: Bool) {
        (self.log, self.index, self.token, self.hasChanges) = (log, index, token, hasChanges)
    }

    private var record: HistoryRecords.Transaction { log.records.transactions[index] }

    /// When it was committed, by the clock of the process that did.
    open var timestamp: Date { Date(timeIntervalSinceReferenceDate: record.timestamp) }
    /// Its changes; nil where just transactions were asked for. Of a save, each object is there once; of a batch request, as often as it has written it.
    open var changes: [NSPersistentHistoryChange]? {
        guard hasChanges else { return nil }
        return made.withLock { known in
            if let known { return known }
            let changes = record.changes.map { NSPersistentHistoryChange(log, index, $0) }
            known = changes
            return changes
        }
    }
    /// Grows from transaction to transaction of a store, and is never given twice.
    open var transactionNumber: Int64 { record.number }
    /// The UUID of the store.
    open var storeID: String { log.storeID }
    /// The bundle that saved; its process where that has none.
    open var bundleID: String { record.bundleID ?? "" }
    /// The name of the process that saved.
    open var processID: String { record.processID ?? "" }
    /// The `name` of the context that saved into the store.
    open var contextName: String? { record.contextName }
    /// The `transactionAuthor` of that context.
    open var author: String? { record.author }

    /// A notification that `mergeChanges(fromContextDidSave:)` takes: the object IDs of the changes by kind.
    ///
    /// An object that was inserted and deleted counts as what came last.
    open func objectIDNotification() -> Notification {
        var ids: [NSManagedObjectContext.NotificationKey: Set<NSManagedObjectID>] = [:]
        var latest: [NSManagedObjectID: HistoryRecords.Kind] = [:]
        latest.reserveCapacity(record.changes.count)
        for change in record.changes { latest[log.objectID(log.records.changes[change])] = log.records.changes[change].kind }
        for (id, kind) in latest { ids[kind.notificationKey, default: []].insert(id) }
        let info = Dictionary(ids.map { (AnyHashable($0.key.rawValue), $0.value as Any) }) { $1 }
        return Notification(name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, userInfo: info)
    }

    /// How many changes it has, also where they were not asked for.
    var changeCount: Int { record.changes.count }

    /// Where its deletes are, or all other changes.
    func runs(ofDeletes areDeletes: Bool) -> [Range<Int>] {
        let changes = log.records.changes[record.changes]
        let runs = changes.indices { ($0.kind == .delete) == areDeletes }.ranges
        return runs.map { $0.lowerBound - changes.startIndex..<$0.upperBound - changes.startIndex }
    }

    /// Goes through some of the changes, without an object for each.
    func forEachChange(in range: Range<Int>, _ body: (NSManagedObjectID, HistoryRecords.Kind) -> Void) {
        for change in record.changes.dropFirst(range.lowerBound).prefix(range.count) {
            body(log.objectID(log.records.changes[change]), log.records.changes[change].kind)
        }
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return other.storeID == storeID && other.transactionNumber == transactionNumber
    }
    open override var hash: Int { transactionNumber.hashValue }
    open override var description: String {
        "NSPersistentHistoryTransaction (\(transactionNumber), author: \(author ?? "nil"), \(record.changes.count) changes)"
    }
}

extension HistoryRecords.Kind {
    fileprivate var notificationKey: NSManagedObjectContext.NotificationKey {
        switch self {
        case .insert: .insertedObjectIDs
        case .update: .updatedObjectIDs
        case .delete: .deletedObjectIDs
        }
    }
}

/// What predicates see of a transaction.
extension NSPersistentHistoryTransaction: KeyValueSource {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "timestamp": timestamp
        case "transactionNumber", "token": transactionNumber
        case "storeID": storeID
        case "bundleID": bundleID
        case "processID": processID
        case "contextName": contextName
        case "author": author
        case "changes": changes
        default: throw PredicateEvaluationError.undefinedKey(key, type: "NSPersistentHistoryTransaction")
        }
    }
}
