import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A follower of a history", .timeLimit(.minutes(20)))
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

    // * A follower's place, a token and a transaction have the lowest number that there is, as only a file or a kept token can say it.
    // => That is a place before all others: nothing goes.
    @Test("deletes nothing by a number below the first", arguments: StoreKind.allCases)
    func lowestNumbers(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let follower = HistoryFollower(name: "a", coordinator: library.coordinator)
        for label in ["1", "2"] { try saveTag(label, library.context) }
        try follower.beginNow()
        _ = try library.home.sql("INSERT INTO CD_FOLLOWER VALUES('b', \(Int64.min), 9e12)")
        #expect(try follower.deleteSeenHistory() == 0)
        let token = NSPersistentHistoryToken([library.store.identifier: .min])
        #expect(try library.context.run(.deleteHistory(before: token), .count) as? Int == 0)
        _ = try library.home.sql("INSERT INTO ATRANSACTION(Z_PK, ZTIMESTAMP) VALUES(\(Int64.min), 9e12)")
        #expect(try library.context.run(.deleteHistory(before: Date()), .count) as? Int == 0)
        #expect(try library.sql("SELECT count(*) FROM ATRANSACTION") == "3")
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
        #expect(try library.context.history().count == 2)
    }

    @Test("who was away for too long hears that something is missing", arguments: StoreKind.allCases)
    func away(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let followers = ["a", "b"].map { HistoryFollower(name: $0, coordinator: library.coordinator) }
        for follower in followers { try follower.beginNow() }
        for label in ["1", "2", "3"] { try saveTag(label, library.context) }
        try followers[0].didSee(try #require(try followers[0].news().token))
        _ = try library.home.sql("UPDATE CD_FOLLOWER SET SEEN = 0 WHERE NAME = 'b'")
        #expect(try followers[0].deleteSeenHistory() == 2)
        cocoaError(134301) { try followers[1].news() }
        try followers[1].beginNow()
        try saveTag("4", library.context)
        #expect(try followers[1].news().transactions.map(\.transactionNumber) == [4])
    }

    @Test("does not go back by an older token", arguments: StoreKind.allCases)
    func back(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let follower = HistoryFollower(name: "a", coordinator: library.coordinator)
        for label in ["1", "2", "3"] { try saveTag(label, library.context) }
        let all = try library.context.history()
        try follower.didSee(all[2].token)
        try follower.didSee(all[0].token)
        #expect(try follower.token == all[2].token)
        #expect(try follower.news().transactions.isEmpty)
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

@Suite("A store with a history that was put back")
struct PutBackTests {
    private let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]

    private func save(_ count: Int, _ stack: Stack) throws {
        let context = stack.newContext()
        for _ in 0..<count {
            Tag(context: context).label = "x"
            try context.save()
        }
    }

    private func replace(_ place: URL, with source: URL) throws {
        try Stack().coordinator.replacePersistentStore(
            at: place,
            withPersistentStoreFrom: source,
            ofType: StoreKind(of: place).type
        )
    }

    // * A backup is made after three saves; three more follow, then the backup comes back, and others save.
    // => Who had seen six of the store's transactions hears each time that they are not there; who had seen three gets what is new.
    @Test("never takes a token of what is gone for a place in what came since", arguments: StoreKind.allCases)
    func backup(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (url, backup) = (home.url(), home.url("Backup.sqlite"))
        let kept = kind == .memory ? try [Stack(backup), Stack(url, options: options)] : []
        let first = try Stack(url, options: options)
        try save(3, first)
        try replace(backup, with: url)
        let known = try #require(first.coordinator.currentPersistentHistoryToken(fromStores: nil))
        try save(3, first)
        let lost = try #require(first.coordinator.currentPersistentHistoryToken(fromStores: nil))
        try first.close()
        try replace(url, with: backup)
        let stack = try Stack(url, options: options)
        for count in 0..<6 {
            cocoaError(134301) { try stack.newContext().history(after: lost) }
            #expect(try stack.newContext().history(after: known).count == count)
            try save(1, stack)
        }
        try stack.close()
        withExtendedLifetime(kept) {}
    }

    // * A store and a copy of it go on, each by itself; then the copy is put in the store's place.
    // => Who had seen what is in both hears of what was committed to the copy; who had seen more, that it is gone.
    @Test("goes on with the copy's history where both have gone on by themselves", arguments: StoreKind.allCases)
    func twoHistories(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (url, copy) = (home.url(), home.url("Copy.sqlite"))
        let kept = kind == .memory ? try [Stack(copy), Stack(url, options: options)] : []
        let first = try Stack(url, options: options)
        try save(1, first)
        try replace(copy, with: url)
        let second = try Stack(copy, options: options)
        for stack in [first, second] { try save(2, stack) }
        let all = try first.newContext().history()
        for stack in [first, second] { try stack.close() }
        try replace(url, with: copy)
        let stack = try Stack(url, options: options)
        for transaction in all.dropFirst() { cocoaError(134301) { try stack.newContext().history(after: transaction.token) } }
        #expect(try stack.newContext().history(after: all[0].token).count == 2)
        try stack.close()
        withExtendedLifetime(kept) {}
    }

    // * The same with a copy of the file, which counts as the store does: the same numbers mean other transactions.
    // => Nobody can tell who has seen what: all tokens have expired, and a new history begins.
    @Test("begins a new history where the same numbers are of other transactions")
    func sameNumbers() throws {
        let home = try StoreHome(.file)
        let (url, copy) = (home.url(), home.url("Copy.sqlite"))
        let first = try Stack(url, options: options)
        try save(1, first)
        try first.close()
        try FileManager.default.copyItem(at: url, to: copy)
        for place in [url, copy] {
            let stack = try Stack(place, options: options)
            try save(2, stack)
            try stack.close()
        }
        let before = try Stack(url, options: options)
        let all = try before.newContext().history()
        try before.close()
        try replace(url, with: copy)
        let stack = try Stack(url, options: options)
        for transaction in all { cocoaError(134301) { try stack.newContext().history(after: transaction.token) } }
        #expect(try stack.newContext().history().isEmpty)
        try save(1, stack)
        #expect(try stack.newContext().history().count == 1)
        try stack.close()
    }

    // * The usual way on a Mac: the store is destroyed, then the backup is put in its place.
    // => A token of what was destroyed has expired, however many transactions follow.
    @Test("lets tokens expire also where the store was destroyed before")
    func destroyedBefore() throws {
        let home = try StoreHome(.file)
        let (url, backup) = (home.url(), home.url("Backup.sqlite"))
        let first = try Stack(url, options: options)
        try save(3, first)
        try replace(backup, with: url)
        try save(3, first)
        let lost = try #require(first.coordinator.currentPersistentHistoryToken(fromStores: nil))
        try first.close()
        try Stack().coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        try replace(url, with: backup)
        let stack = try Stack(url, options: options)
        for _ in 0..<5 {
            cocoaError(134301) { try stack.newContext().history(after: lost) }
            try save(1, stack)
        }
        try stack.close()
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
        let (source, model) = (LibraryModel.make(), LibraryModel.make())
        model.entitiesByName["Tag"]?.versionHashModifier = "next"
        let migration = MigrationInPlace(
            site: StoreSite(url: folder.store, type: NSSQLiteStoreType),
            source: .init(model: source, configuration: nil),
            model: model,
            mapping: try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model)
        )
        try migration.run()
        let new = try Stack(folder.store, model, options: options)
        let other = new.newContext()
        #expect(try other.history().isEmpty)
        let kept = NSPersistentHistoryToken([new.coordinator.persistentStores[0].identifier: token.numbers.values.first ?? 0])
        cocoaError(134301) { try other.history(after: kept) }
        Tag(context: other).label = "b"
        try other.save()
        #expect(try other.history().map(\.transactionNumber) == [5])
    }
}
