import Foundation
import SQLiteDriver
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

    // * SQLite computes for ever: the table of books is a view whose rows have no end.
    // => Cancelling ends that, before the first row, for results of each kind that are read aside and on the queue.
    @Test(
        "is cancelled in the middle of what SQLite computes",
        arguments: [NSFetchRequestResultType.managedObjectResultType, .dictionaryResultType, .countResultType, .managedObjectIDResultType]
    )
    func interrupted(type: NSFetchRequestResultType) async throws {
        try makeEndless()
        let cancelled = try await fetch(
            { request in
                request.resultType = type
                request.predicate = NSPredicate(format: "title == 'x'")
            },
            then: { $0?.cancel() }
        )
        #expect(cancelled.count == nil && cancelled.error == CocoaError.userCancelled.rawValue)
    }

    private func makeEndless() throws {
        let connection = try Connection(path: library.url.path, mode: .readWrite)
        defer { connection.close() }
        let columns = try connection.rows("SELECT name FROM pragma_table_info('ZBOOK')").map { row in
            guard case .text(let name)? = row.first else { return "" }
            return "\(["Z_PK": "i", "Z_ENT": "(SELECT Z_ENT FROM ZBOOKS LIMIT 1)", "Z_OPT": "1"][name] ?? "NULL") AS \(name)"
        }
        try connection.execute(
            """
            ALTER TABLE ZBOOK RENAME TO ZBOOKS;
            CREATE VIEW ZBOOK AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT \(columns.joined(separator: ", ")) FROM n;
            """
        )
    }

    @Test("is awaited by a task, which gets what its results give, or the error, and ends it when it is cancelled")
    func awaited() async throws {
        func count(
            where condition: String = "TRUEPREDICATE",
            _ body: @escaping @Sendable ([Book]) throws -> Int = { $0.count }
        ) async throws -> Int {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: condition)
            return try await context.fetchAsynchronously(request, body)
        }
        #expect(try await count() == 300)
        await #expect(throws: CocoaError(.coderInvalidValue)) { try await count { _ in throw CocoaError(.coderInvalidValue) } }
        await #expect {
            try await count(where: "nothing == 1")
        } throws: {
            ($0 as? CocoaError)?.code == .coreData
        }
        try makeEndless()
        let task = Task { [context] in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "title == 'x'")
            return try await context.fetchAsynchronously(request) { $0.count }
        }
        task.cancel()
        await #expect { try await task.value } throws: { ($0 as? CocoaError)?.code == .userCancelled }
    }

    @Test("is refused as another kind of request, and a plain fetch is carried out at once")
    func otherRequests() throws {
        let request = NSFetchRequest<Book>(entityName: "Book")
        let result = try library.context.execute(request) as? NSAsynchronousFetchResult<Book>
        #expect(result?.finalResult?.count == 300)
        #expect(errorCode { try library.context.execute(NSPersistentStoreRequest()) } == 134_091)
    }
}
