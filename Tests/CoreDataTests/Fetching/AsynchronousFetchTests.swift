import Foundation
import Testing

@testable import CoreData

@Suite("An asynchronous fetch")
struct AsynchronousFetchTests {
    private let library: Library
    private let context: NSManagedObjectContext

    init() throws {
        library = try Library()
        context = library.newContext(.privateQueueConcurrencyType)
        for index in 0..<300 { Book(context: library.context).title = "b\(index)" }
        try library.context.save()
    }

    /// What a fetch that `change` has prepared ends with: how many results, the error's code, the progress.
    private func fetch(
        _ change: @escaping @Sendable (NSFetchRequest<Book>) -> Void = { _ in },
        then: @escaping @Sendable (NSPersistentStoreAsynchronousResult?) -> Void = { _ in }
    ) async throws -> (count: Int?, error: Int?, completed: Int64) {
        await withCheckedContinuation { continuation in
            context.perform { [context] in
                let request = NSFetchRequest<Book>(entityName: "Book")
                change(request)
                let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    let error = (result.operationError as? CocoaError)?.code.rawValue
                    continuation.resume(returning: (result.finalResult?.count, error, result.progress?.completedUnitCount ?? 0))
                }
                fetch.estimatedResultCount = 300
                do {
                    then(try context.execute(fetch) as? NSPersistentStoreAsynchronousResult)
                } catch {
                    Issue.record(error)
                }
            }
        }
    }

    @Test("gives its results to the completion, without unsaved changes, and counts them")
    func results() async throws {
        await context.perform { [context] in Book(context: context).title = "unsaved" }
        let found = try await fetch()
        #expect(found.count == 300 && found.error == nil && found.completed == 300)
        #expect(try await fetch { $0.fetchLimit = 7 }.count == 7)
        #expect(try await fetch { $0.predicate = NSPredicate { book, _ in (book as? Book)?.title == "b7" } }.count == 1)
    }

    @Test("gives its error to the completion, and that it was cancelled")
    func errors() async throws {
        let failed = try await fetch { $0.predicate = NSPredicate(format: "nothing == 1") }
        #expect(failed.count == nil && failed.error == 134_060)
        let cancelled = try await fetch(then: { $0?.cancel() })
        #expect(cancelled.count == nil && cancelled.error == CocoaError.userCancelled.rawValue)
    }

    @Test("is refused as another kind of request, and a plain fetch is carried out at once")
    func otherRequests() throws {
        let request = NSFetchRequest<Book>(entityName: "Book")
        let result = try library.context.execute(request) as? NSAsynchronousFetchResult<Book>
        #expect(result?.finalResult?.count == 300)
        #expect(errorCode { try library.context.execute(NSPersistentStoreRequest()) } == 134_060)
    }
}
