import Foundation
import Testing

@testable import CoreData

/// A library whose store keeps a history.
func trackedLibrary(_ kind: StoreKind) throws -> Library { try Library(kind, options: [NSPersistentHistoryTrackingKey: true]) }

extension NSManagedObjectContext {
    func run(
        _ request: NSPersistentHistoryChangeRequest,
        _ type: NSPersistentHistoryResultType = .transactionsAndChanges
    ) throws -> Any? {
        request.resultType = type
        return try #require(try execute(request) as? NSPersistentHistoryResult).result
    }

    func history(after token: NSPersistentHistoryToken? = nil) throws -> [NSPersistentHistoryTransaction] {
        try transactions(.fetchHistory(after: token))
    }

    func transactions(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
        try #require(try run(request) as? [NSPersistentHistoryTransaction])
    }

    /// The changes of each transaction as lines.
    func told(after token: NSPersistentHistoryToken? = nil) throws -> [[String]] {
        try history(after: token).map { ($0.changes ?? []).map(\.told).sorted() }
    }
}

extension NSPersistentHistoryChange {
    /// `update Book/p1 pages title`
    var told: String {
        let names = updatedProperties.map { " " + $0.map(\.name).sorted().joined(separator: " ") } ?? ""
        let id = changedObjectID.uriRepresentation()
        return "\(changeType) \(changedObjectID.entity.name ?? "")/\(id.lastPathComponent)\(names)"
    }
}
