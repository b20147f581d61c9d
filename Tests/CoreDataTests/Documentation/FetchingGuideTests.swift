import CoreData
import Foundation
import Observation
import TestSupport
import Testing

// docs/guides/Fetching.md shows what stands between the markers, literally.
// snippet
func pagesByAuthor(in context: NSManagedObjectContext) throws -> [NSDictionary] {
    let total = NSExpressionDescription()
    total.name = "total"
    total.expression = NSExpression(format: "sum:(pages)")
    total.expressionResultType = .integer64AttributeType

    let request = NSFetchRequest<NSDictionary>(entityName: "Book")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["author.name", total]
    request.propertiesToGroupBy = ["author.name"]
    request.havingPredicate = NSPredicate(format: "$total > 10")
    request.sortDescriptors = [NSSortDescriptor(key: "total", ascending: false)]
    return try context.fetch(request)  // [["author.name": "Ann", "total": 30]]
}
// end of snippet

// snippet
func titlesByAuthor(in context: NSManagedObjectContext) throws -> [String: [String]] {
    let request = NSFetchRequest<Author>(entityName: "Author")
    request.relationshipKeyPathsForPrefetching = ["books.tags", "desk"]
    let authors = try context.fetch(request)  // four statements, however many authors
    return Dictionary(authors.map { ($0.name ?? "", $0.books.compactMap(\.title)) }, uniquingKeysWith: +)
}
// end of snippet

// snippet
func totalPages(in context: NSManagedObjectContext) throws -> Int {
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    request.fetchBatchSize = 50
    return try context.objects(of: request).reduce(0) { $0 + Int($1.pages) }
}
// end of snippet

// snippet
final class Shelf: NSObject, NSFetchedResultsControllerDelegate {
    let controller: NSFetchedResultsController<Book>
    var log: [String] = []

    init(_ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true), NSSortDescriptor(key: "title", ascending: true)]
        controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: "pages",
            cacheName: nil
        )
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {
        log.append("\(type) in section \(newIndexPath?.section ?? -1)")
    }
}
// end of snippet

// snippet
func show(_ request: NSFetchRequest<Book>, in context: NSManagedObjectContext, on screen: @Sendable (String) -> Void) async throws {
    for try await snapshot in context.results(of: request) {
        screen("\(snapshot.ids.count) books, \(snapshot.inserted.count) new, \(snapshot.changed.count) changed")
    }
}
// end of snippet

// snippet
@MainActor func follow(_ book: Book, on screen: (String) -> Void) async {
    for await title in Observations({ book.observed.title }) {
        screen(title ?? "")
    }
}
// end of snippet

// snippet
func count(_ request: NSFetchRequest<Book>, in context: NSManagedObjectContext, then: @escaping @Sendable (Int) -> Void) throws -> Progress?
{
    let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        then(result.finalResult?.count ?? 0)
    }
    return (try context.execute(fetch) as? NSAsynchronousFetchResult<Book>)?.progress
}
// end of snippet

// snippet
func totalPages(of request: NSFetchRequest<Book>, in context: NSManagedObjectContext) async throws -> Int {
    try await context.fetchAsynchronously(request) { books in books.reduce(0) { $0 + Int($1.pages) } }
}
// end of snippet

@Suite("The guide to fetching")
struct FetchingGuideTests {
    @Test("shows what is compiled here")
    func isCompiled() throws {
        let guide = try String(contentsOf: Places.package.appendingPathComponent("docs/guides/Fetching.md"), encoding: .utf8)
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let compiled = source.components(separatedBy: "// snippet\n").dropFirst()
            .compactMap { $0.components(separatedBy: "// end of snippet").first?.trimmingCharacters(in: .whitespacesAndNewlines) }
        let shown = guide.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
        #expect(Set(shown) == Set(compiled))
    }

    @Test("does what it says")
    func works() async throws {
        let library = try Library(.memory)
        let context = library.newContext(.privateQueueConcurrencyType)
        let shelf = try await context.perform { [context] in
            let author = Author(context: context)
            author.name = "Ann"
            for title in ["a", "b"] {
                let book = Book(context: context)
                (book.title, book.author, book.pages) = (title, author, 15)
            }
            try context.save()
            let groups = try pagesByAuthor(in: context)
            #expect(groups == [["author.name": "Ann", "total": 30]])
            #expect(try titlesByAuthor(in: context)["Ann"]?.sorted() == ["a", "b"] && totalPages(in: context) == 30)
            let shelf = try Shelf(context)
            Book(context: context).title = "c"
            context.processPendingChanges()
            #expect(shelf.log == ["insert in section 0"])
            try context.save()
            return shelf.controller.sections?.count
        }
        #expect(shelf == 2)
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let (shown, continuation) = AsyncStream.makeStream(of: String.self)
        // Nobody changes the request.
        nonisolated(unsafe) let sent = request
        let task = Task { try await show(sent, in: context) { continuation.yield($0) } }
        var lines = shown.makeAsyncIterator()
        #expect(await lines.next() == "3 books, 3 new, 0 changed")
        task.cancel()
        let found = await withCheckedContinuation { continuation in
            context.perform {
                do { _ = try count(sent, in: context) { continuation.resume(returning: $0) } } catch { Issue.record(error) }
            }
        }
        #expect(found == 3)
        #expect(try await totalPages(of: sent, in: context) == 30)
    }
}
