import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A follower of a history", .timeLimit(.minutes(2)))
struct HistoryFollowerTests {
    private func saveTag(_ label: String, _ context: NSManagedObjectContext) throws {
        Tag(context: context).label = label
        try context.save()
    }

    @Test("is told what others have saved, until he says that he has seen it", arguments: StoreKind.allCases)
    func news(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let other = try library.separateTrackedContext()
        library.context.transactionAuthor = "me"
        let follower = HistoryFollower(name: "me", coordinator: library.coordinator)
        #expect(try follower.token == nil)
        try follower.beginNow()
        try saveTag("a", other)
        try saveTag("mine", library.context)
        try saveTag("b", other)
        for _ in 0..<2 { #expect(try follower.news().transactions.map(\.transactionNumber) == [1, 3]) }
        try follower.didSee(try #require(try follower.news().token))
        #expect(try follower.news().transactions.isEmpty)
        #expect(try follower.news().token == nil)
        try saveTag("c", other)
        let again = HistoryFollower(name: "me", coordinator: library.coordinator)
        #expect(try again.news().transactions.map(\.transactionNumber) == [4])
    }

    @Test("merges it into contexts", arguments: StoreKind.allCases)
    func merging(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let book = try library.savedBook("old")
        let other = try library.separateTrackedContext()
        let follower = HistoryFollower(name: "me", coordinator: library.coordinator)
        try follower.beginNow()
        let theirs = try #require(try other.existingObject(with: book.objectID) as? Book)
        theirs.title = "new"
        try other.save()
        theirs.pages = 4
        let tag = Tag(context: other)
        try other.save()
        other.delete(tag)
        try other.save()
        #expect(try follower.merge(into: [library.context]) == 3)
        #expect(book.title == "new" && book.pages == 4)
        #expect(try library.context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 0)
        #expect(try follower.merge(into: [library.context]) == 0)
    }

    @Test("lets go what all have seen, and whoever is away for too long", arguments: StoreKind.allCases)
    func deleting(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let followers = ["a", "b"].map { HistoryFollower(name: $0, coordinator: library.coordinator) }
        for follower in followers { try follower.beginNow() }
        for label in ["1", "2", "3"] { try saveTag(label, library.context) }
        try followers[0].didSee(try #require(try followers[0].news().token))
        #expect(try followers[0].deleteSeenHistory() == 0)
        try followers[1].didSee(try library.context.history()[1].token)
        #expect(try followers[0].deleteSeenHistory() == 1)
        #expect(try followers[1].news().transactions.map(\.transactionNumber) == [3])
        #expect(try followers[0].deleteSeenHistory(forgettingAfter: -1) == 0)
        #expect(try followers[1].token == nil)
        #expect(try library.context.history().count == 2)
    }

    @Test("hears where what he has not seen was deleted, and begins anew", arguments: StoreKind.allCases)
    func expired(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let follower = HistoryFollower(name: "a", coordinator: library.coordinator)
        try follower.beginNow()
        for label in ["1", "2", "3"] { try saveTag(label, library.context) }
        try library.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        cocoaError(134301) { try follower.news() }
        try follower.beginNow()
        try saveTag("4", library.context)
        #expect(try follower.news().transactions.map(\.transactionNumber) == [4])
    }

    @Test("gets it as a sequence, from where the program ended", arguments: StoreKind.allCases)
    func sequence(kind: StoreKind) async throws {
        let library = try Library(kind, options: RemoteChangeTests.options)
        let other = try library.separateTrackedContext()
        let follower = HistoryFollower(name: "me", coordinator: library.coordinator)
        try follower.beginNow()
        try saveTag("1", other)
        var iterator = follower.makeAsyncIterator()
        var seen: [Int64] = []
        while seen.count < 5 {
            let transactions = try #require(try await iterator.next())
            seen += transactions.map(\.transactionNumber)
            if seen.count < 5 { try saveTag("\(seen.count)", other) }
        }
        #expect(seen == [1, 2, 3, 4, 5])
        // The last one was not said to be seen: it comes again.
        var again = follower.makeAsyncIterator()
        #expect(try await again.next()?.last?.transactionNumber == 5)
    }

    @Test("needs stores that post remote changes, and have a history")
    func missingOptions() async throws {
        let library = try trackedLibrary(.memory)
        var iterator = HistoryFollower(name: "me", coordinator: library.coordinator).makeAsyncIterator()
        await #expect(throws: CocoaError.self) { try await iterator.next() }
        cocoaError(134091) { try HistoryFollower(name: "me", coordinator: Library(.memory).coordinator).beginNow() }
    }
}

@Suite("A store that was migrated by a mapping model")
struct MigratedHistoryTests {
    @Test("goes on with its numbers, and tokens from before have expired")
    func counters() throws {
        let folder = try TemporaryFolder()
        let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let old = try Stack(folder.store, LibraryModel.make(), options: options)
        let context = old.newContext()
        for _ in 0..<3 {
            Tag(context: context).label = "a"
            try context.save()
        }
        let token = try #require(old.coordinator.currentPersistentHistoryToken(fromStores: nil))
        try old.close()
        let replacement = StoreReplacement(place: .file(folder.store), timeout: 1)
        let copy = folder.file("Copy.sqlite")
        try replacement.run(by: copy, isNeeded: { _ in true }, { try Stack(copy, options: nil).close() }, discard: {})
        let new = try Stack(folder.store, options: options)
        let other = new.newContext()
        #expect(try other.history().isEmpty)
        let kept = NSPersistentHistoryToken([new.coordinator.persistentStores[0].identifier: token.numbers.values.first ?? 0])
        cocoaError(134301) { try other.history(after: kept) }
        Tag(context: other).label = "b"
        try other.save()
        #expect(try other.history().map(\.transactionNumber) == [5])
    }
}

@Suite("A store with a history that was migrated in its place")
struct HistoryInPlaceTests {
    @Test("keeps the changes, and says which properties only where they are the same")
    func properties() throws {
        let folder = try TemporaryFolder()
        let old = try Stack(folder.store, LibraryModel.make(), options: [NSPersistentHistoryTrackingKey: true])
        let context = old.newContext()
        let (tag, book) = (Tag(context: context), Book(context: context))
        book.title = "a"
        try context.save()
        (tag.label, book.title) = ("b", "b")
        try context.save()
        try old.close()
        let model = LibraryModel.make()
        model.entitiesByName["Tag"]?.properties.append(LibraryModel.attribute("colour", .stringAttributeType))
        let added = LibraryModel.entity("Aardvark", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
        model.entities.append(added)
        let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true, NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
        ]
        let new = try Stack(folder.store, model, options: options)
        #expect(try new.newContext().told() == [["insert Book/p1", "insert Tag/p1"], ["update Book/p1 title", "update Tag/p1"]])
        try new.close()
        #expect(try StoreInspector(url: folder.store).problems(with: model) == [])
    }
}
