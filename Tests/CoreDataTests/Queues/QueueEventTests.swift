import Foundation
import Testing

@testable import CoreData

@Suite("An event", .serialized)
struct QueueEventTests {
    /// Counts the ObjectsDidChange notifications of a context.
    private final class Announcements: Sendable {
        private let counter = Lock(0)
        var count: Int { counter.withLock { $0 } }
        // Set once, in the initialiser.
        nonisolated(unsafe) private var token: (any NSObjectProtocol)?

        init(_ context: NSManagedObjectContext) {
            let counter = counter
            token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil) {
                _ in
                counter.withLock { $0 += 1 }
            }
        }

        deinit { if let token { NotificationCenter.default.removeObserver(token) } }
    }

    /// Lets everything run that was sent to the main queue before.
    private func turn() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }

    @Test("ends with each perform, also an awaited one; performAndWait, nested or not, goes on with it")
    func blocks() async throws {
        let library = try Library()
        let context = library.newContext(.privateQueueConcurrencyType)
        let announcements = Announcements(context)
        context.performAndWait {
            _ = Tag(context: context)
            _ = Tag(context: context)
            context.performAndWait { _ = Tag(context: context) }
            #expect(announcements.count == 0)
        }
        #expect(announcements.count == 0)
        context.performAndWait { context.processPendingChanges() }
        #expect(announcements.count == 1)
        await context.perform(schedule: .enqueued) { _ = Tag(context: context) }
        #expect(announcements.count == 2)
        send(to: context) { _ = Tag(context: context) }
        context.performAndWait {}
        #expect(announcements.count == 3)
    }

    @Test("ends also with a block that throws")
    func failure() async throws {
        struct Failure: Error {}
        let context = try Library().newContext(.privateQueueConcurrencyType)
        let announcements = Announcements(context)
        await #expect(throws: Failure.self) {
            try await context.perform {
                _ = Tag(context: context)
                throw Failure()
            }
        }
        #expect(announcements.count == 1)
    }

    @MainActor @Test("of a main-queue context that is used without blocks ends with the turn, once")
    func directUse() async throws {
        let library = try Library()
        let context = library.newContext(.mainQueueConcurrencyType)
        let announcements = Announcements(context)
        for _ in 0..<3 { _ = Tag(context: context) }
        #expect(announcements.count == 0)
        await turn()
        #expect(announcements.count == 1)
        _ = Tag(context: context)
        await turn()
        #expect(announcements.count == 2)
        await turn()
        #expect(announcements.count == 2)
    }

    @MainActor @Test("that a refresh on the main queue begins ends with the turn")
    func directRefresh() async throws {
        let library = try Library()
        let context = library.newContext(.mainQueueConcurrencyType)
        let tag = Tag(context: context)
        try context.save()
        let announcements = Announcements(context)
        context.refresh(tag, mergeChanges: false)
        await turn()
        #expect(announcements.count == 1)
    }

    @MainActor @Test("on the main queue is not ended a second time by the turn when a block or a save ended it")
    func endedBefore() async throws {
        let library = try Library()
        let context = library.newContext(.mainQueueConcurrencyType)
        let announcements = Announcements(context)
        await context.perform { _ = Tag(context: context) }
        #expect(announcements.count == 1)
        await turn()
        #expect(announcements.count == 1)
        context.performAndWait { _ = Tag(context: context) }
        #expect(announcements.count == 1)
        await turn()
        #expect(announcements.count == 2)
        _ = Tag(context: context)
        try context.save()
        await turn()
        #expect(announcements.count == 3)
    }

    @MainActor @Test("begins for what an observer changes when it ends, and that ends with a later turn, again and again")
    func changedByObserver() async throws {
        let library = try Library()
        let context = library.newContext(.mainQueueConcurrencyType)
        let announcements = Announcements(context)
        // How many turns of the main queue have passed; and how many had at each announcement.
        let (turns, seen) = (Lock(0), Lock<[Int]>([]))
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil) {
            _ in
            let now = turns.withLock { $0 }
            let count = seen.withLock { seen in
                seen.append(now)
                return seen.count
            }
            // Before what the change sends to the main queue.
            DispatchQueue.main.async { turns.withLock { $0 += 1 } }
            if count < 3 { _ = Tag(context: context) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        await context.perform { _ = Tag(context: context) }
        #expect(announcements.count == 1)
        await turn()
        await turn()
        #expect(seen.withLock { $0 } == [0, 1, 2])
        // => Neither is anything left, nor is the next change passed over in silence.
        await turn()
        #expect(announcements.count == 3)
        _ = Tag(context: context)
        await turn()
        #expect(announcements.count == 4)
    }

    @MainActor @Test("does not keep a main-queue context alive")
    func lifetime() async throws {
        let library = try Library()
        weak var context: NSManagedObjectContext?
        do {
            let made = library.newContext(.mainQueueConcurrencyType)
            _ = Tag(context: made)
            context = made
        }
        #expect(context == nil)
        await turn()
    }
}
