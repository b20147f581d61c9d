import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

/// Runs `body` and gives the Core Data error that it must throw.
@discardableResult
func cocoaError<Result>(
    _ code: Int,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Result
) -> CocoaError? {
    do {
        _ = try body()
        Issue.record("Nothing was thrown, instead of error \(code).", sourceLocation: sourceLocation)
    } catch let error as CocoaError {
        #expect(error.errorCode == code, "\(error.localizedDescription)", sourceLocation: sourceLocation)
        #expect(!error.localizedDescription.isEmpty, sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("\(error) was thrown, instead of CocoaError \(code).", sourceLocation: sourceLocation)
    }
    return nil
}

/// A coordinator with the stores that a test adds, and contexts on it.
struct Stack {
    let coordinator: NSPersistentStoreCoordinator

    init(_ model: NSManagedObjectModel = LibraryModel.make()) { coordinator = NSPersistentStoreCoordinator(managedObjectModel: model) }

    /// A coordinator with one store.
    init(_ url: URL, _ model: NSManagedObjectModel = LibraryModel.make(), options: [AnyHashable: Any]? = nil) throws {
        self.init(model)
        try add(url, options: options)
    }

    @discardableResult
    func add(_ url: URL?, configuration: String? = nil, options: [AnyHashable: Any]? = nil) throws -> SQLiteStore {
        let store = try coordinator.addPersistentStore(
            ofType: url.map { StoreKind(of: $0).type } ?? NSSQLiteStoreType,
            configurationName: configuration,
            at: url,
            options: options
        )
        return try #require(store as? SQLiteStore)
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func close() throws { for store in coordinator.persistentStores { try coordinator.remove(store) } }
}

extension NSMergePolicyType {
    static let all: [Self] = [
        .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]
}

/// The bytes of a store's file and of its write-ahead log.
func bytes(of url: URL) -> [Data?] { ["", "-wal"].map { FileManager.default.contents(atPath: url.path + $0) } }

func exists(_ url: URL, _ suffix: String = "") -> Bool { FileManager.default.fileExists(atPath: url.path + suffix) }

/// Makes a store with some tags and closes it.
func makeStore(at url: URL, labels: [String] = ["a", "b", "c"]) throws {
    let stack = try Stack(url)
    let context = stack.newContext()
    for label in labels { Tag(context: context).label = label }
    try context.save()
    try stack.close()
}

extension NSManagedObjectContext {
    func labels() throws -> [String?] {
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
        return try fetch(request).map(\.label)
    }

    func all<Object: NSManagedObject>(_ type: Object.Type, _ entity: String, orderedBy key: String?) throws -> [Object] {
        let request = NSFetchRequest<Object>(entityName: entity)
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }
}

/// Makes one statement of a store's writing connection fail, or end the process.
final class FaultInjector {
    struct Injected: Error, Equatable {}

    private(set) var count = 0
    private let connection: Connection
    private let observe: ((String) throws -> Void)?

    init(_ store: SQLiteStore) throws {
        connection = try store.pool.write { $0 }
        observe = connection.onStatement
    }

    /// Counts from 1 from now on; statement `number` does `action` instead.
    func arm(
        _ number: Int,
        _ action: @escaping (String) throws -> Void = { throw SQLiteError(extendedCode: 10, message: "injected", sql: $0) }
    ) {
        count = 0
        connection.onStatement = { [unowned self] sql in
            // SQLite takes nothing back by halves: a rollback does not fail.
            if sql == "ROLLBACK" { return }
            count += 1
            if count == number { try action(sql) }
            try observe?(sql)
        }
    }

    func disarm() { connection.onStatement = observe }
}
