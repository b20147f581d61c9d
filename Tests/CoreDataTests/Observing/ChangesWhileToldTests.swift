import Foundation
import Testing

@testable import CoreData

/// Changes objects while it is told of changes, and follows all the same what it is told.
private final class ChangingDelegate: NSObject, NSFetchedResultsControllerDelegate {
    enum Moment: CaseIterable { case will, object, did }

    let mirror = CallMirror()
    var change: (Moment) -> Void = { _ in }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        mirror.controllerWillChangeContent(controller)
        change(.will)
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) { mirror.controller(controller, didChange: sectionInfo, atSectionIndex: sectionIndex, for: type) }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {
        if let newIndexPath { #expect(controller.object(at: newIndexPath) as AnyObject === anObject as AnyObject) }
        mirror.controller(controller, didChange: anObject, at: indexPath, for: type, newIndexPath: newIndexPath)
        change(.object)
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        mirror.controllerDidChangeContent(controller)
        change(.did)
    }
}

@Suite("Lists of which somebody changes objects while their changes are told")
struct ChangesWhileToldTests {
    private let library: Library
    private let request = NSFetchRequest<Book>(entityName: "Book")
    private var context: NSManagedObjectContext { library.context }

    init() throws {
        library = try Library(.memory)
        request.sortDescriptors = ["pages", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
        request.predicate = NSPredicate(format: "pages < 9")
        try library.save(["a": 1, "b": 1, "c": 2, "d": 3])
    }

    private func follow(_ delegate: ChangingDelegate, sections: String? = "pages") throws -> NSFetchedResultsController<Book> {
        let controller = try NSFetchedResultsController.fetched(request, in: context, sections: sections, delegate: delegate)
        delegate.mirror.start(controller)
        return controller
    }

    private func insert(_ title: String, _ pages: Int32) {
        let book = Book(context: context)
        (book.title, book.pages) = (title, pages)
    }

    private func expectAgreement(_ controller: NSFetchedResultsController<Book>, _ delegate: ChangingDelegate) throws {
        let fresh = try context.fetch(request)
        #expect(controller.fetchedObjects == fresh, "\(delegate.mirror.calls)")
        #expect(delegate.mirror.text == controller.titles, "\(delegate.mirror.calls)")
    }

    // * A member goes to the end, another is deleted and a third is inserted when the delegate hears of a change, whose event has other members and
    //   inserts; the changes are an event of their own, or wait for the next.
    // => Each list agrees with a fetch, and with what its delegate was told, also that of who hears of the inner event first.
    @Test("are in order in the end", arguments: ChangingDelegate.Moment.allCases, [false, true])
    fileprivate func changes(at moment: ChangingDelegate.Moment, endsEvent: Bool) throws {
        let delegates = [ChangingDelegate(), ChangingDelegate()]
        let lists = [try follow(delegates[0]), try follow(delegates[1], sections: nil)]
        let books = try #require(lists[0].fetchedObjects)
        var isDone = false
        delegates[0].change = { [context] in
            guard $0 == moment, !isDone else { return }
            isDone = true
            books[1].pages = 8
            context.delete(books[3])
            insert("e", 2)
            if endsEvent { context.processPendingChanges() }
        }
        books[1].title = "bb"
        books[2].title = "cc"
        for pages in 1...5 { insert("n\(pages)", Int32(pages)) }
        context.processPendingChanges()
        context.processPendingChanges()
        #expect(isDone)
        for (list, delegate) in zip(lists, delegates) { try expectAgreement(list, delegate) }
    }

    // * An observer, who is told before the lists, changes what they are about to hear of, in an event of its own.
    @Test("hear of each change once, where an observer before them has caused another event")
    func observer() throws {
        let delegate = ChangingDelegate()
        let list = try follow(delegate)
        let context = context
        // The observer is called on this thread.
        nonisolated(unsafe) let first = try #require(list.fetchedObjects?.first)
        nonisolated(unsafe) var isDone = false
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil) {
            _ in
            if isDone { return }
            isDone = true
            first.pages = 3
            context.processPendingChanges()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        insert("e", 2)
        context.processPendingChanges()
        let calls = delegate.mirror.takeCalls()
        #expect(calls == ["will", "insert e - 1.1", "move a 0.0 2.0", "did"])
        try expectAgreement(list, delegate)
    }

    @Test("have nothing, and say so, after a reset in a call", arguments: ChangingDelegate.Moment.allCases)
    fileprivate func reset(at moment: ChangingDelegate.Moment) throws {
        let delegate = ChangingDelegate()
        let list = try follow(delegate)
        var isDone = false
        delegate.change = { [context] in
            if $0 == moment, !isDone { context.reset() }
            isDone = isDone || $0 == moment
        }
        insert("e", 2)
        context.processPendingChanges()
        #expect(isDone && list.fetchedObjects == nil && delegate.mirror.calls.last == "did")
        try list.performFetch()
        delegate.mirror.start(list)
        insert("f", 2)
        context.processPendingChanges()
        #expect(list.fetchedObjects?.map(\.title) == ["a", "b", "c", "f", "d"])
    }
}
