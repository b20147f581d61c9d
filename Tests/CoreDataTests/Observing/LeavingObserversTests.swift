import Foundation
import Testing

@testable import CoreData

/// Does something when a controller is about to change.
private final class ActingDelegate: NSObject, NSFetchedResultsControllerDelegate {
    var act: () -> Void = {}
    private(set) var calls: [String] = []

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        calls.append("will")
        act()
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) { calls.append("object") }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { calls.append("did") }
}

@Suite("Who follows results and leaves while others are told")
struct LeavingObserversTests {
    private let library: Library
    private var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library(.memory) }

    private func controller(_ delegate: ActingDelegate) throws -> NSFetchedResultsController<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let controller = try NSFetchedResultsController.fetched(request, in: context, delegate: delegate)
        return controller
    }

    private func insert() {
        Book(context: context).title = "new"
        context.processPendingChanges()
    }

    @Test("a controller that its delegate lets go of in a call is told no more")
    func itself() throws {
        let delegate = ActingDelegate()
        var controller: NSFetchedResultsController<Book>? = try controller(delegate)
        delegate.act = { controller = nil }
        insert()
        #expect(controller == nil && delegate.calls == ["will"])
    }

    @Test("a controller that another one's delegate lets go of is told nothing")
    func another() throws {
        let (first, second) = (ActingDelegate(), ActingDelegate())
        let kept = try controller(first)
        var other: NSFetchedResultsController<Book>? = try controller(second)
        first.act = { other = nil }
        insert()
        #expect(other == nil && first.calls == ["will", "object", "did"] && second.calls.isEmpty)
        #expect(kept.fetchedObjects?.count == 1)
    }

    @Test("a controller that has lost its delegate, or fetched anew, in a call tells no more objects")
    func left() throws {
        let delegate = ActingDelegate()
        let controller = try controller(delegate)
        delegate.act = { controller.delegate = nil }
        insert()
        #expect(delegate.calls == ["will"])
        controller.delegate = delegate
        delegate.act = { #expect(throws: Never.self) { try controller.performFetch() } }
        insert()
        #expect(delegate.calls == ["will", "will", "did"] && controller.fetchedObjects?.count == 2)
    }

    @Test("a reader of live results may go in a delegate's call")
    func reader() async throws {
        let context = library.newContext(.privateQueueConcurrencyType)
        let delegate = ActingDelegate()
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        var reader: LiveResults.AsyncIterator? = context.results(of: request).makeAsyncIterator()
        _ = try await reader?.next()
        // NB: who follows first is told first: one reader before the controller, and one behind it.
        let controller = try context.performAndWait {
            let controller = NSFetchedResultsController(
                fetchRequest: request,
                managedObjectContext: context,
                sectionNameKeyPath: nil,
                cacheName: nil
            )
            controller.delegate = delegate
            try controller.performFetch()
            return controller
        }
        var late: LiveResults.AsyncIterator? = context.results(of: request).makeAsyncIterator()
        _ = try await late?.next()
        context.performAndWait {
            delegate.act = { (reader, late) = (nil, nil) }
            Book(context: context).title = "new"
            context.processPendingChanges()
            #expect(controller.fetchedObjects?.count == 1)
        }
        #expect(reader == nil && late == nil && delegate.calls == ["will", "object", "did"])
    }
}
