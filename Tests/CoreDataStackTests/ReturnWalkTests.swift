import CoreDataStack
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Main and a worker change, save and roll back, in any order; some of what they save is a duplicate, and comes back.
@Suite("However saves come back")
struct ReturnWalkTests {
    // * Walks that have led to lists that were wrong, often enough that the layers meet in many ways.
    // => Both ends of each relationship say the same, in main and in root; in the end both contexts have what the file has.
    @Test("both ends of a relationship agree, and nothing stays that the file does not have", arguments: [143, 452, 469], 0..<16)
    func walk(seed: Int, time: Int) async throws {
        let walk = try await ReturnWalk(seed: seed, ordersNotes: seed % 2 == 1)
        for _ in 0..<40 {
            let step = try await walk.step()
            try await walk.expectAgreement(after: step)
        }
        try await walk.expectWhatTheFileHas()
    }
}

private final class ReturnWalk: Sendable {
    private let bench: Bench
    private let worker: NSManagedObjectContext
    private let ordersNotes: Bool
    private let dice: Lock<SplitMix>

    init(seed: Int, ordersNotes: Bool) async throws {
        bench = try await Bench(.file, model: NoteModel.make(uniqueTexts: true, ordersNotes: ordersNotes))
        (worker, dice) = (bench.stack.newChildContext(), Lock(SplitMix(state: UInt64(seed))))
        self.ordersNotes = ordersNotes
        for context in [bench.root, bench.main] { await context.perform { context.mergePolicy = NSMergePolicy.error } }
        await bench.main.perform { [main = bench.main] in
            for number in 0..<2 { Folder(context: main).name = "Folder \(number)" }
            for text in ["same", "one", "two"] { main.insertNote(text) }
        }
        try await bench.main.saveToStore()
    }

    private func roll(_ sides: Int) -> Int { dice.withLock { Int($0.next() % UInt64(sides)) } }

    /// - Returns: what it did.
    func step() async throws -> String {
        let (main, worker) = (bench.main, worker)
        switch roll(12) {
        case 0..<5: return try await main.perform { try self.relate(in: main) }
        case 5: return await main.perform { "\(main.insertNote("same").text ?? "") in main" }
        case 6: return await main.perform { "main saves: \(Result { try main.save() })" }
        case 7: return await main.perform { (main.rollback(), "main rolls back").1 }
        case 8: return await worker.perform { self.insertAndSave(in: worker) }
        case 9: return "flush: \(await result { try await self.bench.stack.flush() })"
        case 10: return "main saves to the store: \(await result { try await main.saveToStore() })"
        default: return await worker.perform { (worker.rollback(), "the worker rolls back").1 }
        }
    }

    private func result(_ body: () async throws -> Void) async -> Result<Void, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    private func relate(in context: NSManagedObjectContext) throws -> String {
        let (notes, folders) = (try Self.notes(context).filter { $0.text != "same" }, try Self.folders(context))
        guard !notes.isEmpty else { return "nothing to relate" }
        let (note, folder) = (notes[roll(notes.count)], folders[roll(folders.count)])
        switch roll(3) {
        case 0: note.folder = roll(3) == 0 ? nil : folder
        case 1: if ordersNotes { folder.orderedNotes.insert(note, at: 0) } else { folder.notes.insert(note) }
        default: if ordersNotes { folder.orderedNotes.removeAll { $0 == note } } else { folder.notes.remove(note) }
        }
        return "\(note.text ?? "") and \(folder.name ?? "")"
    }

    private func insertAndSave(in context: NSManagedObjectContext) -> String {
        let text = roll(2) == 0 ? "same" : "of the worker \(roll(1000))"
        context.insertNote(text)
        let saved = Result { try context.save() }
        if text == "same" { context.rollback() }
        return "the worker saves \(text): \(saved)"
    }
}

extension ReturnWalk {
    private static func notes(_ context: NSManagedObjectContext) throws -> [Note] {
        let request = NSFetchRequest<Note>()
        request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
        return try context.fetch(request)
    }

    private static func folders(_ context: NSManagedObjectContext) throws -> [Folder] {
        let request = NSFetchRequest<Folder>()
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    private func members(_ folder: Folder) -> [Note] { ordersNotes ? folder.orderedNotes : Array(folder.notes) }

    /// Notes that are in a folder in which they do not say that they are, or the other way round.
    private func disagreements(_ context: NSManagedObjectContext) async throws -> [String] {
        try await context.perform { [self] in
            let notes = try Self.notes(context)
            return try Self.folders(context).flatMap { folder in
                let members = Set(members(folder))
                return notes.filter { members.contains($0) != ($0.folder === folder) }.map { "\($0.text ?? ""), \(folder.name ?? "")" }
            }
        }
    }

    func expectAgreement(after step: String) async throws {
        for context in [bench.main, bench.root] {
            if try await disagreements(context).isEmpty { continue }
            // Something is on its way between the layers.
            for _ in 0..<3 { await bench.settle() }
            #expect(try await disagreements(context) == [], "after \(step)")
        }
    }

    /// By text, the folder that a note is in; by name, the notes that a folder has.
    private func contents(_ context: NSManagedObjectContext) async throws -> [String: String] {
        try await context.perform { [self] in
            let homes = try Self.notes(context).map { ($0.text ?? "", $0.folder?.name ?? "") }
            let lists = try Self.folders(context).map { folder in
                let texts = members(folder).map { $0.text ?? "" }
                return (folder.name ?? "", (ordersNotes ? texts : texts.sorted()).joined(separator: ", "))
            }
            return Dictionary(homes + lists) { "\($0) and \($1)" }
        }
    }

    func expectWhatTheFileHas() async throws {
        for _ in 0..<3 {
            for context in [bench.main, worker] { await context.perform { context.rollback() } }
            _ = await result { try await bench.stack.flush() }
        }
        await bench.main.perform { [main = bench.main] in main.rollback() }
        let stored = try await contents(bench.separateContext())
        for context in [bench.main, bench.root] { #expect(try await contents(context) == stored) }
    }
}
