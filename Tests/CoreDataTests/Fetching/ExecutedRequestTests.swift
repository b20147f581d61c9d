import Foundation
import Testing

@testable import CoreData

@Suite("A request that is executed by itself")
struct ExecutedRequestTests {
    private let library: Library
    private let context: NSManagedObjectContext
    private let request = NSFetchRequest<Book>(entityName: "Book")

    init() throws {
        library = try Library(.memory)
        context = library.newContext(.privateQueueConcurrencyType)
        _ = try library.savedBook("saved")
    }

    @Test("fetches in the context whose block is running, of blocks inside each other in the innermost, and in the outer one afterwards")
    func blocks() throws {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        try context.performAndWait {
            Book(context: context).title = "unsaved"
            #expect(try request.execute().allSatisfy { $0.managedObjectContext === context })
            try child.performAndWait {
                Book(context: child).title = "in the child"
                let books = try request.execute()
                #expect(books.count == 3 && books.allSatisfy { $0.managedObjectContext === child })
            }
            #expect(try request.execute().count == 2)
        }
    }

    @Test("fetches in the context whose asynchronous block is running, also of the main queue")
    func asynchronously() async throws {
        let main = library.newContext(.mainQueueConcurrencyType)
        for context in [context, main] {
            try await context.perform {
                let books = try NSFetchRequest<Book>(entityName: "Book").execute()
                #expect(books.map(\.title) == ["saved"] && books[0].managedObjectContext === context)
            }
        }
    }

    @Test("stops a program outside of any block, with the cure")
    func outside() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try? NSFetchRequest<Book>(entityName: "Book").execute()
        }
        #expect(complaint(result).contains("context.perform"))
    }
}
