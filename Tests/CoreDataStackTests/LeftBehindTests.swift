import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("A context that a reset has left behind")
struct LeftBehindTests {
    @Test("is told so by every form of save, also without changes", arguments: StackKind.allCases)
    func everyForm(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let worker = bench.stack.newChildContext()
        let batch = try await bench.stack.newBatchOperationContext()
        try await bench.stack.resetStore()
        for context in [worker, batch] {
            for form in SaveForm.allCases {
                await #expect(throws: CoreDataStack.Error.storeWasReset, "\(form)") { try await form.save(context) }
            }
            await context.perform {
                #expect(throws: CoreDataStack.Error.storeWasReset) { try context.save() }
                context.insertNote("late")
                #expect(throws: CoreDataStack.Error.storeWasReset) { try context.saveContextAndWait() }
            }
        }
    }

    // * There is something in the new store. Contexts from before it, and a child of one, delete all notes by a request, add one, and read the history.
    @Test("carries out no requests: they would be for what others have in the new store", arguments: StackKind.allCases)
    func requests(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (worker, child) = (bench.stack.newChildContext(), NSManagedObjectContext(.privateQueue))
        child.parent = worker
        let batch = try await bench.stack.newBatchOperationContext()
        try await bench.stack.resetStore()
        await bench.main.perform { [main = bench.main] in _ = main.insertNote("new") }
        try await bench.main.saveToStore()
        for context in [worker, child, batch] {
            await context.perform {
                let requests = [
                    NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Note")),
                    NSBatchInsertRequest(entityName: "Note", objects: [["text": "old"]]),
                    NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture),
                ]
                for request in requests { #expect(throws: CoreDataStack.Error.storeWasReset) { try context.execute(request) } }
            }
        }
        #expect(try bench.stored() == ["new": 0])
    }

    // * A batch context is asked for while the stack is being closed.
    // => It is refused because of that, or left behind as those that were there.
    @Test("or that comes while the stack is closed finds it closed")
    func madeWhileClosing() async throws {
        for _ in 0..<20 {
            let bench = try await Bench(.file)
            let closing = Task { try await bench.stack.close() }
            await #expect(throws: CoreDataStack.Error.stackWasClosed) {
                let batch = try await bench.stack.newBatchOperationContext()
                try await closing.value
                _ = try await batch.fetchedTexts()
            }
            try await closing.value
        }
    }
}
