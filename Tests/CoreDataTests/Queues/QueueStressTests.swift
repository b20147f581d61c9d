import Foundation
import Synchronization
import Testing

@testable import CoreData

/// The queues of a stack: root, main, four workers, and what ran on each.
private final class QueueTree: Sendable {
    final class Node: @unchecked Sendable {
        // Sendable: the count is touched on the queue only, which is what the test proves.
        let queue: ContextQueue
        let name: String
        var count = 0

        init(_ name: String, _ kind: ContextQueue.Kind, level: Int) {
            self.name = name
            queue = ContextQueue(kind)
            queue.level = level
        }
    }

    let root = Node("root", .own, level: 0)
    let main = Node("main", .main, level: 1)
    let workers = (0..<4).map { Node("worker \($0)", .own, level: 2) }
    var all: [Node] { [root, main] + workers }

    var picture: String { all.map { "\($0.name): \($0.queue.debugDescription)" }.joined(separator: "\n") }

    /// Enters the queues one inside the other, and counts on each.
    func enter(_ nodes: ArraySlice<Node>) {
        guard let first = nodes.first else { return }
        first.queue.sync {
            first.count += 1
            enter(nodes.dropFirst())
        }
    }

    /// The same, with the outermost in the middle of a save meanwhile.
    func save(_ nodes: ArraySlice<Node>) {
        guard let first = nodes.first else { return }
        first.queue.sync {
            first.count += 1
            let outer = first.queue.isSaving
            first.queue.isSaving = true
            enter(nodes.dropFirst())
            first.queue.isSaving = outer
        }
    }
}

@Suite("Queues under stress", .serialized)
struct QueueStressTests {
    private static let threads = 8
    private static let rounds = 10_000

    @Test(
        "never stand still, lose no block and exclude each other, whatever waits for whatever",
        arguments: [1, UInt64.random(in: 2...9_999)]
    )
    func mixture(seed: UInt64) async {
        let tree = QueueTree()
        let group = DispatchGroup()
        let expected = Lock<[String: Int]>([:])
        let resolvedBefore = WaitGraph.mutex.withLock { WaitGraph.resolvedCircles }
        for thread in 0..<Self.threads {
            onNewThread(group) {
                var random = SeededGenerator(seed &* 100 &+ UInt64(thread))
                for _ in 0..<Self.rounds {
                    let path = Self.path(tree, &random)
                    expected.withLock { for node in path { $0[node.name, default: 0] += 1 } }
                    Self.run(path, tree, group, &random)
                }
            }
        }
        await Watchdog.wait(for: group) { "seed \(seed)\n\(tree.picture)" }
        for node in tree.all {
            let count = node.queue.sync { node.count }
            #expect(count == expected.withLock { $0[node.name] }, "\(node.name), seed \(seed)")
            #expect(!node.queue.isSaving)
        }
        #expect(WaitGraph.mutex.withLock { WaitGraph.resolvedCircles } > resolvedBefore, "the threads never met in a circle")
    }

    /// Some queues, to be entered one inside the other.
    private static func path(_ tree: QueueTree, _ random: inout SeededGenerator) -> [QueueTree.Node] {
        let worker = tree.workers.randomElement(using: &random)!
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return [worker, tree.main, tree.root]
        // The triangle: main asks root, root a worker, the worker main.
        case 1: return [tree.main, tree.root]
        case 2: return [tree.root, worker]
        case 3: return [worker, tree.main]
        case 4: return [tree.root, worker, tree.main]
        default: return (0..<Int.random(in: 1...4, using: &random)).map { _ in tree.all.randomElement(using: &random)! }
        }
    }

    private static func run(_ path: [QueueTree.Node], _ tree: QueueTree, _ group: DispatchGroup, _ random: inout SeededGenerator) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: tree.enter(path[...])
        case 1: tree.save(path[...])
        default:
            group.enter()
            path[0].queue.async {
                tree.enter(path[...])
                group.leave()
            }
        }
    }
}
