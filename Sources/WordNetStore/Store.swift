import CoreData
import CoreDataStack
import Foundation
import WordNetData

/// A WordNet store: a file, and the stack of contexts on it.
public final class Store: Sendable {
    public let stack: CoreDataStack
    private let url: URL

    /// Opens a store, or makes one without rows where there is no file.
    ///
    /// - Throws: a `CocoaError`: the file is no WordNet store, or cannot be opened. It is untouched then.
    public init(at url: URL) async throws {
        stack = try await CoreDataStack.constructSQLiteStack(model: Model.make(), at: url)
        self.url = url
    }

    /// Makes a store, and has it filled.
    ///
    /// It is made in a folder beside `url` and moved there once it is filled and closed. After an error there is nothing; after the death of the
    /// process there is that folder, until the next store is made at `url`.
    ///
    /// - Throws: a `CocoaError` when there is a file at `url` already, or it cannot be written; what `fill` throws.
    public static func make<Result>(at url: URL, _ fill: (Store) async throws -> Result) async throws -> Result {
        guard !FileManager.default.fileExists(atPath: url.path) else {
            let sentence = "There is a file at \(url.path) already: name another one."
            throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: url.path, NSLocalizedDescriptionKey: sentence])
        }
        let workshop = try Workshop(for: url)
        // Nothing is lost with it: a complete store has left.
        defer { workshop.remove() }
        let unfinished = workshop.url.appendingPathComponent(url.lastPathComponent)
        let store = try await Store(at: unfinished)
        let result = try await fill(store)
        try store.close()
        try FileManager.default.moveItem(at: unfinished, to: url)
        return result
    }

    /// Closes the file. Nothing can be read or saved any more.
    public func close() throws {
        guard let coordinator = stack.privateQueueContext.persistentStoreCoordinator else { return }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}

extension Store {
    /// Imports every row through a batch context, which writes past the other contexts: they fetch and save meanwhile.
    ///
    /// - Parameter progress: called after each save with the number of rows that it inserted, on the import's queue.
    /// - Throws: what `save()` throws. The rows that were saved before are in the file then.
    public func importRows(of lexicon: Lexicon, progress: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
        // The other contexts know none of the objects yet, so that there is nothing to merge: they find the rows when they fetch.
        let batch = try await stack.newBatchOperationContext(mergesIntoStack: false)
        try await batch.perform {
            try lexicon.insertRows(into: batch, progress: progress)
            guard let coordinator = batch.persistentStoreCoordinator else { return }
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
    }

    /// Writes a note beside a word: in a worker's context, from where it goes through main and root into the file.
    ///
    /// - Returns: false where there is no such word.
    /// - Throws: what a layer's `save()` throws.
    public func annotate(_ word: String, with note: String) async throws -> Bool {
        let worker = stack.newChildContext()
        let found = try await worker.perform {
            let found = try Word.named(word, in: worker)
            found?.note = note
            return found != nil
        }
        try await worker.saveToStore()
        return found
    }

    /// The note beside a word as the file has it: read by a coordinator of its own, which knows nothing of this store's contexts.
    public func noteInFile(beside word: String) throws -> String? {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Model.make())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType,
            configurationName: nil,
            at: url,
            options: [NSReadOnlyPersistentStoreOption: true]
        )
        // Whatever becomes of it, it has been read.
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try Word.named(word, in: context)?.note }
    }

    /// Removes everything from the file, for whoever uses the store next.
    ///
    /// - Throws: what `resetStore` throws. All rows are still there then.
    public func logOut() async throws { try await stack.resetStore() }
}
