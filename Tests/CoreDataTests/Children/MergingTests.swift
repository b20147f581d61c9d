import Foundation
import Testing

@testable import CoreData

@Suite("Merging what others saved")
struct MergingTests: TwoContextSuite {
    let contexts: TwoContexts

    init() throws { contexts = try TwoContexts() }

    private func notification(of saver: NSManagedObjectContext, _ name: Notification.Name, during body: () throws -> Void) throws
        -> Notification
    {
        let posted = Lock<Notification?>(nil)
        let token = NotificationCenter.default.addObserver(forName: name, object: saver, queue: nil) { note in posted.withLock { $0 = note }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try body()
        return try #require(posted.withLock { $0 })
    }

    private func books(_ count: Int) throws -> [Book] {
        let books = (0..<count).map { number in
            let book = Book(context: context)
            (book.title, book.pages) = ("\(number)", Int32(number))
            return book
        }
        try context.save()
        return books
    }

    @Test("tells of what it brings, and a cascade of this event takes along, as deleted, not as inserted too")
    func cascade() throws {
        let author = Author(context: context)
        author.name = "author"
        try context.save()
        let theirs = Book(context: other)
        (theirs.title, theirs.author) = ("theirs", other.own(author))
        context.delete(author)
        let note = try notification(of: other, .NSManagedObjectContextDidSave) { try other.save() }
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        context.mergeChanges(fromContextDidSave: note)
        let book = context.object(with: theirs.objectID)
        #expect(changes.objects(NSDeletedObjectsKey) == [author, book] && changes.objects(NSInsertedObjectsKey).isEmpty)
        context.rollback()
        #expect(changes.objects(NSInsertedObjectsKey) == [author, book])
    }

    @Test("refreshes what is registered, keeps unsaved edits property by property, and needs no save")
    func updates() throws {
        let book = try books(1)[0]
        let theirs = other.own(book)
        (theirs.title, theirs.pages) = ("theirs", 10)
        book.title = "mine"
        let note = try notification(of: other, .NSManagedObjectContextDidSave) { try other.save() }
        context.mergeChanges(fromContextDidSave: note)
        #expect(book.title == "mine" && book.pages == 10)
        #expect(book.changedValues().keys.sorted() == ["title"])
        try context.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES, Z_OPT FROM ZBOOK") == "mine|10|3")
    }

    // * Another context puts a desk's owner at another desk, which is merged. A third has changed the first desk before, which is not.
    // => Both ends of the relationship agree; but a desk with an unsaved edit stays measured against what was read, so that its save conflicts.
    @Test("reads both ends of what leads elsewhere, but hides no conflict", arguments: [false, true])
    func partners(isEdited: Bool) throws {
        let (person, first, second) = (Person(context: context), Desk(context: context), Desk(context: context))
        person.desk = first
        try context.save()
        #expect(first.owner === person && second.owner == nil)
        let third = try Library.context(on: #require(context.persistentStoreCoordinator))
        third.own(first).room = "changed"
        try third.save()
        if isEdited { first.room = "edited" }
        let note = try notification(of: other, .NSManagedObjectContextDidSaveObjectIDs) {
            other.own(person).desk = other.own(second)
            try other.save()
        }
        var ids = try #require(note.userInfo)
        ids["updated_objectIDs"] = [person.objectID] as Set
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ids, into: [context])
        #expect(person.desk === second && second.owner === person)
        guard isEdited else {
            #expect(first.owner == nil)
            return
        }
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code.rawValue == 133020)
    }

    @Test("registers what was inserted and deletes what was deleted, edits and all; the next save has nothing to write for it")
    func insertsAndDeletes() throws {
        let books = try books(2)
        books[1].pages = 99
        let author = Author(context: other)
        author.name = "a"
        other.delete(other.own(books[0]))
        other.delete(other.own(books[1]))
        let note = try notification(of: other, .NSManagedObjectContextDidSave) { try other.save() }
        let told = try notification(of: context, .NSManagedObjectContextObjectsDidChange) { context.mergeChanges(fromContextDidSave: note) }
        #expect(told.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> == Set(books))
        #expect((told.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.map(\.objectID) == [author.objectID])
        #expect(context.deletedObjects == Set(books) && books.allSatisfy { $0.managedObjectContext === context })
        let statements = try library.statements { try context.save() }
        #expect(!statements.contains { $0.hasPrefix("UPDATE") || $0.hasPrefix("INSERT") })
        #expect(!context.hasChanges && books.allSatisfy { $0.managedObjectContext == nil })
        #expect(try context.all(Book.self).isEmpty)
    }

    @Test("posts the IDs of what it merged")
    func mergedIDs() throws {
        let book = try books(1)[0]
        other.own(book).pages = 5
        let note = try notification(of: other, .NSManagedObjectContextDidSave) { try other.save() }
        let merged = try notification(of: context, .NSManagedObjectContextDidMergeChangesObjectIDs) {
            context.mergeChanges(fromContextDidSave: note)
        }
        #expect(merged.userInfo?["updated_objectIDs"] as? Set<NSManagedObjectID> == [book.objectID])
        #expect(merged.userInfo?["refreshed_objectIDs"] as? Set<NSManagedObjectID> == [book.objectID])
    }

    @Test("reads the rows of a hundred objects with one statement")
    func statements() throws {
        let books = try books(100)
        let theirs = books.map { other.own($0) }
        for book in theirs { book.pages += 1 }
        let note = try notification(of: other, .NSManagedObjectContextDidSave) { try other.save() }
        let ids = books.map { $0.objectID.uriRepresentation() }
        let statements = library.statements { context.mergeChanges(fromContextDidSave: note) }
        #expect(statements.isEmpty)
        let foreign = library.statements {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
        }
        #expect(foreign.count == 1)
        #expect(books.map(\.pages) == (1...100).map(Int32.init))
    }

    @Test("of a context on another coordinator: the row cache is passed by")
    func foreignCoordinator() throws {
        let book = try books(1)[0]
        let far = try library.separateContext()
        let theirs = try #require(try far.one(Book.self))
        theirs.title = "far"
        let added = Book(context: far)
        added.title = "new"
        let note = try notification(of: far, .NSManagedObjectContextDidSave) { try far.save() }
        context.mergeChanges(fromContextDidSave: note)
        #expect(book.title == "far")
        #expect(context.registeredObjects.count == 2 || !context.registeredObjects.isEmpty)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectsKey: [theirs.objectID.uriRepresentation()], "unknown": 3],
            into: [context]
        )
        #expect(book.isDeleted)
    }

    @Test("DidSaveObjectIDs carries permanent IDs of everything that was saved")
    func savedIDs() throws {
        let old = try books(2)
        let name = NSManagedObjectContext.didSaveObjectIDsNotification
        let new = Tag(context: context)
        old[0].pages = 7
        context.delete(old[1])
        let gone = old[1].objectID
        let note = try notification(of: context, name) { try context.save() }
        #expect(note.userInfo?["inserted_objectIDs"] as? Set<NSManagedObjectID> == [new.objectID])
        #expect(note.userInfo?["updated_objectIDs"] as? Set<NSManagedObjectID> == [old[0].objectID])
        #expect(note.userInfo?["deleted_objectIDs"] as? Set<NSManagedObjectID> == [gone])
        #expect(!new.objectID.isTemporaryID)
        context.mergeChanges(fromContextDidSave: note)
        other.mergeChanges(fromContextDidSave: note)
        #expect(!other.hasChanges)
    }

    @Test("happens by itself between contexts of a coordinator, for those that asked")
    func automatic() throws {
        let book = try books(1)[0]
        let silent = library.newContext()
        let (theirs, unmerged) = (other.own(book), silent.own(book))
        #expect(theirs.pages == 0 && unmerged.pages == 0)
        other.automaticallyMergesChangesFromParent = true
        book.pages = 3
        try context.save()
        other.performAndWait { #expect(theirs.pages == 3) }
        #expect(unmerged.pages == 0)
        other.automaticallyMergesChangesFromParent = false
        book.pages = 4
        try context.save()
        other.performAndWait { #expect(theirs.pages == 3) }
    }

    @Test("happens by itself in children: when the parent saves, and when a sibling saves into it")
    func automaticChildren() throws {
        let layers = Layers(library)
        let (main, worker, second) = (layers.main, layers.worker, layers.newWorker())
        let book = try books(1)[0]
        let (mine, theirs) = (worker.own(book), second.own(book))
        #expect(mine.pages == 0 && theirs.pages == 0)
        worker.automaticallyMergesChangesFromParent = true
        second.automaticallyMergesChangesFromParent = true
        mine.pages = 5
        try worker.save()
        second.performAndWait { #expect(theirs.pages == 5) }
        let own = main.own(book)
        own.pages = 6
        try main.save()
        worker.performAndWait { #expect(mine.pages == 6) }
        second.performAndWait { #expect(theirs.pages == 6) }
    }

    @Test("what a merge policy changed in the topmost context comes down to its children")
    func policyComesDown() throws {
        let layers = Layers(library)
        let (root, main, worker) = (layers.root, layers.main, layers.worker)
        root.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let book = try books(1)[0]
        let (above, mine) = (main.own(book), worker.own(book))
        #expect(above.pages == 0)
        let far = try library.separateContext()
        try #require(try far.one(Book.self)).pages = 77
        try far.save()
        (mine.pages, mine.title) = (5, "mine")
        try layers.saveAll()
        main.performAndWait { #expect(above.pages == 77 && above.title == "mine") }
        worker.performAndWait { #expect(mine.pages == 77 && mine.title == "mine") }
        #expect(try library.sql("SELECT ZPAGES, ZTITLE FROM ZBOOK") == "77|mine")
    }

    @Test("what a merge policy keeps from a delete comes back into a child that has heard of the delete")
    func policyKeeps() throws {
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let book = try books(1)[0]
        let main = Layers.child(of: context, "main")
        let worker = Layers.child(of: main, "worker")
        worker.automaticallyMergesChangesFromParent = true
        let mine = worker.own(book)
        #expect(mine.pages == 0)
        let far = try library.separateContext()
        try #require(try far.one(Book.self)).pages = 77
        try far.save()
        main.delete(main.own(book))
        try main.save()
        worker.processPendingChanges()
        #expect(mine.isDeleted)
        try context.save()
        main.processPendingChanges()
        worker.processPendingChanges()
        #expect(!mine.isDeleted && !worker.hasChanges)
        #expect(try worker.one(Book.self) === mine && mine.pages == 77)
        #expect(try library.sql("SELECT ZPAGES FROM ZBOOK") == "77")
    }

    /// A book of the first of two authors, as the context has read it.
    private func bookOfTwo() throws -> (book: Book, first: Author, second: Author) {
        let (first, second) = (Author(context: context), Author(context: context))
        let book = try books(1)[0]
        book.author = first
        try context.save()
        context.refreshAllObjects()
        #expect(first.books == [book] && book.author === first)
        return (book, first, second)
    }

    // * Others lead a book from one author to another, and delete the first. Only the delete is merged.
    @Test("a delete reaches nothing that others have led elsewhere before", arguments: [false, true])
    func deletesFormerAuthor(isFarOff: Bool) throws {
        context.mergePolicy = NSMergePolicy.overwrite
        let (book, first, second) = try bookOfTwo()
        let theirs = isFarOff ? try library.separateContext() : other
        theirs.own(book).author = theirs.own(second)
        try theirs.save()
        theirs.delete(theirs.own(first))
        let note = try notification(of: theirs, .NSManagedObjectContextDidSave) { try theirs.save() }
        context.mergeChanges(fromContextDidSave: note)
        #expect(!book.isDeleted && book.author === second && book.changedValues().isEmpty)
        try context.save()
        #expect(try library.sql("SELECT ZAUTHOR FROM ZBOOK") == "\(second.key)")
    }

    @Test("nor one of them that is changed here: it leads where they led it, and conflicts", arguments: [false, true])
    func deletesFormerAuthorOfChanged(isFarOff: Bool) throws {
        let (book, first, second) = try bookOfTwo()
        let theirs = isFarOff ? try library.separateContext() : other
        let its = theirs.own(book)
        (its.author, its.title) = (theirs.own(second), "theirs")
        try theirs.save()
        book.title = "mine"
        theirs.delete(theirs.own(first))
        let note = try notification(of: theirs, .NSManagedObjectContextDidSave) { try theirs.save() }
        context.mergeChanges(fromContextDidSave: note)
        #expect(!book.isDeleted && book.author === second && second.books == [book])
        #expect(book.changedValues() as? [String: String] == ["title": "mine"])
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == CocoaError.Code(rawValue: NSManagedObjectMergeError))
        context.mergePolicy = NSMergePolicy.overwrite
        try context.save()
        #expect(try library.sql("SELECT ZTITLE, ZAUTHOR FROM ZBOOK") == "mine|\(second.key)")
    }

    @Test("of relationships: they are read again, and a deleted member is gone")
    func relationships() throws {
        let author = Author(context: context)
        author.name = "a"
        let books = try books(2)
        author.books = Set(books)
        try context.save()
        let theirs = other.own(author)
        #expect(theirs.books.count == 2)
        context.delete(books[0])
        let added = Book(context: context)
        (added.title, added.author) = ("added", author)
        let note = try notification(of: context, .NSManagedObjectContextDidSave) { try context.save() }
        other.mergeChanges(fromContextDidSave: note)
        #expect(Set(theirs.books.map(\.title)) == ["1", "added"])
        #expect(!other.hasChanges)
    }

    @Test("a delete by others takes the object out of lists that were put together here, though its own end was never read")
    func deletesUnreadMembers() throws {
        let (book, tag) = (try books(1)[0], Tag(context: context))
        tag.label = "t"
        try context.save()
        book.tags = [tag]
        try context.save()
        let theirs = other.own(book)
        other.delete(other.own(tag))
        other.processPendingChanges()
        // They have nothing to save of the book.
        other.refresh(theirs, mergeChanges: false)
        let note = try notification(of: other, .NSManagedObjectContextDidSave) { try other.save() }
        context.mergeChanges(fromContextDidSave: note)
        #expect(book.tags.isEmpty)
    }

    // * A child has read a new object of its parent, which has other values and members by the time it is saved.
    @Test("brings up to date what was read before it was saved")
    func readUnsaved() throws {
        let child = Layers.child(of: context, "child")
        let author = Author(context: context)
        author.name = "before"
        let seen = try #require(try child.all(Author.self).first)
        #expect(seen.name == "before" && seen.books.isEmpty)
        let book = Book(context: context)
        (author.name, book.title, book.author) = ("after", "b", author)
        let note = try notification(of: context, .NSManagedObjectContextDidSave) { try context.save() }
        child.mergeChanges(fromContextDidSave: note)
        #expect(seen.name == "after" && seen.books.map(\.title) == ["b"])
    }
}
