import Foundation
import Testing

@testable import CoreData

private actor Elsewhere {
    /// Whether the block ran inside the caller's task.
    func performs(_ context: NSManagedObjectContext) async -> Bool { await context.perform { isInTask() } }
}

/// Whether the caller runs in a task: what was sent to a queue does not.
private func isInTask() -> Bool { withUnsafeCurrentTask { $0 != nil } }

private struct Failure: Error {}

@Suite("await perform", .timeLimit(.minutes(20)))
struct QueueAwaitTests {
    private func context(_ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType) -> NSManagedObjectContext {
        NSManagedObjectContext(concurrencyType: type)
    }

    @Test("runs at once where the caller is in no actor and the private queue is free")
    func free() async {
        let context = context()
        #expect(await context.perform { isInTask() && context.queue.isCurrent })
        #expect(await context.perform(schedule: .enqueued) { !isInTask() && context.queue.isCurrent })
    }

    @Test("suspends where somebody has the queue, and comes in its turn")
    func taken() async {
        let context = context()
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let group = DispatchGroup()
        onNewThread(group) {
            context.performAndWait {
                held.signal()
                release.wait()
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                held.wait()
                continuation.resume()
            }
        }
        async let ran = context.perform { isInTask() }
        DispatchQueue.global().async {
            awaitListed(1, on: context.queue)
            release.signal()
        }
        #expect(await ran == false)
        await Watchdog.wait(for: group) { context.queue.debugDescription }
    }

    @MainActor @Test("leaves the main thread for a private context")
    func fromMain() async {
        let context = context()
        #expect(await context.perform { !isInTask() && !MainQueue.isCurrent })
        #expect(MainQueue.isCurrent)
    }

    @Test("leaves an actor for a private context")
    func fromActor() async {
        #expect(await Elsewhere().performs(context()) == false)
    }

    @Test("leaves the main thread also from a task that was started there immediately")
    func immediateTask() async {
        let context = context()
        let wasOnMain = await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                Task.immediate { continuation.resume(returning: await context.perform { MainQueue.isCurrent }) }
            }
        }
        #expect(!wasOnMain)
    }

    @MainActor @Test("runs at once from the main actor for a main-queue context, and behind what waits when enqueued")
    func mainContext() async {
        let context = context(.mainQueueConcurrencyType)
        let journal = Journal()
        send(to: context) { journal.note("sent") }
        await context.perform { journal.note("immediate") }
        #expect(journal.text == "immediate")
        await context.perform(schedule: .enqueued) { journal.note("enqueued") }
        #expect(journal.text == "immediate, sent, enqueued")
    }

    @Test("reaches a main-queue context from elsewhere")
    func mainFromElsewhere() async {
        #expect(await context(.mainQueueConcurrencyType).perform { MainQueue.isCurrent && MainActor.assumeIsolated { true } })
    }

    @Test("gives back nil and errors, at once and in its turn", arguments: [NSManagedObjectContext.ScheduledTaskType.immediate, .enqueued])
    func results(schedule: NSManagedObjectContext.ScheduledTaskType) async {
        let context = context()
        let nothing: Int? = await context.perform(schedule: schedule) { nil }
        #expect(nothing == nil)
        await #expect(throws: Failure.self) { try await context.perform(schedule: schedule) { throw Failure() } }
        // The answer may come before the turn is over; over it has to be in the end.
        while context.queue.word.load(ordering: .relaxed) & ~ContextQueue.contended != 0 { await Task.yield() }
    }

    @Test("of a thousand tasks runs each block once, one at a time")
    func many() async {
        let context = context()
        nonisolated(unsafe) var count = 0
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask { await context.perform(schedule: number % 2 == 0 ? .immediate : .enqueued) { count += 1 } }
            }
        }
        #expect(context.performAndWait { count } == 1_000)
    }
}
