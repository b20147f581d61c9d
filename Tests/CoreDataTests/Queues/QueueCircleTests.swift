import Foundation
import Testing

@testable import CoreData

@Suite("Threads that wait for each other in a circle", .serialized)
struct QueueCircleTests {
    /// Who holds what and asks for what, each on a thread of its own; all ask when all hold.
    private func run(_ waits: [(holds: ContextQueue, asks: [ContextQueue], name: String)]) async -> String {
        let (group, journal) = (DispatchGroup(), Journal())
        let barrier = Lock(waits.count)
        for wait in waits {
            let body: @Sendable () -> Void = {
                wait.holds.sync {
                    barrier.withLock { $0 -= 1 }
                    while barrier.withLock({ $0 }) > 0 { sched_yield() }
                    enter(wait.asks[...]) { journal.note(wait.name) }
                }
            }
            if wait.holds.isMain {
                group.enter()
                DispatchQueue.main.async {
                    body()
                    group.leave()
                }
            } else {
                onNewThread(group, body)
            }
        }
        let queues = waits.map(\.holds)
        await Watchdog.wait(for: group) { queues.map(\.debugDescription).joined(separator: "\n") }
        return journal.text
    }

    /// Enters the queues one inside the other.
    private func enter(_ queues: ArraySlice<ContextQueue>, _ body: () -> Void) {
        guard let first = queues.first else { return body() }
        first.sync { enter(queues.dropFirst(), body) }
    }

    private func queue(_ kind: ContextQueue.Kind = .own, level: Int, isSaving: Bool = false) -> ContextQueue {
        let queue = ContextQueue(kind)
        queue.level = level
        queue.isSaving = isSaving
        return queue
    }

    @Test("let the child into its parent first")
    func upward() async {
        let (parent, child) = (queue(level: 0), queue(level: 1))
        for _ in 0..<50 {
            #expect(await run([(parent, [child], "down"), (child, [parent], "up")]) == "up, down")
        }
    }

    @Test("leave a parent in the middle of a save alone as long as another can be asked")
    func saving() async {
        let (parent, child) = (queue(level: 0, isSaving: true), queue(level: 1))
        for _ in 0..<50 {
            #expect(await run([(parent, [child], "down"), (child, [parent], "up")]) == "down, up")
        }
    }

    @Test("let a child into a saving parent when everybody is saving")
    func allSaving() async {
        let (parent, child) = (queue(level: 0, isSaving: true), queue(level: 1, isSaving: true))
        #expect(await run([(parent, [child], "down"), (child, [parent], "up")]) == "up, down")
    }

    @Test("go on in the triangle: main saves into root, root asks a worker, the worker pushes into main")
    func triangle() async {
        let (root, main, worker) = (queue(level: 0), queue(.main, level: 1, isSaving: true), queue(level: 2))
        for _ in 0..<20 {
            // * Main's save is let into root, so main can finish; then the worker's push is served, at last root's question.
            let order = await run([(main, [root], "save"), (root, [worker], "question"), (worker, [main], "push")])
            #expect(order == "save, push, question")
        }
    }

    @Test("go on in a circle of eight")
    func eight() async {
        let queues = (0..<8).map { queue(level: $0) }
        let waits = (0..<8).map { (holds: queues[$0], asks: [queues[($0 + 1) % 8]], name: "\($0)") }
        let order = await run(waits)
        #expect(order.components(separatedBy: ", ").count == 8)
        // * The only upward request is that of the deepest for the root.
        #expect(order.hasPrefix("7"))
    }

    @Test("go on when a queue passes to a thread that meanwhile asks for it again, for another")
    func passedToServer() async {
        let (wanted, parent, child) = (queue(level: 0, isSaving: true), queue(level: 0), queue(level: 1))
        // * "third" is let into parent, whose thread waits for wanted already, and asks for wanted again.
        // * "first" is let into child, so wanted becomes free and passes to parent's thread, asleep over the second wish.
        let order = await run([(wanted, [child], "first"), (parent, [wanted], "second"), (child, [parent, wanted], "third")])
        #expect(order == "first, third, second")
    }

    @Test("run a served block on the thread that owns the queue, where it may use everything of it")
    func servedOnOwner() async {
        let (parent, child) = (queue(level: 0), queue(level: 1))
        let (group, journal) = (DispatchGroup(), Journal())
        let (parentHeld, childHeld) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let owner = Lock<pthread_t?>(nil)
        onNewThread(group) {
            parent.sync {
                owner.withLock { $0 = pthread_self() }
                parentHeld.signal()
                childHeld.wait()
                child.sync {}
            }
        }
        onNewThread(group) {
            child.sync {
                childHeld.signal()
                parentHeld.wait()
                parent.sync {
                    journal.note(pthread_self() == owner.withLock { $0 } ? "the owner's thread" : "another thread")
                    journal.note("parent \(parent.isCurrent), child \(child.isCurrent), depth \(parent.depth)")
                }
            }
        }
        await Watchdog.wait(for: group) { [parent, child].map(\.debugDescription).joined(separator: "\n") }
        #expect(journal.text == "the owner's thread, parent true, child false, depth 2")
    }
}
