import Foundation
import Testing

@testable import CoreData

/// A store of the library model in a home of its own, with as many coordinators and contexts as a test wants.
///
/// Contexts are confined unless asked for otherwise: a test uses them on its own thread, without blocks.
final class Library {
    let home: StoreHome
    let url: URL
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    let store: SQLiteStore
    let context: NSManagedObjectContext

    var kind: StoreKind { home.kind }

    init(
        _ kind: StoreKind = .file,
        options: [AnyHashable: Any]? = nil,
        configure: (NSManagedObjectModel) -> Void = { _ in }
    ) throws {
        home = try StoreHome(kind)
        url = home.url()
        model = LibraryModel.make()
        configure(model)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let added = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: options)
        store = try #require(added as? SQLiteStore)
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    /// Another context on the same coordinator.
    func newContext(_ type: NSManagedObjectContextConcurrencyType = .confinementConcurrencyType) -> NSManagedObjectContext {
        Self.context(on: coordinator, type)
    }

    /// A context on a coordinator of its own, as another process would have: it sees the store only.
    func separateContext() throws -> NSManagedObjectContext { try Self.context(on: separateCoordinator()) }

    func separateCoordinator(options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: options)
        return coordinator
    }

    static func context(
        on coordinator: NSPersistentStoreCoordinator,
        _ type: NSManagedObjectContextConcurrencyType = .confinementConcurrencyType
    ) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: type)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func savedBook(_ title: String = "T") throws -> Book {
        let book = Book(context: context)
        book.title = title
        try context.save()
        return book
    }

    func chapter(_ heading: String) -> Chapter {
        let chapter = Chapter(context: context)
        chapter.heading = heading
        return chapter
    }

    /// The statements that `body` runs.
    func statements(_ body: () throws -> Void) rethrows -> [String] { try store.counter.recording(body) }

    /// What an outside reader finds in the store, as the `sqlite3` command prints it, after checking that the store is sound.
    func sql(_ query: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try home.sql(query, sourceLocation: sourceLocation)
    }
}
