import Foundation
import Testing

@testable import CoreData

/// Counts how often something ends an event of it, as every merge does.
private final class CountingContext: NSManagedObjectContext, @unchecked Sendable {
    let events = Lock(0)

    override func processPendingChanges() {
        events.withLock { $0 += 1 }
        super.processPendingChanges()
    }
}

@Suite("Many contexts that follow what others save")
struct ManyFollowersTests {
    let library: Library

    init() throws { library = try Library() }

    private func followers(_ count: Int, of parent: NSManagedObjectContext? = nil) -> [CountingContext] {
        (0..<count).map { _ in
            let follower = CountingContext(concurrencyType: .privateQueueConcurrencyType)
            if let parent { follower.parent = parent } else { follower.persistentStoreCoordinator = library.coordinator }
            follower.automaticallyMergesChangesFromParent = true
            return follower
        }
    }

    /// What the merges that are under way leave.
    private func counts(_ followers: [CountingContext]) -> [Int] {
        followers.map { follower in follower.performAndWait { follower.events.withLock { $0 } } }
    }

    @Test("are woken by a save only where they have one of its objects, or it has new ones", arguments: [false, true])
    func woken(_ areChildren: Bool) throws {
        let books = try (0..<3).map { try library.savedBook("\($0)") }
        let all = followers(80, of: areChildren ? library.context : nil)
        nonisolated(unsafe) let own = try all[7].performAndWait { try all[7].all(Book.self, sortedBy: "title")[1] }
        let before = counts(all)
        for round in 0..<10 {
            books[0].pages = Int32(round)
            try library.context.save()
        }
        #expect(counts(all) == before)
        // => Who has the object takes what was saved; nobody else notices.
        books[1].pages = 77
        try library.context.save()
        var after = counts(all)
        #expect(after[7] > before[7] && all[7].performAndWait { own.pages } == 77)
        after[7] = before[7]
        #expect(after == before)
        // * A new object is told to everybody.
        _ = try library.savedBook("new")
        #expect(zip(counts(all), after).allSatisfy { $0 > $1 })
    }

    @Test("miss nothing that they began to read before the save was done")
    func busy() throws {
        let book = try library.savedBook()
        let follower = followers(1)[0]
        let id = book.objectID
        nonisolated(unsafe) var theirs: Book?
        try follower.performAndWait {
            // * Busy: whether it has the object by then, nobody can say.
            book.title = "newer"
            try library.context.save()
            theirs = follower.object(with: id) as? Book
            theirs?.title = theirs?.title
        }
        #expect(counts([follower])[0] >= 1)
        #expect(follower.performAndWait { theirs?.title } == "newer")
    }

    @Test("and have followers of their own: what those have comes through", arguments: [false, true])
    func below(_ isRegisteredBetween: Bool) throws {
        let book = try library.savedBook()
        let between = followers(1)[0]
        let below = followers(1, of: between)[0]
        nonisolated(unsafe) let own = try #require(try below.performAndWait { try below.one(Book.self) })
        nonisolated(unsafe) let kept = isRegisteredBetween ? try between.performAndWait { try between.one(Book.self) } : nil
        #expect(below.performAndWait { own.title } == "T")
        book.title = "newer"
        try library.context.save()
        _ = counts([between])
        _ = counts([below])
        #expect(below.performAndWait { own.title } == "newer")
        #expect(!isRegisteredBetween || between.performAndWait { kept?.title } == "newer")
    }
}
