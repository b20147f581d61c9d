import Foundation
import Testing

@testable import CoreData

@Suite("What others have deleted, once that is merged")
struct VanishingTests: TwoContextSuite {
    let contexts: TwoContexts

    init() throws { contexts = try TwoContexts() }

    private func author() throws -> Author {
        let author = Author(context: context)
        author.name = "a"
        try context.save()
        return author
    }

    private func book(_ title: String, _ author: Author?) -> Book {
        let book = Book(context: context)
        (book.title, book.author) = (title, author)
        return book
    }

    @Test("is not referred to by what is saved here, whichever side of the relationship was set")
    func nullified() throws {
        let (boss, tag) = (try author(), Tag(context: context))
        tag.label = "t"
        let known = book("known", nil)
        try context.save()
        let report = Author(context: context)
        (report.name, report.boss) = ("r", boss)
        // * A pair of a many-to-many relationship, and one that leads to a new object.
        known.tags = [tag]
        let draft = book("draft", nil)
        draft.tags = [tag]
        try deleteElsewhere(boss)
        try deleteElsewhere(tag)
        #expect(report.boss == nil && known.tags.isEmpty && draft.tags.isEmpty)
        try context.save()
        #expect(try library.sql("SELECT ZNAME, ZBOSS FROM ZPERSON") == "r|")
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "0")
    }

    @Test("stays registered and deleted until the save, has its values, and is in no context afterwards")
    func waits() throws {
        let tag = Tag(context: context)
        tag.label = "t"
        try context.save()
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        try deleteElsewhere(tag)
        #expect(tag.isDeleted && context.deletedObjects == [tag] && tag.label == "t" && tag.managedObjectContext === context)
        #expect(context.registeredObject(for: tag.objectID) === tag)
        #expect(try context.all(Tag.self, "Tag").isEmpty)
        try context.save()
        #expect(changes.received.count == 1 && changes.objects(NSDeletedObjectsKey) == [tag])
        #expect(did.objects(NSDeletedObjectsKey) == [tag])
        #expect(tag.managedObjectContext == nil && !context.hasChanges && !tag.isDeleted)
    }

    @Test("takes along what its delete rules say, also what was never saved, but not what has moved elsewhere")
    func cascaded() throws {
        let (author, second) = (try author(), try self.author())
        let (moved, gone) = (book("moved", author), book("gone", author))
        try context.save()
        #expect(author.books.count == 2)
        let draft = book("draft", author)
        let theirs = other.own(moved)
        theirs.author = other.own(second)
        other.delete(other.own(author))
        let posted = Lock<[AnyHashable: Any]>([:])
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: other, queue: nil) { note in
            posted.withLock { $0 = note.userInfo ?? [:] }
        }
        try other.save()
        NotificationCenter.default.removeObserver(token)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: posted.withLock { $0 }, into: [context])
        #expect(moved.author === second && !moved.isDeleted && gone.isDeleted)
        #expect(draft.managedObjectContext == nil && context.insertedObjects.isEmpty)
        try context.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "moved")
    }

    @Test("changes nothing that only the store knew: what referred to it and was read is not updated here")
    func quietly() throws {
        let author = try author()
        let book = book("b", author)
        try context.save()
        #expect(author.books == [book])
        try deleteElsewhere(book)
        #expect(author.books.isEmpty && !author.isUpdated)
        try context.save()
        #expect(try library.sql("SELECT Z_OPT FROM ZPERSON") == library.sql("SELECT MAX(Z_OPT) FROM ZPERSON"))
    }

    @Test("cannot be kept by a delete rule that denies")
    func denied() throws {
        let (person, desk) = (Person(context: context), Desk(context: context))
        (person.name, desk.room, person.desk) = ("p", "1", desk)
        #expect(person.desk === desk)
        #expect(errorCode { try context.save() } == 0)
        let theirs = other.own(desk)
        theirs.owner = nil
        try other.save()
        context.refresh(person, mergeChanges: true)
        // * Here the two are related anew.
        desk.owner = nil
        person.desk = desk
        try deleteElsewhere(desk)
        person.age = 3
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZDESK") == "0" && !context.hasChanges)
        #expect(try person.desk == nil && library.sql("SELECT ZDESK FROM ZPERSON") == "")
    }

    @Test("comes back from a rollback as a fault without a row, whose values are nil")
    func rolledBack() throws {
        let tag = Tag(context: context)
        tag.label = "t"
        try context.save()
        try deleteElsewhere(tag)
        context.rollback()
        #expect(!context.hasChanges && tag.isFault && !tag.isDeleted)
        #expect(tag.label == nil && tag.isDeleted)
        try context.save()
        #expect(!context.hasChanges)
    }

    @Test("comes back from a rollback into the lists that had been read, whether its own end was read or not", arguments: [true, false])
    func listsAfterRollback(isRead: Bool) throws {
        let saved = Book(context: context)
        (saved.title, saved.tags) = ("T", [Tag(context: context)])
        saved.author = Author(context: context)
        try context.save()
        let book = try #require(try other.all(Book.self, "Book").first)
        let tag = try #require(try other.all(Tag.self, "Tag").first), author = try #require(try other.all(Author.self, "Author").first)
        #expect(tag.books == [book] && author.books == [book])
        if isRead { #expect(book.tags == [tag]) }
        // * Told of a delete that nobody has made, or that was taken back since.
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [book.objectID]], into: [other])
        #expect(book.isDeleted && tag.books.isEmpty && author.books.isEmpty)
        other.rollback()
        #expect(tag.books == [book] && author.books == [book] && book.tags == [tag] && book.author === author)
        #expect(!other.hasChanges)
    }

    // * Deleted here, then by others, which is merged; then the rollback.
    @Test("comes back from a rollback as a fault, though its delete was decided on here before")
    func rolledBackDecision() throws {
        let book = try library.savedBook()
        let books = NSFetchRequest<Book>(entityName: "Book")
        books.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let list = NSFetchedResultsController(fetchRequest: books, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let calls = CallMirror()
        list.delegate = calls
        try list.performFetch()
        calls.start(list)
        context.delete(book)
        context.processPendingChanges()
        try deleteElsewhere(book)
        context.rollback()
        #expect(try context.fetch(books).isEmpty && list.fetchedObjects?.isEmpty == true)
        #expect(book.title == nil)
    }

    @Test("is written anew when it is inserted again")
    func insertedAgain() throws {
        let tag = Tag(context: context)
        tag.label = "t"
        try context.save()
        try deleteElsewhere(tag)
        context.insert(tag)
        #expect(!tag.isDeleted)
        try context.save()
        #expect(try library.sql("SELECT Z_PK, ZLABEL FROM ZTAG") == "1|t")
    }

    @Test("is deleted in a child that merges it, and its save leaves nothing to do above")
    func inChild() throws {
        let layers = Layers(library)
        let tag = Tag(context: context)
        tag.label = "t"
        try context.save()
        let (mine, book) = (layers.main.own(tag), layers.book("b", in: layers.main))
        book.tags = [mine]
        other.delete(other.own(tag))
        try other.save()
        let id = tag.objectID
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [id]], into: [layers.main, context])
        #expect(mine.isDeleted && tag.isDeleted && book.tags.isEmpty)
        try layers.saveAll()
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "0" && library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "0")
        #expect(mine.managedObjectContext == nil && tag.managedObjectContext == nil && !context.hasChanges)
    }

    @Test("of a thousand objects is merged without a statement for each", arguments: [true, false])
    func statements(areFaults: Bool) throws {
        let author = try author()
        let books = (0..<1000).map { book("\($0)", author) }
        try context.save()
        let ids = books.map(\.objectID)
        if areFaults { for book in books { context.refresh(book, mergeChanges: false) } }
        for id in ids { other.delete(other.object(with: id)) }
        try other.save()
        let statements = library.statements {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
        }
        #expect(statements.count <= 2 && context.deletedObjects.count == 1000)
        try context.save()
        #expect(books.allSatisfy { $0.managedObjectContext == nil })
    }
}
