import Foundation
import Testing

@testable import CoreData

/// A store of the library model in a temporary folder, with as many coordinators and contexts as a test wants.
final class Library {
    let folder: TemporaryFolder
    let url: URL
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    let store: SQLiteStore
    let context: NSManagedObjectContext

    init(options: [AnyHashable: Any]? = nil) throws {
        folder = try TemporaryFolder()
        url = folder.file()
        model = LibraryModel.make()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let added = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        store = try #require(added as? SQLiteStore)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    /// Another context on the same coordinator.
    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// A context on a coordinator of its own, as another process would have: it sees the file only.
    func separateContext() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The statements that `body` runs.
    func statements(_ body: () throws -> Void) rethrows -> [String] { try store.counter.recording(body) }

    /// What the `sqlite3` command reads from the file, after checking that the file is sound.
    func sql(_ query: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        #expect(try Shell.sqlite(url, "PRAGMA integrity_check") == "ok", sourceLocation: sourceLocation)
        return try Shell.sqlite(url, query)
    }
}

enum Shell {
    /// Runs the `sqlite3` command on a file: an outside reader.
    static func sqlite(_ url: URL, _ query: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = [url.path, query]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
