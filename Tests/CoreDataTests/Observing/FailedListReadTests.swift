import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

/// Tables that vanish for a while, as for a file on a network that is gone.
@Suite("Lists that cannot read what they have to know of a change")
struct FailedListReadTests {
    private let library: Library
    private let maker: NSManagedObjectContext
    private let context: NSManagedObjectContext
    private let request = NSFetchRequest<Book>(entityName: "Book")
    private let mirror = CallMirror()

    init() throws {
        library = try Library(.file)
        (maker, context) = (library.context, library.newContext())
        try library.save(["a": 0, "b": 1, "c": 2])
        request.predicate = NSPredicate(format: "pages > 0")
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true), NSSortDescriptor(key: "title", ascending: true)]
    }

    private func follow() throws -> NSFetchedResultsController<Book> {
        let controller = try NSFetchedResultsController.fetched(request, in: context, delegate: mirror)
        mirror.start(controller)
        return controller
    }

    /// Merges what the maker saves while nothing can be read.
    private func mergeUnread(_ change: () -> Void) throws {
        change()
        let saves = Notifications(.NSManagedObjectContextDidSave, from: maker)
        try maker.save()
        library.store.cache.forgetAll()
        let connection = try Connection(path: library.url.path, mode: .readWrite)
        _ = try connection.rows("ALTER TABLE ZBOOK RENAME TO HIDDEN")
        context.mergeChanges(fromContextDidSave: try #require(saves.received.last))
        _ = try connection.rows("ALTER TABLE HIDDEN RENAME TO ZBOOK")
    }

    // * Others insert an object, or change one that the list has not read; its row cannot be read when that is merged.
    // => The next change, whatever it is, brings the list up to date.
    @Test("are brought up to date by the next change", arguments: [false, true])
    func catchUp(isInsert: Bool) throws {
        let list = try follow()
        let hidden = try #require(try maker.all(Book.self, sortedBy: "title").first)
        try mergeUnread {
            if isInsert {
                let book = Book(context: maker)
                (book.title, book.pages) = ("new", 1)
            } else {
                hidden.pages = 5
            }
        }
        #expect(list.fetchedObjects?.count == 2)
        Tag(context: context).label = "any"
        context.processPendingChanges()
        let fresh = try context.fetch(request)
        #expect(list.fetchedObjects == fresh && fresh.count == 3 && mirror.text == list.titles)
    }
}
