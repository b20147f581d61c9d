import CoreDataStack
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Children of main that are plain contexts: nobody but their users takes on what they save.
@Suite("A child that the stack has not made:", .timeLimit(.minutes(20)))
struct HandMadeChildTests {
    @Test("a save into a stack that is closed is refused, and its changes stay unsaved", arguments: StackKind.allCases, [false, true])
    func closed(_ kind: StackKind, isOfRoot: Bool) async throws {
        let bench = try await Bench(kind)
        let child = child(of: isOfRoot ? bench.root : bench.main)
        try await bench.stack.close()
        await child.perform {
            child.insertNote("late")
            #expect(throws: CoreDataStack.Error.stackWasClosed) { try child.save() }
            #expect(child.insertedObjects.count == 1)
        }
    }

    // * Children save, one save after the other, until they are refused.
    @Test("what was saved is in the file, though the stack was closed meanwhile", arguments: [false, true])
    func closing(waits: Bool) async throws {
        for _ in 0..<5 {
            let bench = try await Bench(.file)
            let reader = try bench.separateContext()
            let started = DispatchSemaphore(value: 0)
            let counts = [child(of: bench.main), child(of: bench.main)].map { child in
                Task.detached { try await onNewThread { countSaves(of: child, started) } }
            }
            try await onNewThread { for _ in counts { started.wait() } }
            if waits { try await onNewThread { [stack = bench.stack] in try stack.closeAndWait() } } else { try await bench.stack.close() }
            var saved = 0
            for count in counts { saved += try await count.value }
            #expect(try await reader.perform { try reader.count(for: NSFetchRequest<Note>(entityName: "Note")) } == saved)
        }
    }

    private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        return child
    }
}

/// Saves a note at a time until that is refused.
private func countSaves(of child: NSManagedObjectContext, _ started: DispatchSemaphore) -> Int {
    var count = 0
    #expect(throws: CoreDataStack.Error.stackWasClosed) {
        while true {
            try child.performAndWait {
                child.insertNote("\(count)")
                try child.save()
            }
            count += 1
            if count == 10 { started.signal() }
        }
    }
    return count
}
