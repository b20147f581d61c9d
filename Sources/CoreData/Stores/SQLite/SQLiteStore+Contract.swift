import Foundation

extension SQLiteStore: RowStore {
    var capabilities: StoreCapabilities {
        let basic = isInMemory ? Self.ofMemory : keepsSnapshots ? Self.ofLoggedFiles : Self.ofFiles
        return history == nil ? basic : basic.union(.history)
    }

    private static let ofMemory: StoreCapabilities = [
        .sql, .constraints, .severalProcesses, .batch, .schemaMigration, .transactions, .emptying, .positions,
    ]
    private static let ofFiles = ofMemory.union(.durable)
    private static let ofLoggedFiles = ofFiles.union(.generations)

    private var isInMemory: Bool { if case .memory = lock.identity { true } else { false } }

    var location: StoreLocation { .database(lock.identity) }

    func requireInPlace() throws {
        try reporting("open a second time") {
            try requireFile()
            try reading { _ = try StoreMetadata.uuid(in: $0) }
        }
    }

    func rows(for references: [RowReference], root: NSEntityDescription) throws -> [Int64: Row] {
        try rows(for: references.map(\.key), root: root)
    }

    func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow] {
        try relatedRows(relationship, owners: owners.map(\.key))
    }

    func cachedRow(root: Int, key: Int64) -> Row? { cache.row(root: root, key: key) }

    func forgetRow(root: Int, key: Int64) { cache.forget(root: root, key: key) }

    /// The key in `p12`.
    func key(named text: String, of entity: NSEntityDescription) -> Int64? {
        guard text.hasPrefix("p"), text.utf8.dropFirst().allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(text.dropFirst()).flatMap { $0 > 0 ? $0 : nil }
    }

    func pooledKeys(_ count: Int, for entity: NSEntityDescription) -> Int64? {
        keyPool.take(count, root: schema.entity(for: entity).rootNumber)
    }

    func reserveKeys(for rows: [Row], of entity: NSEntityDescription) throws -> [Int64] {
        let first = try reserveKeys(rows.count, for: entity)
        return (0..<Int64(rows.count)).map { first + $0 }
    }

    var hasUnwrittenMetadata: Bool { changedMetadata != nil }

    func save(_ changes: StoreChanges, _ next: () throws -> Void) throws -> StoreReceipt {
        let run = try write(changes) { _ in try next() }
        return StoreReceipt(insertedKeys: run.insertedKeys, publish: run.publish)
    }

    func reopened() throws -> any RowStore { try reopened(options: options, mayMigrate: wasReplaced) }

    func emptied(options: [AnyHashable: Any]?) throws -> any RowStore {
        try requireWritable()
        let fresh = try reopened(options: options)
        do {
            try fresh.empty(insteadOf: self)
        } catch {
            successor.withLock { $0 = nil }
            fresh.close()
            throw error
        }
        return fresh
    }
}
