import Foundation
import Testing

@testable import CoreData

/// Root, main and four workers, each on a queue of its own, and what was done on them.
// Sendable: each context is used on its queue only, the rest is behind locks.
private final class StressedLayers: @unchecked Sendable {
    let library: Library
    let root: NSManagedObjectContext
    let main: NSManagedObjectContext
    let workers: [NSManagedObjectContext]
    /// Books that were there at the beginning: workers and main count in them.
    let counters: [NSManagedObjectID]
    let inserted = Lock(0)
    let failures = Lock<[String]>([])

    init() throws {
        library = try Library()
        root = library.newContext(.privateQueueConcurrencyType)
        main = Layers.child(of: root, "main", .privateQueueConcurrencyType)
        workers = (0..<4).map { [main] number in Layers.child(of: main, "worker \(number)", .privateQueueConcurrencyType) }
        counters = try root.performAndWait { [root] in
            let books = (0..<8).map { number in
                let book = Book(context: root)
                (book.title, book.pages) = ("counter \(number)", 0)
                return book
            }
            try root.save()
            return books.map(\.objectID)
        }
    }

    var all: [NSManagedObjectContext] { [root, main] + workers }
    var picture: String { all.map { "\($0.name ?? "root"): \($0.queue.debugDescription)" }.joined(separator: "\n") }

    func attempt(_ what: String, _ body: () throws -> Void) {
        do { try body() } catch { failures.withLock { $0.append("\(what): \(error)") } }
    }

    func insert(in context: NSManagedObjectContext, saves: Bool) {
        let tag = Tag(context: context)
        tag.label = "new"
        inserted.withLock { $0 += 1 }
        if saves { attempt("save") { try context.save() } }
    }

    /// Each worker has counters of its own, so that no edit can meet another of the same property.
    func count(in worker: Int) {
        let context = workers[worker]
        guard let book = context.object(with: counters[worker]) as? Book else { return }
        book.pages += 1
    }

    func fetch(in context: NSManagedObjectContext) {
        attempt("fetch") {
            let found = try context.all(Book.self, where: "title BEGINSWITH 'counter'")
            if found.count != 8 { failures.withLock { $0.append("\(found.count) counters") } }
        }
        attempt("count") { _ = try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) }
    }
}

@Suite("Layers of contexts under stress", .serialized)
struct LayerStressTests {
    private static let threads = 8
    private static let rounds = 1_250

    @Test("never stand still and lose no change, whatever waits for whatever", arguments: [UInt64(1), .random(in: 2...9_999)])
    func mixture(seed: UInt64) async throws {
        let stack = try StressedLayers()
        let group = DispatchGroup()
        let counted = Lock(Array(repeating: 0, count: 4))
        for thread in 0..<Self.threads {
            onNewThread(group) {
                var random = SeededGenerator(seed &* 100 &+ UInt64(thread))
                for _ in 0..<Self.rounds { Self.run(stack, counted, group, &random) }
            }
        }
        await Watchdog.wait(for: group) { "seed \(seed)\n\(stack.picture)" }
        for context in stack.all.reversed() { try context.performAndWait { try context.save() } }
        #expect(stack.failures.withLock { $0.prefix(3) } == [], "seed \(seed)")
        #expect(try stack.library.sql("SELECT COUNT(*) FROM ZTAG") == "\(stack.inserted.withLock { $0 })", "seed \(seed)")
        let pages = try stack.library.sql("SELECT ZPAGES FROM ZBOOK ORDER BY Z_PK LIMIT 4").split(separator: "\n").compactMap { Int($0) }
        #expect(pages == counted.withLock { $0 }, "seed \(seed)")
        for context in stack.all {
            let seen = try context.performAndWait { try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) }
            #expect(seen == stack.inserted.withLock { $0 }, "seed \(seed)")
        }
    }

    private static func run(_ stack: StressedLayers, _ counted: Lock<[Int]>, _ group: DispatchGroup, _ random: inout SeededGenerator) {
        let number = Int.random(in: 0..<4, using: &random)
        let worker = stack.workers[number]
        let saves = Int.random(in: 0..<4, using: &random) == 0
        let (root, main) = (stack.root, stack.main)
        switch Int.random(in: 0..<14, using: &random) {
        case 0...2: worker.performAndWait { stack.insert(in: worker, saves: saves) }
        case 3...4: send(stack, group, worker) { stack.insert(in: worker, saves: saves) }
        case 5...6:
            counted.withLock { $0[number] += 1 }
            worker.performAndWait {
                stack.count(in: number)
                if saves { stack.attempt("save") { try worker.save() } }
            }
        case 7: main.performAndWait { stack.insert(in: main, saves: saves) }
        case 8: stack.all.randomElement(using: &random)!.performAndWait(stack.fetch)
        case 9: send(stack, group, main) { if saves { stack.attempt("main") { try main.save() } } }
        case 10: if saves { root.performAndWait { stack.attempt("root") { try root.save() } } }
        case 11:
            // The triangle: main saves into root while root asks a worker, who pushes into main.
            root.performAndWait { worker.performAndWait { stack.insert(in: worker, saves: true) } }
        case 12: main.performAndWait { worker.performAndWait { stack.fetch(in: worker) } }
        default:
            group.enter()
            Task {
                await worker.perform { stack.insert(in: worker, saves: saves) }
                group.leave()
            }
        }
    }

    private static func send(
        _ stack: StressedLayers,
        _ group: DispatchGroup,
        _ context: NSManagedObjectContext,
        _ body: @escaping @Sendable () -> Void
    ) {
        group.enter()
        context.perform {
            body()
            group.leave()
        }
    }
}

extension NSManagedObjectContext {
    fileprivate func performAndWait(_ body: (NSManagedObjectContext) -> Void) { performAndWait { body(self) } }
}
