import Foundation
import SQLiteDriver

/// The rows of a store that keeps its objects as a whole elsewhere: a database in memory, so that fetches, faults, relationships, constraints and
/// conflicts mean what they mean for every other store.
final class StoreMirror {
    private let engine: SQLiteStore

    init(_ store: NSPersistentStore, model: NSManagedObjectModel) throws {
        engine = try SQLiteStore.open(
            StorePlace(type: NSInMemoryStoreType, url: nil),
            model: model,
            configurationName: store.explicitConfigurationName,
            options: nil
        )
        (engine.knownIdentifier, engine.references, engine.home) = (store.knownIdentifier, store.references, store.home)
    }

    /// The store itself, for what it answers as any other.
    var rows: any RowStore { engine }

    /// Rows come in that nobody has saved: no context hears of them.
    func fill(_ changes: StoreChanges) throws { _ = try engine.write(changes) { _ in } }

    /// Takes changes in one transaction; `body` runs before the commit, with the rows as they will be, and where it throws nothing has changed.
    func save(_ changes: StoreChanges, _ body: (StagedSave) throws -> Void) throws -> StoreReceipt {
        let run = try engine.write(changes) { run in
            try body(StagedSave(keys: run.insertedKeys, rows: engine.staged(on: run.connection)))
        }
        return StoreReceipt(insertedKeys: run.insertedKeys, publish: run.publish)
    }

    /// Keys for new objects, which no reference object has yet.
    func reserveKeys(_ count: Int, for entity: NSEntityDescription) throws -> [Int64] {
        let first = try engine.reserveKeys(count, for: entity)
        return (0..<Int64(count)).map { first + $0 }
    }
}

/// A save before its commit.
struct StagedSave {
    /// For each group of the changes, in order: the keys of the inserts.
    let keys: [ContiguousArray<Int64>]
    /// The rows as they will be. For reading only, on this thread, until the commit.
    let rows: any RowStore
}

extension SQLiteStore {
    /// The store as the transaction of a connection sees it, with a cache of its own.
    fileprivate func staged(on connection: Connection) -> SQLiteStore {
        let opened = OpenedDatabase(
            schema: schema,
            metadata: state.withLock(\.metadata),
            pool: ConnectionPool(borrowing: connection),
            counter: counter,
            type: type,
            isReadOnly: true
        )
        let staged = SQLiteStore(
            opened,
            model: model,
            configurationName: explicitConfiguration,
            url: url ?? URL(fileURLWithPath: "/dev/null"),
            options: nil
        )
        (staged.knownIdentifier, staged.references) = (knownIdentifier, references)
        return staged
    }
}
