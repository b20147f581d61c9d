import Foundation
import Testing

@testable import CoreData

@Suite("Refreshing and rolling back")
struct RefreshingTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    @Test("a refresh without merging drops changes, and firing again runs no statement")
    func refreshDropping() throws {
        let book = try library.savedBook()
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
        let id = try library.savedBook().objectID
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
        let book = try library.savedBook()
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
        let (book, other) = (try library.savedBook("a"), try library.savedBook("b"))
        let new = Tag(context: context)
        book.title = "changed"
        context.refreshAllObjects()
        #expect(book.title == "changed" && other.isFault && new.isInserted && context.hasChanges)
        try context.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK ORDER BY 1") == "b\nchanged")
    }

    @Test("refreshing all objects reads the rows of changed faults with one statement")
    func refreshAllFaults() throws {
        let ids = try (0..<20).map { try library.savedBook("\($0)").objectID }
        let other = library.newContext()
        let books = ids.compactMap { other.object(with: $0) as? Book }
        Tag(context: other).books = Set(books)
        context.reset()
        #expect(books.allSatisfy { $0.isFault && $0.isUpdated })
        let statements = library.statementsOf { other.refreshAllObjects() }
        #expect(statements.count { $0.hasPrefix("SELECT") } == 1)
        #expect(books.allSatisfy { $0.isUpdated })
    }

    @Test("a rollback drops inserts, takes back updates and deletes, and restores relationships on both sides, reading nothing")
    func rollback() throws {
        let (book, gone) = (try library.savedBook("a"), try library.savedBook("b"))
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
        let book = try library.savedBook()
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

    @Test(
        "a refresh without merging drops a pair at both ends, whichever end was set: memory says what the file says",
        arguments: [true, false],
        [true, false]
    )
    func refreshOneEnd(isAdded: Bool, isBook: Bool) throws {
        let (book, tag) = (try library.savedBook(), Tag(context: context))
        if !isAdded { book.tags = [tag] }
        try context.save()
        #expect(book.tags.isEmpty == isAdded && tag.books.isEmpty == isAdded)
        book.tags = isAdded ? [tag] : []
        context.refresh(isBook ? book : tag, mergeChanges: false)
        #expect(book.tags.isEmpty == isAdded && tag.books.isEmpty == isAdded)
        try context.save()
        #expect(book.tags.isEmpty == isAdded && tag.books.isEmpty == isAdded)
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == (isAdded ? "0" : "1"))
    }

    @Test("a refresh without merging gives both ends of a one-to-one relationship their former partner, or none who has another by now")
    func refreshOneOfTwo() throws {
        let (person, former, latest) = (Person(context: context), Desk(context: context), Desk(context: context))
        (former.room, latest.room) = ("former", "latest")
        person.desk = former
        try context.save()
        person.desk = latest
        context.refresh(person, mergeChanges: false)
        #expect(person.desk === former && former.owner === person && latest.owner == nil)
        try context.save()
        #expect(try library.sql("SELECT ZROOM FROM ZDESK WHERE ZOWNER = 1") == "former")
        let other = Person(context: context)
        (person.desk, former.owner) = (latest, other)
        context.refresh(person, mergeChanges: false)
        try context.save()
        #expect(person.desk == nil && former.owner === other && latest.owner == nil)
        #expect(try library.sql("SELECT ZROOM, ZOWNER FROM ZDESK ORDER BY 1; SELECT ZDESK FROM ZPERSON") == "former|2\nlatest|\n\n1")
    }

    @Test("a refresh without merging leaves what others' to-ones say of an object: a delete of it reaches them", arguments: [true, false])
    func refreshBoss(isDeleted: Bool) throws {
        let (boss, report, former) = (Person(context: context), Person(context: context), Person(context: context))
        former.boss = boss
        try context.save()
        (report.boss, former.boss) = (boss, nil)
        context.refresh(boss, mergeChanges: false)
        #expect(boss.isFault && boss.reports == [report] && report.boss === boss)
        if isDeleted { context.delete(boss) }
        try context.save()
        #expect(!context.hasChanges && !boss.isUpdated)
        #expect(report.boss === (isDeleted ? nil : boss) && former.boss == nil)
        let file = try library.sql("SELECT COUNT(*) FROM ZPERSON WHERE ZBOSS IS NOT NULL")
        #expect(file == (isDeleted ? "0" : "1"))
    }

    @Test(
        "a refresh without merging takes back that a one-to-one relationship was emptied, at whichever end",
        arguments: [true, false],
        [true, false]
    )
    func refreshEmptied(isPerson: Bool, inChild: Bool) throws {
        let (person, desk) = (Person(context: context), Desk(context: context))
        person.desk = desk
        if !inChild { try context.save() }
        let edited = inChild ? Layers.child(of: context, "child") : context
        let (own, ownDesk) = (
            try #require(edited.object(with: person.objectID) as? Person), try #require(edited.object(with: desk.objectID) as? Desk)
        )
        ownDesk.owner = nil
        #expect(own.desk == nil)
        edited.refresh(isPerson ? own : ownDesk, mergeChanges: false)
        #expect(own.desk === ownDesk && ownDesk.owner === own)
        try edited.save()
        try context.save()
        #expect(try library.sql("SELECT ZDESK FROM ZPERSON; SELECT ZOWNER FROM ZDESK") == "1\n1")
    }

    @Test("a refresh without merging leaves no reference to what is deleted", arguments: [true, false])
    func refreshAfterDelete(isCached: Bool) throws {
        let (person, desk) = (Person(context: context), Desk(context: context))
        (person.desk, desk.room) = (desk, "kept")
        try context.save()
        if !isCached { context.refreshAllObjects() }
        context.delete(person)
        context.processPendingChanges()
        if !isCached { context.parentSource.forgetRows([desk.rowReference]) }
        context.refresh(desk, mergeChanges: false)
        #expect(desk.owner == nil && desk.room == "kept" && context.updatedObjects == [desk])
        try context.save()
        #expect(try library.sql("SELECT COUNT(*), COUNT(ZOWNER) FROM ZDESK; SELECT COUNT(*) FROM ZPERSON") == "1|0\n0")
    }

    @Test("a refresh after a delete keeps what others have led the object to since")
    func refreshAfterDeleteMovedElsewhere() throws {
        let (person, desk, other) = (Person(context: context), Desk(context: context), Person(context: context))
        (person.desk, other.name) = (desk, "other")
        try context.save()
        context.delete(person)
        context.processPendingChanges()
        let theirs = library.newContext()
        (theirs.object(with: desk.objectID) as? Desk)?.owner = theirs.object(with: other.objectID) as? Person
        try theirs.save()
        context.refresh(desk, mergeChanges: false)
        #expect(desk.owner?.name == "other")
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(try library.sql("SELECT ZNAME FROM ZPERSON JOIN ZDESK ON ZOWNER = ZPERSON.Z_PK WHERE ZDESK = ZDESK.Z_PK") == "other")
    }

    @Test("a refresh without merging gives an object both ends of its one-to-one relationship to itself, though another had taken it over")
    func refreshOwnPartner() throws {
        let stage = try Stage {
            let node = LibraryModel.entity("Node", NSManagedObject.self, [])
            LibraryModel.relate(node, "next", toMany: false, .nullifyDeleteRule, node, "previous", toMany: false, .nullifyDeleteRule)
            return [node]
        }
        let nodes = (0..<2).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Node", into: stage.context) }
        nodes[0]["next"] = nodes[0]
        try stage.context.save()
        nodes[1]["next"] = nodes[0]
        stage.context.refresh(nodes[0], mergeChanges: false)
        #expect(nodes[0]["next"] as? NSManagedObject === nodes[0] && nodes[0]["previous"] as? NSManagedObject === nodes[0])
        #expect(nodes[1]["next"] == nil)
        try stage.context.save()
        #expect(try stage.sql("SELECT COUNT(*) FROM ZNODE WHERE ZNEXT = Z_PK AND ZPREVIOUS = Z_PK") == "1")
        #expect(try stage.sql("SELECT COUNT(ZNEXT) + COUNT(ZPREVIOUS) FROM ZNODE") == "2")
    }

    @Test("a refreshed object is kept no longer than until the next fetch, and is listed once")
    func refreshedObjectsGo() throws {
        for index in 0..<20 { Tag(context: context).label = "\(index)" }
        try context.save()
        let other = library.newContext()
        // Counts, and keeps no notification: that would keep its objects.
        nonisolated(unsafe) var listed = 0
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: other, queue: nil) {
            listed += ($0.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
        }
        defer { NotificationCenter.default.removeObserver(token) }
        for offset in [0, 10] {
            let request = NSFetchRequest<Tag>(entityName: "Tag")
            (request.fetchLimit, request.fetchOffset) = (10, offset)
            for tag in try other.fetch(request) {
                #expect(tag.label != nil)
                for _ in 0..<3 { other.refresh(tag, mergeChanges: false) }
            }
            #expect(other.registeredObjects.count == 10)
        }
        #expect(listed == 10)
    }
    // * An object is deleted; a partner of it in a many-to-many relationship is refreshed, so that what the delete has done to it is forgotten, and
    // is read again meanwhile, without the object.
    // => A rollback brings the object back at both ends, also in a child.
    @Test("a rollback brings a deleted object back among the members that others have read meanwhile", arguments: [false, true])
    func readBetweenDeleteAndRollback(isChild: Bool) throws {
        let saved = try library.savedBook()
        saved.tags = [Tag(context: context)]
        try context.save()
        let context = isChild ? NSManagedObjectContext(concurrencyType: .confinementConcurrencyType) : library.newContext()
        if isChild { context.parent = library.context }
        let book = try #require(try context.existingObject(with: saved.objectID) as? Book)
        let tag = try #require(book.tags.first)
        #expect(tag.books == [book])
        context.delete(tag)
        context.processPendingChanges()
        context.refresh(book, mergeChanges: false)
        #expect(book.tags.isEmpty)
        context.rollback()
        #expect(tag.books == [book] && book.tags == [tag])
    }
}
