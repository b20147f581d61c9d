import CoreData
import Foundation
import Testing

@Suite("The state of an object")
struct ObjectStateTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func savedBook(_ title: String = "T") throws -> Book {
        let book = Book(context: context)
        book.title = title
        try context.save()
        return book
    }

    @Test("says what the next save does with it, and nothing after the save")
    func flags() throws {
        let book = Book(context: context)
        book.title = "T"
        #expect(book.isInserted && !book.isUpdated && !book.isDeleted && book.hasChanges && book.hasPersistentChangedValues)
        try context.save()
        #expect(!book.isInserted && !book.isUpdated && !book.hasChanges && !book.hasPersistentChangedValues && !context.hasChanges)
        book.pages = 3
        #expect(!book.isInserted && book.isUpdated && book.hasChanges && context.updatedObjects == [book])
        context.delete(book)
        #expect(book.isDeleted && book.hasChanges && context.deletedObjects == [book] && context.updatedObjects.isEmpty)
    }

    @Test("counts an equal value as a change that is listed, but writes no statement and bumps no version")
    func equalValue() throws {
        let book = try savedBook()
        let saves = Notifications(.NSManagedObjectContextDidSave, from: context)
        book.title = book.title
        book.isLent = book.isLent
        book.price = book.price
        #expect(book.isUpdated && book.hasChanges && context.hasChanges && !book.hasPersistentChangedValues)
        #expect(book.changedValues().isEmpty)
        let statements = try library.statements { try context.save() }
        #expect(!statements.contains { $0.hasPrefix("UPDATE ZBOOK") })
        #expect(saves.objects(NSUpdatedObjectsKey) == [book])
        #expect(try library.sql("SELECT Z_OPT FROM ZBOOK") == "1")
        // * And the next change is measured against the same row.
        book.pages = 9
        try context.save()
        #expect(try library.sql("SELECT Z_OPT, ZPAGES, ZTITLE FROM ZBOOK") == "2|9|T")
    }

    @Test("gives changed and committed values, nil as NSNull")
    func values() throws {
        let book = try savedBook()
        #expect(book.committedValues(forKeys: ["title", "price"]) as NSDictionary == ["title": "T", "price": NSNull()])
        book.title = "U"
        book.price = 2.5
        let author = Author(context: context)
        book.author = author
        #expect(book.changedValues()["title"] as? String == "U")
        #expect(book.changedValues()["price"] as? Double == 2.5)
        #expect(book.changedValues()["author"] as? Author === author)
        #expect(book.changedValues().count == 3)
        #expect(book.committedValues(forKeys: nil)["title"] as? String == "T")
        #expect(book.committedValues(forKeys: nil)["author"] is NSNull)
        #expect(Set(book.committedValues(forKeys: nil).keys) == Set(book.entity.propertiesByName.keys))
        #expect(author.committedValues(forKeys: nil).isEmpty)
        book.title = nil
        #expect(book.changedValues()["title"] is NSNull)
        try #require(book.changedValues().count == 3)
        book.title = "T"
        #expect(book.changedValues()["title"] == nil && book.isUpdated)
    }

    @Test("gives to-many relationships among the changed and committed values, ordered ones in their order")
    func toManyValues() throws {
        let book = try savedBook()
        let chapters = ["a", "b", "c"].map { heading in
            let chapter = Chapter(context: context)
            chapter.heading = heading
            return chapter
        }
        book.chapters = chapters
        let tag = Tag(context: context)
        book.tags = [tag]
        try context.save()
        book.chapters = [chapters[2], chapters[0]]
        book.tags = []
        #expect((book.changedValues()["chapters"] as? NSOrderedSet)?.array as? [Chapter] == [chapters[2], chapters[0]])
        #expect((book.changedValues()["tags"] as? Set<NSManagedObject>)?.isEmpty == true)
        #expect((book.committedValues(forKeys: ["chapters"])["chapters"] as? NSOrderedSet)?.array as? [Chapter] == chapters)
        #expect(book.committedValues(forKeys: ["tags"])["tags"] as? Set<NSManagedObject> == [tag])
    }

    @Test("gives the values that changed in the current event only")
    func currentEvent() throws {
        let book = try savedBook()
        book.title = "1"
        #expect(book.changedValuesForCurrentEvent() as NSDictionary == ["title": "1"])
        context.processPendingChanges()
        #expect(book.changedValuesForCurrentEvent().isEmpty)
        book.pages = 2
        #expect(book.changedValuesForCurrentEvent() as NSDictionary == ["pages": 2])
        context.processPendingChanges()
        book.title = "3"
        #expect(book.changedValuesForCurrentEvent() as NSDictionary == ["title": "3"])
        #expect(book.changedValues() as NSDictionary == ["title": "3", "pages": 2])
        context.processPendingChanges()
        let tag = Tag(context: context)
        book.tags = [tag]
        #expect(book.changedValuesForCurrentEvent() as NSDictionary == ["tags": Set([tag])])
        try context.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "3|2")
    }

    @Test("gives the event's values to those who observe its end")
    func currentEventWhileObserved() throws {
        let book = try savedBook()
        book.pages = 1
        context.processPendingChanges()
        var seen: [String: Any] = [:]
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context) { _ in
            seen = book.changedValuesForCurrentEvent()
        }
        book.title = "seen"
        context.processPendingChanges()
        #expect(changes.received.count == 1)
        #expect(seen as NSDictionary == ["title": "seen"])
        context.rollback()
        #expect(book.title == "T" && book.pages == 0)
    }

    @Test("stays a fault while only identity is asked for, and fires on any property")
    func firing() throws {
        _ = try savedBook()
        let other = library.newContext()
        let book = try other.only(Book.self, "Book")
        _ = (book.objectID, book.entity, book.managedObjectContext, book.isInserted, book.hasChanges, book.hash, book.description)
        _ = (book.debugDescription, book.isEqual(book), book == book, book.hasFault(forRelationshipNamed: "tags"))
        _ = (book.hasPersistentChangedValues, book.changedValues())
        #expect(book.isFault && book.faultingState != 0)
        #expect(book.description.contains("fault"))
        let statements = library.statementsOf { #expect(book.title == "T") }
        #expect(!book.isFault && book.faultingState == 0 && statements == [])
        other.refreshAllObjects()
        #expect(book.isFault)
        book.willAccessValue(forKey: nil)
        #expect(!book.isFault)
        other.refreshAllObjects()
        book.pages = 1
        #expect(!book.isFault)
        other.refresh(book, mergeChanges: false)
        _ = book.author
        #expect(!book.isFault)
    }

    @Test("tells which relationships have been read, and their IDs without firing the other ends")
    func relationshipFaults() throws {
        let book = try savedBook()
        let (tag, author) = (Tag(context: context), Author(context: context))
        book.tags = [tag]
        book.author = author
        #expect(!book.hasFault(forRelationshipNamed: "tags"))
        try context.save()
        let other = library.newContext()
        let same = try other.only(Book.self, "Book")
        #expect(same.hasFault(forRelationshipNamed: "tags") && same.hasFault(forRelationshipNamed: "author"))
        #expect(same.objectIDs(forRelationshipNamed: "tags") == [tag.objectID])
        #expect(same.objectIDs(forRelationshipNamed: "author") == [author.objectID])
        #expect(same.objectIDs(forRelationshipNamed: "chapters") == [])
        #expect(same.tags.first?.isFault == true && same.author?.isFault == true)
        #expect(!same.hasFault(forRelationshipNamed: "tags"))
    }
}

@Suite("Refreshing and rolling back")
struct RefreshingTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func savedBook(_ title: String = "T") throws -> Book {
        let book = Book(context: context)
        book.title = title
        try context.save()
        return book
    }

    @Test("a refresh without merging drops changes, and firing again runs no statement")
    func refreshDropping() throws {
        let book = try savedBook()
        let tag = Tag(context: context)
        book.title = "lost"
        book.tags = [tag]
        context.refresh(book, mergeChanges: false)
        #expect(book.isFault && !book.isUpdated && !context.updatedObjects.contains(book))
        let statements = library.statementsOf { #expect(book.title == "T") }
        #expect(statements == [])
    }

    @Test("a refresh without merging drops edits of relationships of an object whose row was never read")
    func refreshRowless() throws {
        let id = try savedBook().objectID
        let other = library.newContext()
        let book = try #require(other.object(with: id) as? Book)
        let tag = Tag(context: other)
        tag.books = [book]
        #expect(book.isUpdated && book.isFault)
        other.refresh(book, mergeChanges: false)
        #expect(!book.isUpdated)
        #expect(book.tags.isEmpty)
    }

    @Test("a merging refresh lays unsaved changes over the newest row")
    func refreshMerging() throws {
        let book = try savedBook()
        let other = library.newContext()
        let same = try other.only(Book.self, "Book")
        (same.title, same.pages) = ("theirs", 5)
        try other.save()
        book.title = "mine"
        #expect(book.pages == 0)
        context.refresh(book, mergeChanges: true)
        #expect(book.title == "mine" && book.pages == 5 && book.isUpdated)
        try context.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES, Z_OPT FROM ZBOOK") == "mine|5|3")
    }

    @Test("refreshing all objects keeps unsaved changes")
    func refreshAll() throws {
        let (book, other) = (try savedBook("a"), try savedBook("b"))
        let new = Tag(context: context)
        book.title = "changed"
        context.refreshAllObjects()
        #expect(book.title == "changed" && other.isFault && new.isInserted && context.hasChanges)
        try context.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK ORDER BY 1") == "b\nchanged")
    }

    @Test("a rollback drops inserts, takes back updates and deletes, and restores relationships on both sides, reading nothing")
    func rollback() throws {
        let (book, gone) = (try savedBook("a"), try savedBook("b"))
        let (author, tag) = (Author(context: context), Tag(context: context))
        book.author = author
        book.tags = [tag]
        try context.save()
        let new = Tag(context: context)
        new.books = [book]
        book.title = nil
        book.author = nil
        book.tags.remove(tag)
        context.delete(gone)
        context.delete(author)
        let statements = library.statementsOf { context.rollback() }
        #expect(statements.filter { !$0.hasPrefix("SELECT") } == [])
        #expect(!context.hasChanges && context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
        #expect(new.managedObjectContext == nil)
        #expect(book.title == "a" && book.author === author && book.tags == [tag] && author.books == [book] && tag.books == [book])
        #expect(!gone.isDeleted && gone.title == "b")
        let nothing = try library.statements { try context.save() }
        #expect(!nothing.contains { $0.hasPrefix("INSERT") || $0.hasPrefix("UPDATE") || $0.hasPrefix("DELETE") })
    }

    @Test("a reset leaves no object, says so once, and what is still held is in no context")
    func reset() throws {
        let book = try savedBook()
        let new = Tag(context: context)
        context.processPendingChanges()
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        context.reset()
        #expect(context.registeredObjects.isEmpty && !context.hasChanges)
        #expect(changes.received.count == 1)
        #expect((changes.received.first?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID])?.count == 2)
        #expect(book.managedObjectContext == nil && new.managedObjectContext == nil)
        #expect(try context.only(Book.self, "Book") !== book)
    }
}

@Suite("Identity and memory")
struct IdentityTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func savedTags(_ count: Int) throws -> [NSManagedObjectID] {
        let writer = library.newContext()
        let tags = (0..<count).map { number in
            let tag = Tag(context: writer)
            tag.label = "\(number)"
            return tag
        }
        try writer.save()
        return tags.map(\.objectID)
    }

    @Test("one ID is one object in a context, however it is asked for")
    func uniquing() throws {
        let id = try savedTags(1)[0]
        #expect(context.registeredObject(for: id) == nil)
        let statements = library.statementsOf { #expect(context.object(with: id).isFault) }
        #expect(statements == [])
        let object = context.object(with: id)
        #expect(context.registeredObject(for: id) === object)
        #expect(try context.existingObject(with: id) === object)
        #expect(!object.isFault)
        #expect(try context.only(Tag.self, "Tag") === object)
        #expect(library.newContext().object(with: id) !== object)
    }

    @Test("an ID whose row is gone: existingObject throws 133000, a fault becomes a deleted object with empty values")
    func missingRow() throws {
        let ids = try savedTags(2)
        let ghost = try #require(context.object(with: ids[0]) as? Tag)
        _ = try library.sql("DELETE FROM ZTAG")
        let other = library.newContext()
        #expect(errorCode { _ = try other.existingObject(with: ids[1]) } == NSManagedObjectReferentialIntegrityError)
        #expect(ghost.label == nil)
        #expect(ghost.isDeleted && ghost.books.isEmpty)
        try context.save()
        #expect(ghost.managedObjectContext == nil)
    }

    @Test("an inaccessible fault traps where the context says so")
    func inaccessibleTrap() async {
        await #expect(processExitsWith: .failure) {
            let library = try Library()
            let tag = Tag(context: library.context)
            try library.context.save()
            let other = library.newContext()
            other.shouldDeleteInaccessibleFaults = false
            let ghost = other.object(with: tag.objectID)
            library.context.delete(tag)
            try library.context.save()
            _ = ghost.value(forKey: "label")
        }
    }

    @Test("objects are freed when they are dropped, changed ones are not, and all are kept where the context retains them")
    func weakRegistration() throws {
        let ids = try savedTags(3)
        weak let clean = context.object(with: ids[0])
        #expect(clean == nil)
        weak var read: NSManagedObject?
        weak var dirty: NSManagedObject?
        do {
            let (first, second) = (try context.existingObject(with: ids[0]), try context.existingObject(with: ids[1]))
            second.setValue("changed", forKey: "label")
            (read, dirty) = (first, second)
        }
        #expect(read == nil && dirty != nil)
        #expect(context.registeredObjects.count == 1)
        try context.save()
        #expect(dirty == nil)
        context.retainsRegisteredObjects = true
        weak let kept = context.object(with: ids[2])
        #expect(kept != nil)
        context.retainsRegisteredObjects = false
        #expect(kept == nil)
    }

    @Test("inserted objects are freed after a rollback")
    func freedAfterRollback() throws {
        weak var tag: Tag?
        do {
            let new = Tag(context: context)
            context.processPendingChanges()
            tag = new
        }
        #expect(tag != nil)
        context.rollback()
        #expect(tag == nil)
    }

    @Test("an object outlives its context: it is in none, keeps its values, and can be released")
    func outliving() throws {
        let ids = try savedTags(2)
        var other: NSManagedObjectContext? = library.newContext()
        weak let gone = other
        let (read, unread) = (try #require(other?.existingObject(with: ids[0]) as? Tag), try #require(other?.object(with: ids[1]) as? Tag))
        let new = Tag(context: try #require(other))
        other = nil
        #expect(gone == nil)
        #expect(read.managedObjectContext == nil && read.label == "0")
        #expect(unread.label == nil)
        new.label = "still usable"
        #expect(new.label == "still usable")
    }

    @Test("the end of a context frees objects that hold each other")
    func cyclesEnd() throws {
        weak var book: Book?
        do {
            let other = library.newContext()
            let (first, tag) = (Book(context: other), Tag(context: other))
            first.title = "T"
            first.tags = [tag]
            try other.save()
            book = first
        }
        #expect(book == nil)
    }

    @Test("objects may be released on eight threads while the context fetches them again")
    func releasedElsewhere() throws {
        _ = try savedTags(2000)
        let lists = (0..<8).map { _ in ReleaseList() }
        let done = DispatchGroup()
        for list in lists { DispatchQueue.global().async(group: done) { list.releaseUntilClosed() } }
        for round in 0..<40 {
            let tags = try context.all(Tag.self, "Tag")
            try #require(tags.count == 2000)
            if round % 3 == 0 { for tag in tags { _ = tag.label } }
            for (index, tag) in tags.enumerated() { lists[index % 8].put(tag) }
        }
        for list in lists { list.close() }
        done.wait()
        #expect(context.registeredObjects.isEmpty)
        #expect(try context.all(Tag.self, "Tag").allSatisfy { $0.label != nil })
    }
}

/// Objects on their way to the thread that drops the last reference to them.
// The lock guards everything.
private final class ReleaseList: @unchecked Sendable {
    private let lock = NSLock()
    private var objects: [NSManagedObject] = []
    private var isClosed = false

    func put(_ object: NSManagedObject) { lock.withLock { objects.append(object) } }
    func close() { lock.withLock { isClosed = true } }

    func releaseUntilClosed() {
        while true {
            let (batch, ended) = lock.withLock {
                defer { objects = [] }
                return (objects, isClosed)
            }
            withExtendedLifetime(batch) {}
            if ended && batch.isEmpty { return }
        }
    }
}
