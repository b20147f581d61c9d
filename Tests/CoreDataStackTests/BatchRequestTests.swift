import CoreData
import CoreDataStack
import Foundation
import Testing

@Suite("A batch request of a stack")
struct BatchRequestTests {
    @Test("finds what was saved before, and is in root and main when it returns; unsaved edits stay", arguments: StackKind.allCases)
    func merged(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (root, main, stack) = (bench.root, bench.main, bench.stack)
        let kept = try await main.perform {
            let notes = Kept(main.insertNote("goes"), [main.insertNote("a", 1), main.insertNote("b", 2)])
            try main.save()
            return notes
        }
        await main.perform { kept.notes[0].text = "edited" }
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.propertiesToUpdate = ["number": NSExpression(format: "number + 10")]
        update.resultType = .updatedObjectsCountResultType
        let updated = try await stack.executeBatch(update)
        #expect((updated as? NSBatchUpdateResult)?.result as? Int == 3)
        try await main.perform {
            #expect(kept.notes.map(\.number) == [11, 12] && kept.notes[0].text == "edited")
            try main.save()
        }
        let fetch = NSFetchRequest<Note>(entityName: "Note")
        fetch.predicate = NSPredicate(format: "text == 'goes'")
        try await stack.executeBatch(NSBatchDeleteRequest(fetchRequest: fetch))
        let rows = (0..<2500).map { ["text": "\($0)"] }
        let inserted = try await stack.executeBatch(NSBatchInsertRequest(entityName: "Note", objects: rows))
        #expect((inserted as? NSBatchInsertResult)?.result as? Bool == true)
        #expect(try await main.fetchedTexts().count == 2502)
        #expect(try await root.fetchedTexts()["edited"] == 11)
        #expect(try bench.stored()["edited"] == 11)
        try await stack.close()
    }

    @Test("upserts unless told otherwise", arguments: StackKind.allCases)
    func upsert(_ kind: StackKind) async throws {
        let bench = try await Bench(kind, model: NoteModel.make(uniqueTexts: true))
        let rows: [[String: any Sendable]] = [["text": "a", "number": 1], ["text": "b", "number": 2]]
        for number in 0..<2 {
            let request = NSBatchInsertRequest(entityName: "Note", objects: rows.map { $0.merging(["number": number]) { $1 } })
            try await bench.stack.executeBatch(request)
        }
        #expect(try await bench.main.fetchedTexts() == ["a": 1, "b": 1])
        await #expect(throws: CocoaError.self) {
            try await bench.stack.executeBatch(NSBatchInsertRequest(entityName: "Note", objects: [["text": "a"]]), mergePolicy: .error)
        }
    }

    @Test("is refused by a stack that was closed")
    func closed() async throws {
        let bench = try await Bench(.file)
        try await bench.stack.close()
        await #expect(throws: CoreDataStack.Error.stackWasClosed) {
            try await bench.stack.executeBatch(NSBatchInsertRequest(entityName: "Note", objects: [["text": "a"]]))
        }
    }

    // * One batch request after the other, while somebody closes the stack.
    // => Each has been carried out, or says that the stack was closed.
    @Test("ends before the stack is closed, or is refused", arguments: [false, true])
    func whileClosing(_ waits: Bool) async throws {
        for _ in 0..<20 {
            let bench = try await Bench(.file)
            let reader = try bench.separateContext()
            let (started, continuation) = AsyncStream<Void>.makeStream()
            let requests = Task {
                var count = 0
                do {
                    while true {
                        try await bench.stack.executeBatch(NSBatchInsertRequest(entityName: "Note", objects: [["text": "\(count)"]]))
                        count += 1
                        continuation.yield()
                    }
                } catch { return (count, error as? CoreDataStack.Error) }
            }
            for await _ in started { break }
            if waits { try await onNewThread { try bench.stack.closeAndWait() } } else { try await bench.stack.close() }
            let (count, error) = await requests.value
            #expect(error == .stackWasClosed)
            #expect(try await reader.fetchedTexts().count == count)
        }
    }
}
