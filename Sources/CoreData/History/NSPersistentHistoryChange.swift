import Foundation
import Predicates

/// What became of an object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
}

/// A change of one object, as the history of a store tells it.
///
/// Immutable, and good on any thread.
open class NSPersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
    // Sendable: immutable; the descriptions are frozen.
    private let log: HistoryLog
    private let index: Int
    private let change: Int

    init(_ log: HistoryLog, _ index: Int, _ change: Int) { (self.log, self.index, self.change) = (log, index, change) }

    private var record: HistoryRecords.Change { log.records.changes[change] }

    /// Grows from change to change of a store.
    open var changeID: Int64 { record.id }
    /// The object, which may be gone since.
    open var changedObjectID: NSManagedObjectID { log.objectID(record) }
    // The raw values are the same.
    open var changeType: NSPersistentHistoryChangeType { NSPersistentHistoryChangeType(rawValue: Int(record.kind.rawValue))! }
    /// Of a deleted object, the values of the attributes with `preservesValueInHistoryOnDeletion`, by name; nil where its entity has none.
    open var tombstone: [AnyHashable: Any]? {
        guard record.kind == .delete, record.detail >= 0 else { return nil }
        return log.records.tombstones[Int(record.detail)]
    }
    /// The transaction, without the changes.
    open var transaction: NSPersistentHistoryTransaction? {
        NSPersistentHistoryTransaction(log, index, log.token(index), hasChanges: false)
    }
    /// What an update has changed: attributes and relationships, whose inverses count for the objects at the other ends. Nil where another
    /// version of the model says what; empty where nothing has but the object's place in an ordered relationship.
    open var updatedProperties: Set<NSPropertyDescription>? {
        guard record.kind == .update, record.detail >= 0 else { return nil }
        return log.records.properties[Int(record.detail)]
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        return other.log.storeID == log.storeID && other.changeID == changeID
    }
    open override var hash: Int { changeID.hashValue }
    open override var description: String { "NSPersistentHistoryChange (\(changeID), \(changeType), \(changedObjectID))" }
}

/// What predicates see of a change.
extension NSPersistentHistoryChange: KeyValueSource {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "changeID", "changedID": changeID
        case "changedObjectID": changedObjectID
        case "changedEntity": changedObjectID.entity
        case "changeType": changeType.rawValue
        case "tombstone": tombstone
        case "transaction": transaction
        case "updatedProperties": updatedProperties.map { $0.map(\.name) }
        default: throw PredicateEvaluationError.undefinedKey(key, type: "NSPersistentHistoryChange")
        }
    }
}
