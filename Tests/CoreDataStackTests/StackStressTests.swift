import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("Eight threads on one stack", .timeLimit(.minutes(20)))
struct StackStressTests {
    private static let threads = 8
    private static let rounds = 10_000

    // * Each thread makes a random choice 1,250 times: insert, change, delete, fetch and save, in root, main and four workers that all use;
    //   and contexts wait for each other in every direction.
    // => Nobody stands still, no save fails, and what is in the store at the end is what the threads have counted.
    @Test("neither stand still nor lose a change", arguments: StackKind.allCases)
    func mixture(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let workers = (0..<4).map { _ in bench.stack.newChildContext() }
        let seed = UInt64.random(in: 0 ... .max)
        let counts = try await withThrowingTaskGroup(of: Counts.self) { group in
            for number in 0..<Self.threads {
                group.addTask {
                    try await onNewThread {
                        var player = Player(bench, workers, number, seed)
                        for round in 0..<Self.rounds / Self.threads { try player.play(round) }
                        return player.counts
                    }
                }
            }
            return try await group.reduce(into: Counts()) { $0.add($1) }
        }
        for worker in workers { try await worker.saveToStore() }
        try await bench.main.saveToStore()
        let stored = try bench.stored()
        let expected = counts.texts
        #expect(stored.count == expected.count, "seed \(seed)")
        #expect(stored == expected, "seed \(seed): \(Self.difference(stored, expected))")
        #expect(try await bench.main.fetchedTexts() == expected, "seed \(seed)")
        for context in [bench.root, bench.main] + workers { await context.perform { #expect(!context.hasChanges, "seed \(seed)") } }
    }

    // * Main saves; root, meanwhile, asks a worker; the worker pushes into main.
    @Test("go round the triangle of main, root and a worker", arguments: StackKind.allCases)
    func triangle(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (root, main) = (bench.root, bench.main)
        let worker = bench.stack.newChildContext()
        let rounds = 500
        try await withThrowingTaskGroup(of: Void.self) { group in
            for side in 0..<3 {
                group.addTask {
                    try await onNewThread {
                        for round in 0..<rounds {
                            switch side {
                            case 0:
                                try main.performAndWait {
                                    main.insertNote("main \(round)")
                                    try main.save()
                                }
                            case 1: root.performAndWait { worker.performAndWait { _ = worker.insertNote("root \(round)") } }
                            default:
                                try worker.performAndWait {
                                    worker.insertNote("worker \(round)")
                                    try worker.save()
                                    _ = main.performAndWait { root.performAndWait { root.hasChanges } }
                                }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await worker.saveToStore()
        #expect(try bench.stored().count == 3 * rounds)
    }

    private static func difference(_ stored: [String: Int64], _ expected: [String: Int64]) -> String {
        Set(stored.keys).union(expected.keys).filter { stored[$0] != expected[$0] }.sorted().prefix(10)
            .map { "\($0): \(stored[$0].map(String.init) ?? "-") for \(expected[$0].map(String.init) ?? "-")" }
            .joined(separator: ", ")
    }
}

/// What ought to be in the store.
private struct Counts: Sendable {
    var texts: [String: Int64] = [:]
    mutating func add(_ other: Counts) { texts.merge(other.texts) { $1 } }
}

/// One thread, which knows what it has made: only it changes those notes, in whichever context it likes.
private struct Player {
    var counts = Counts()
    private let bench: Bench
    private let contexts: [NSManagedObjectContext]
    private let number: Int
    private var random: Seeded

    init(_ bench: Bench, _ workers: [NSManagedObjectContext], _ number: Int, _ seed: UInt64) {
        self.bench = bench
        self.number = number
        contexts = workers + [bench.main]
        random = Seeded(state: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
    }

    mutating func play(_ round: Int) throws {
        // A thread keeps to one worker for its changes, or it could overtake itself; any context will do for the rest.
        let own = contexts[number % 4]
        let any = contexts.randomElement(using: &random) ?? own
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: try insert("\(number)/\(round)", own)
        case 4: try change(own)
        case 5: try delete(own)
        case 6: _ = try any.performAndWait { try any.count(for: NSFetchRequest<Note>()) }
        case 7: try any.performAndWait { try any.save() }
        case 8: bench.root.performAndWait { any.performAndWait { _ = any.hasChanges } }
        default: try own.saveContextToStoreAndWait()
        }
    }

    private mutating func insert(_ text: String, _ context: NSManagedObjectContext) throws {
        let main = bench.main
        let goesThroughMain = Bool.random(using: &random)
        try context.performAndWait {
            context.insertNote(text, 1)
            try context.save()
            let seen = try goesThroughMain ? main.performAndWait { try main.note(text)?.number } : 1
            #expect(seen == 1, "\(text)")
        }
        counts.texts[text] = 1
    }

    private mutating func change(_ context: NSManagedObjectContext) throws {
        guard let text = counts.texts.keys.sorted().randomElement(using: &random) else { return }
        try context.performAndWait {
            try #require(try context.note(text), "\(text)").number += 1
            try context.save()
        }
        counts.texts[text, default: 0] += 1
    }

    private mutating func delete(_ context: NSManagedObjectContext) throws {
        guard let text = counts.texts.keys.sorted().randomElement(using: &random) else { return }
        try context.performAndWait {
            context.delete(try #require(try context.note(text), "\(text)"))
            try context.save()
        }
        counts.texts[text] = nil
    }
}

/// Numbers that a seed brings back.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
