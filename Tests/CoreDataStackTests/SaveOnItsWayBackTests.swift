import CoreDataStack
import Foundation
import Testing

@testable import CoreData

@Suite("While a save that root has refused is on its way back,")
struct SaveOnItsWayBackTests {
    // * Two saves of main's wait in root, a duplicate and a worker's. While root writes the second, it has refused the first already.
    // => Whoever saves main to the store then is told of the first: main does not know of it yet.
    @Test("its context does not say of the next one that all is in the store", arguments: StackKind.allCases)
    func refusedAlready(_ kind: StackKind) async throws {
        let bench = try await Bench.uniqueTexts(kind)
        let (main, root, worker) = (bench.main, bench.root, bench.stack.newChildContext())
        let (answers, continuation) = AsyncStream<CoreDataStack.SaveResult>.makeStream()
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: root, queue: nil) { _ in
            main.saveContextToStore {
                continuation.yield($0)
                continuation.finish()
            }
            // Main has had its turn.
            main.performAndWait {}
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await root.perform {
            try main.performAndWait {
                main.insertNote("same")
                try main.save()
            }
            try worker.performAndWait {
                worker.insertNote("other")
                try worker.save()
            }
            try main.performAndWait { try main.save() }
        }
        let answer = try #require(await answers.first { _ in true })
        guard case .failure(let error) = answer else {
            Issue.record("a save that was refused counts as saved")
            return
        }
        #expect((error as NSError).code == NSManagedObjectConstraintMergeError)
        await main.perform { #expect(main.insertedObjects.map { ($0 as? Note)?.text } == ["same"]) }
        #expect(try bench.stored() == ["same": 1, "other": 0])
    }
}
