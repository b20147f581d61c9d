import Foundation
import Testing

@testable import CoreData

@Suite("Live results")
struct LiveResultsTests {
    private let library: Library
    private let context: NSManagedObjectContext
    private let request = NSFetchRequest<Book>(entityName: "Book")

    init() throws {
        library = try Library(.memory)
        context = library.newContext(.privateQueueConcurrencyType)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    }

    private func insert(_ titles: String...) async throws {
        try await context.perform { [context] in
            for title in titles { Book(context: context).title = title }
            try context.save()
        }
    }

    private func titles(_ ids: [NSManagedObjectID]) async -> [String] {
        await context.perform { [context] in ids.map { (context.object(with: $0) as? Book)?.title ?? "?" } }
    }

    @Test("are what a fetch gives first, then the newest state with what is different since")
    func snapshots() async throws {
        try await insert("b", "d")
        var reader = context.results(of: request).makeAsyncIterator()
        let first = try #require(try await reader.next())
        #expect(await titles(first.ids) == ["b", "d"] && first.inserted == first.ids)
        // * Three events, of which the reader knows none yet.
        try await insert("a")
        try await insert("c")
        let (b, d) = (first.ids[0], first.ids[1])
        try await context.perform { [context] in
            context.delete(context.object(with: d))
            (context.object(with: b) as? Book)?.title = "z"
            try context.save()
        }
        let second = try #require(try await reader.next())
        #expect(await titles(second.ids) == ["a", "c", "z"])
        #expect(await titles(second.inserted) == ["a", "c"])
        #expect(second.removed == [d] && second.moved == [b] && second.changed == [b])
    }

    // * Another coordinator saves to the same file: an insert, then a change of what the context has read, then a delete.
    // => Each is seen, in a context and in a child of one; nothing is where the context does not follow others.
    @Test("show what other coordinators of the process save, where the context follows others", arguments: [false, true])
    func otherCoordinators(isChild: Bool) async throws {
        let library = try Library(.file)
        let root = library.newContext(.privateQueueConcurrencyType)
        let watched = isChild ? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) : root
        if isChild { watched.parent = root }
        watched.automaticallyMergesChangesFromParent = true
        var reader = watched.results(of: request).makeAsyncIterator()
        #expect(try await reader.next()?.ids.isEmpty == true)
        let writer = try Library.context(on: library.separateCoordinator(), .privateQueueConcurrencyType)
        /// A merge from two sides may show one state twice.
        func waitFor(_ titles: [String]) async throws {
            while let snapshot = try await reader.next() {
                let shown = await watched.perform { snapshot.ids.map { (watched.object(with: $0) as? Book)?.title ?? "?" } }
                if shown == titles { return }
            }
        }
        try await writer.perform {
            Book(context: writer).title = "a"
            try writer.save()
        }
        try await waitFor(["a"])
        try await writer.perform {
            try writer.fetch(NSFetchRequest<Book>(entityName: "Book"))[0].title = "b"
            try writer.save()
        }
        try await waitFor(["b"])
        try await writer.perform {
            writer.delete(try writer.fetch(NSFetchRequest<Book>(entityName: "Book"))[0])
            try writer.save()
        }
        try await waitFor([])
        await watched.perform { watched.automaticallyMergesChangesFromParent = false }
        try await writer.perform {
            Book(context: writer).title = "c"
            try writer.save()
        }
        await watched.perform { #expect(!watched.registeredObjects.contains { $0.value(forKey: "title") as? String == "c" }) }
    }

    @Test("say after a reset which have moved, and move no more than needed")
    func movedByReset() async throws {
        try await insert("b", "c", "d")
        var reader = context.results(of: request).makeAsyncIterator()
        let first = try #require(try await reader.next())
        try await context.perform { [context] in
            (context.object(with: first.ids[0]) as? Book)?.title = "z"
            try context.save()
            context.reset()
        }
        let second = try #require(try await reader.next())
        #expect(second.ids == [first.ids[1], first.ids[2], first.ids[0]] && second.moved == [first.ids[0]])
        #expect(LongestRise(of: []).indices == [] && LongestRise(of: [3, 1, 2, 0, 4]).indices == [1, 2, 4])
    }

    // * Two tasks wait with copies of one iterator.
    // => Each change wakes one of them: none waits for ever.
    @Test("wake every task that waits with a copy of the iterator")
    func copies() async throws {
        let context = context
        var reader = context.results(of: request).makeAsyncIterator()
        _ = try await reader.next()
        // As a program does that tells the compiler to trust it: each task has a copy of its own.
        nonisolated(unsafe) let copy = reader
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var reader = copy
                    return try await reader.next()?.ids.count ?? -1
                }
            }
            try await insert("a")
            #expect(try await group.next() == 1)
            try await insert("b")
            #expect(try await group.next() == 2)
        }
    }

    @Test("say nothing of what took itself back")
    func nothingNew() async throws {
        var reader = context.results(of: request).makeAsyncIterator()
        _ = try await reader.next()
        try await context.perform { [context] in
            let book = Book(context: context)
            book.title = "x"
            context.processPendingChanges()
            context.delete(book)
            try context.save()
        }
        try await insert("y")
        let next = try #require(try await reader.next())
        #expect(next.inserted.count == 1 && next.removed.isEmpty && next.changed.isEmpty)
    }

    @Test("see what a sibling saves where the context merges by itself, also of objects that it has not read")
    func siblings() async throws {
        try await insert("a")
        request.predicate = NSPredicate(format: "pages == 5")
        context.automaticallyMergesChangesFromParent = true
        var reader = context.results(of: request).makeAsyncIterator()
        #expect(try await reader.next()?.ids == [])
        let sibling = library.newContext(.privateQueueConcurrencyType)
        try await sibling.perform {
            try sibling.only(Book.self, "Book").pages = 5
            try sibling.save()
        }
        #expect(try await reader.next()?.inserted.count == 1)
    }

    @Test("begin anew after a reset")
    func reset() async throws {
        try await insert("a")
        var reader = context.results(of: request).makeAsyncIterator()
        let first = try await reader.next()
        await context.perform { [context] in context.reset() }
        try await insert("b")
        let second = try #require(try await reader.next())
        #expect(second.ids.count == 2 && second.inserted.count == 1 && second.changed == first?.ids)
    }

    /// A task that has read the first snapshot of a context that is gone then, unless it is given, and reads on.
    private func reading(_ context: NSManagedObjectContext? = nil) async throws -> Task<Int, any Error> {
        let context = context ?? library.newContext(.privateQueueConcurrencyType)
        let (results, (first, continuation)) = (context.results(of: request), AsyncStream.makeStream(of: Void.self))
        let task = Task {
            var count = 0
            for try await _ in results {
                count += 1
                continuation.finish()
            }
            return count
        }
        for await _ in first {}
        return task
    }

    @Test("end when their context goes, which they do not keep, and with their task")
    func ends() async throws {
        #expect(try await reading().value == 1)
        let cancelled = try await reading(context)
        cancelled.cancel()
        #expect(try await cancelled.value == 1)
    }

    @Test("throw a fetch's error")
    func errors() async throws {
        request.predicate = NSPredicate(format: "nothing == 1")
        var reader = context.results(of: request).makeAsyncIterator()
        await #expect(throws: CocoaError.self) { _ = try await reader.next() }
    }
}
