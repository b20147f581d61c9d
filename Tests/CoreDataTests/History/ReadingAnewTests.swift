import Foundation
import Testing

@testable import CoreData

@Suite("Reading everything anew")
struct ReadingAnewTests {
    private let request = NSFetchRequest<Book>(entityName: "Book")

    init() { request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)] }

    private func titles(_ controller: NSFetchedResultsController<Book>) -> [String?] { (controller.fetchedObjects ?? []).map(\.title) }

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var count = 0
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { count += 1 }
    }

    private func controller(_ context: NSManagedObjectContext, _ listener: Listener) throws -> NSFetchedResultsController<Book> {
        let controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: nil,
            cacheName: nil
        )
        controller.delegate = listener
        try controller.performFetch()
        return controller
    }

    /// Others change a book, delete one, and make one.
    private func change(_ context: NSManagedObjectContext) throws {
        let books = try context.fetch(request)
        books[0].title = "A"
        books[2].title = "C"
        context.delete(books[1])
        Book(context: context).title = "d"
        try context.save()
    }

    @Test("brings objects and controllers to what others have saved, under unsaved changes", arguments: StoreKind.allCases)
    func context(kind: StoreKind) throws {
        let library = try Library(kind)
        let books = try ["a", "b", "c"].map(library.savedBook)
        let listener = Listener()
        let controller = try controller(library.context, listener)
        books[2].pages = 7
        library.context.processPendingChanges()
        listener.count = 0
        try change(try library.separateContext())
        #expect(titles(controller) == ["a", "b", "c"])
        try library.context.readAnew()
        #expect(titles(controller) == ["A", "C", "d"])
        #expect(listener.count == 1)
        #expect(books[2].pages == 7 && books[2].hasChanges && books[1].isDeleted)
        try library.context.readAnew()
        #expect(titles(controller) == ["A", "C", "d"])
        try library.context.save()
        #expect(try library.separateContext().fetch(request).map(\.pages) == [0, 7, 0])
    }

    @Test("tells a controller of a context that has no objects of what is new", arguments: StoreKind.allCases)
    func nothingRead(kind: StoreKind) throws {
        let library = try Library(kind)
        let listener = Listener()
        let controller = try controller(library.context, listener)
        let other = try library.separateContext()
        Book(context: other).title = "a"
        try other.save()
        try library.context.readAnew()
        #expect(titles(controller) == ["a"] && listener.count == 1)
    }

    @Test("goes down from a parent to children, and moves a pinned context", arguments: StoreKind.allCases)
    func tree(kind: StoreKind) throws {
        let library = try Library(kind)
        for title in ["a", "b", "c"] { _ = try library.savedBook(title) }
        let parent = library.newContext(.privateQueueConcurrencyType)
        try parent.performAndWait { try parent.setQueryGenerationFrom(.current) }
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        child.automaticallyMergesChangesFromParent = true
        let listener = Listener()
        let controllers = try [parent, child].map { context in try context.performAndWait { try controller(context, listener) } }
        try change(try library.separateContext())
        try parent.performAndWait { try parent.readAnew() }
        #expect(parent.performAndWait { titles(controllers[0]) } == ["A", "C", "d"])
        #expect(child.performAndWait { titles(controllers[1]) } == ["A", "C", "d"])
    }

    @Test("throws where nothing can be read, and changes nothing then")
    func failing() throws {
        let library = try Library(.file)
        let book = try library.savedBook("a")
        try library.coordinator.remove(library.store)
        #expect(throws: CocoaError.self) { try library.context.readAnew() }
        #expect(book.title == "a" && !book.isDeleted)
    }
}
