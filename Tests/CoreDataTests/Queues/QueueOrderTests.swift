import Foundation
import Testing

@testable import CoreData

/// What happened, in order, from any thread.
final class Journal: Sendable {
    private let lines = Lock<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var text: String { lines.withLock { $0.joined(separator: ", ") } }
}

@Suite("A private queue")
struct QueueOrderTests {
    @Test("runs a block on the calling thread when nobody has it")
    func inline() {
        let queue = ContextQueue(.own)
        let caller = pthread_self()
        #expect(queue.sync { pthread_self() } == caller)
        #expect(queue.word.load(ordering: .relaxed) == 0)
    }

    @Test("is entered again at any depth by the thread that has it, and is free only at the end")
    func reentrant() {
        let queue = ContextQueue(.own)
        func nest(_ depth: Int) -> Int { queue.sync { depth == 0 ? queue.depth : nest(depth - 1) } }
        #expect(nest(100) == 101)
        #expect(!queue.isCurrent)
        queue.sync {
            queue.sync {}
            #expect(queue.isCurrent && queue.isInBlock)
        }
        #expect(!queue.isCurrent)
    }

    @Test("gives back nil and errors as they are, and is free afterwards")
    func results() {
        struct Failure: Error {}
        let queue = ContextQueue(.own)
        var runs = 0
        let nothing: Int? = queue.sync {
            runs += 1
            return nil
        }
        #expect(nothing == nil && runs == 1)
        #expect(throws: Failure.self) { try queue.sync { throw Failure() } }
        #expect(queue.word.load(ordering: .relaxed) == 0 && !queue.isInBlock)
    }

    @Test("gives back nil and errors of blocks that had to wait")
    func resultsAfterWaiting() async {
        struct Failure: Error {}
        let queue = ContextQueue(.own)
        let group = DispatchGroup()
        let journal = Journal()
        queue.sync {
            onNewThread(group) {
                let nothing: Int? = queue.sync { nil }
                journal.note(nothing == nil ? "nil" : "a value")
                do { try queue.sync { throw Failure() } } catch { journal.note("\(type(of: error))") }
            }
            awaitListed(1, on: queue)
        }
        await Watchdog.wait(for: group) { queue.debugDescription }
        #expect(journal.text == "nil, Failure")
    }

    @Test("serves those who wait and blocks that nobody waits for in the order in which they came")
    func order() async {
        let queue = ContextQueue(.own)
        let group = DispatchGroup()
        let journal = Journal()
        queue.sync {
            for turn in 0..<20 {
                if turn % 3 == 0 {
                    onNewThread(group) { queue.sync { journal.note("\(turn)") } }
                } else {
                    group.enter()
                    queue.async {
                        journal.note("\(turn)")
                        group.leave()
                    }
                }
                awaitListed(turn + 1, on: queue)
            }
        }
        await Watchdog.wait(for: group) { queue.debugDescription }
        #expect(journal.text == (0..<20).map(String.init).joined(separator: ", "))
        #expect(queue.sync { queue.word.load(ordering: .relaxed) & ContextQueue.contended } == 0)
    }

    @Test("is not overtaken on the fast path while a block is on its way")
    func noOvertaking() async {
        let group = DispatchGroup()
        for _ in 0..<500 {
            let queue = ContextQueue(.own)
            let journal = Journal()
            queue.async { journal.note("first") }
            queue.sync { journal.note("second") }
            #expect(journal.text == "first, second")
        }
        await Watchdog.wait(for: group) { "" }
    }

    @Test("runs ten thousand listed blocks in order, each once")
    func many() {
        let queue = ContextQueue(.own)
        nonisolated(unsafe) var ran: [Int] = []
        queue.sync { for number in 0..<10_000 { queue.async { ran.append(number) } } }
        #expect(queue.sync { ran } == Array(0..<10_000))
    }

    @Test("and what its blocks hold go when the last block has run")
    func release() async {
        let group = DispatchGroup()
        weak var queue: ContextQueue?
        do {
            let made = ContextQueue(.own)
            queue = made
            group.enter()
            made.async { withExtendedLifetime(made) { group.leave() } }
        }
        await Watchdog.wait(for: group) { "" }
        // The drain drops the queue after its last block; by then the thread has nothing else to do.
        while queue != nil { await Task.yield() }
    }
}

/// Spins until that many entries stand in the queue's list.
func awaitListed(_ count: Int, on queue: ContextQueue) {
    while WaitGraph.mutex.withLock({ queue.entries.count }) < count { sched_yield() }
}
