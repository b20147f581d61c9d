import Foundation
import Testing

@testable import CoreData

@Suite("Relationships that others have changed since they were read")
struct OutdatedRelationshipTests {
    let library: Library
    let context: NSManagedObjectContext
    let other: NSManagedObjectContext

    init() throws {
        library = try Library()
        (context, other) = (library.context, try library.separateContext())
    }

    /// The objects of the conflicts that the context's save meets.
    private func conflicting(_ context: NSManagedObjectContext) -> Set<NSManagedObject> {
        do { try context.save() } catch {
            let conflicts = (error as NSError).userInfo["conflictList"] as? [NSMergeConflict] ?? []
            return (error as NSError).code == NSManagedObjectMergeError ? Set(conflicts.map(\.sourceObject)) : []
        }
        return []
    }

    private func chapter(_ heading: String, _ book: Book, in context: NSManagedObjectContext) {
        let chapter = Chapter(context: context)
        (chapter.heading, chapter.book) = (heading, book)
    }

    @Test("are a conflict also where a context of the same coordinator has changed nothing else of the object")
    func sameCoordinator() throws {
        let book = try library.savedBook()
        let sibling = library.newContext()
        let theirs = sibling.own(book)
        #expect(theirs.chapters.isEmpty)
        chapter("first", book, in: context)
        try context.save()
        chapter("second", theirs, in: sibling)
        #expect(conflicting(sibling) == [theirs])
        sibling.refresh(theirs, mergeChanges: true)
        try sibling.save()
        #expect(theirs.chapters.map(\.heading) == ["first", "second"])
        #expect(try library.sql("SELECT COUNT(DISTINCT Z_FOK_BOOK) FROM ZCHAPTER") == "2")
    }

    @Test("are a conflict for a delete, whoever else of the coordinator's contexts knows the row", arguments: [false, true])
    func deletedBeside(isKept: Bool) throws {
        let book = try library.savedBook()
        let (sibling, third) = (library.newContext(), library.newContext())
        let (theirs, changed) = (sibling.own(book), third.own(book))
        #expect(theirs.chapters.isEmpty && changed.title == "T")
        if !isKept { context.reset() }
        chapter("new", changed, in: third)
        try third.save()
        sibling.delete(theirs)
        #expect(conflicting(sibling) == [theirs])
        #expect(try library.sql("SELECT COUNT(*) FROM ZCHAPTER JOIN ZBOOK ON ZBOOK.Z_PK = ZBOOK") == "1")
    }

    @Test(
        "go with an object whose delete wins over them",
        arguments: [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType],
        [false, true]
    )
    func deleteThatWins(policy: NSMergePolicyType, isSibling: Bool) throws {
        let book = try library.savedBook()
        let rival = isSibling ? library.newContext() : other
        let theirs = rival.own(book)
        #expect(theirs.chapters.isEmpty && theirs.tags.isEmpty)
        chapter("new", book, in: context)
        book.tags.insert(Tag(context: context))
        try context.save()
        rival.mergePolicy = NSMergePolicy(merge: policy)
        rival.delete(theirs)
        try rival.save()
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK) + (SELECT COUNT(*) FROM ZCHAPTER), COUNT(*) FROM ZTAG") == "0|1")
        #expect(try rival.all(Tag.self, "Tag").allSatisfy(\.books.isEmpty))
    }

    @Test("do not get positions that somebody else has by now, where a policy drops what was done here to their order")
    func droppedOrder() throws {
        let book = try library.savedBook()
        for heading in ["a", "b", "c"] { chapter(heading, book, in: context) }
        try context.save()
        other.mergePolicy = NSMergePolicy.rollback
        let theirs = other.own(book)
        let added = Chapter(context: other)
        added.heading = "d"
        theirs.chapters.insert(added, at: 0)
        book.chapters.swapAt(0, 2)
        try context.save()
        try other.save()
        #expect(try library.sql("SELECT COUNT(DISTINCT Z_FOK_BOOK) FROM ZCHAPTER WHERE ZBOOK IS NOT NULL") == "4")
        let reader = try library.separateContext()
        #expect(theirs.chapters.map(\.heading) == ["c", "b", "a", "d"])
        #expect(reader.own(book).chapters.map(\.heading) == ["c", "b", "a", "d"])
    }

    // * A tag is taken from a book, which does not have it, at the end that has not been read. That is read then, and others give the book the tag.
    // => Nothing was to be taken away: the book has it at both ends, and after a save too.
    @Test("do not lose what was never there, and is put in by others afterwards", arguments: [true, false])
    func neverThere(removes: Bool) throws {
        let book = try library.savedBook()
        let tag = Tag(context: context)
        tag.label = "tag"
        if !removes { book.tags = [tag] }
        try context.save()
        let sibling = library.newContext()
        let (theirs, theirTag) = (sibling.own(book), sibling.own(tag))
        #expect(theirs.tags.count == (removes ? 0 : 1))
        let books = theirTag.mutableSetValue(forKey: "books")
        if removes { books.remove(theirs) } else { books.add(theirs) }
        #expect(theirTag.books.count == (removes ? 0 : 1))
        book.tags = removes ? [tag] : []
        try context.save()
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [book, tag].map(\.objectID)], into: [sibling])
        #expect(theirTag.books.contains(theirs) == removes && theirs.tags.contains(theirTag) == removes)
        theirs.title = "other"
        try sibling.save()
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == (removes ? "1" : "0"))
    }

    @Test("are no conflict in a child whose own saves have changed them, when it deletes the object")
    func child() throws {
        let layers = Layers(library)
        let book = layers.book("T", in: layers.worker)
        try layers.saveAll()
        chapter("first", book, in: layers.worker)
        try layers.saveAll()
        layers.worker.delete(book)
        try layers.saveAll()
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK) + (SELECT COUNT(*) FROM ZCHAPTER)") == "0")
    }

    @Test(
        "go with an object that a child deletes, though the child has saved the object's newest row and does not know them",
        arguments: [false, true]
    )
    func addedAbove(isRefreshed: Bool) throws {
        let layers = Layers(library)
        let book = layers.book("T", in: layers.main)
        try layers.saveAll()
        let theirs = layers.worker.own(book)
        #expect(theirs.chapters.isEmpty)
        theirs.pages = 1
        try layers.worker.save()
        chapter("new", book, in: layers.main)
        try layers.saveAll()
        if isRefreshed { for context in [layers.main, layers.root] { context.refreshAllObjects() } }
        layers.worker.delete(theirs)
        try layers.saveAll()
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK) + (SELECT COUNT(*) FROM ZCHAPTER)") == "0")
    }

    @Test("do not get positions that were meant for a save which failed")
    func positions() throws {
        let book = try library.savedBook()
        let theirs = other.own(book)
        #expect(theirs.chapters.isEmpty)
        chapter("first", book, in: context)
        try context.save()
        chapter("second", theirs, in: other)
        #expect(conflicting(other) == [theirs])
        other.refreshAllObjects()
        try other.save()
        #expect(theirs.chapters.map(\.heading) == ["first", "second"])
        #expect(try library.sql("SELECT COUNT(DISTINCT Z_FOK_BOOK) FROM ZCHAPTER") == "2")
    }

    private func report() throws -> (report: Person, boss: Person) {
        let report = Person(context: context)
        report.name = "r"
        try context.save()
        let theirs = other.own(report)
        #expect(theirs.boss == nil)
        let boss = Person(context: context)
        (boss.name, report.boss) = ("b", boss)
        try context.save()
        return (theirs, other.own(boss))
    }

    @Test("are not left leading nowhere by a delete, which meets a conflict")
    func deleted() throws {
        let (report, boss) = try report()
        other.delete(boss)
        #expect(conflicting(other) == [report])
        other.refresh(report, mergeChanges: true)
        try other.save()
        #expect(try library.sql("SELECT ZNAME, ZBOSS FROM ZPERSON") == "r|")
    }

    @Test(
        "are not left leading nowhere by a delete under a merge policy",
        arguments: [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType]
    )
    func deletedUnderPolicy(policy: NSMergePolicyType) throws {
        let (report, boss) = try report()
        other.mergePolicy = NSMergePolicy(merge: policy)
        other.delete(boss)
        try other.save()
        #expect(try library.sql("SELECT ZNAME, ZBOSS FROM ZPERSON") == "r|" && report.boss == nil)
    }

    @Test("end for both where one of them gets another one-to-one partner")
    func oneToOne() throws {
        let (person, first, second) = (Person(context: context), Desk(context: context), Desk(context: context))
        (first.room, second.room) = ("1", "2")
        try context.save()
        let theirs = other.own(first)
        #expect(theirs.owner == nil)
        person.desk = first
        try context.save()
        other.own(person).desk = other.own(second)
        #expect(conflicting(other) == [theirs])
        other.refresh(theirs, mergeChanges: true)
        try other.save()
        #expect(theirs.owner == nil)
        #expect(try library.sql("SELECT ZROOM FROM ZDESK WHERE ZOWNER IS NOT NULL") == "2")
    }

    @Test("and here too leave nobody who counts the object among its members, in this context or in others")
    func bothSides() throws {
        let (report, mine, theirs) = (Person(context: context), Person(context: context), Person(context: context))
        (report.name, mine.name, theirs.name) = ("r", "mine", "theirs")
        try context.save()
        let known = other.own(report)
        known.boss = other.own(mine)
        report.boss = theirs
        try context.save()
        #expect(theirs.reports == [report])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [report.objectID]], into: [other])
        let saved = Notifications(.NSManagedObjectContextDidSave, from: other)
        try other.save()
        #expect(other.own(theirs).reports.isEmpty && saved.objects(NSUpdatedObjectsKey).contains(other.own(theirs)))
        let ids = saved.objects(NSUpdatedObjectsKey).map(\.objectID)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
        #expect(theirs.reports.isEmpty && mine.reports == [report] && report.boss === mine)
    }

    @Test(
        "are followed by a delete that a policy lets win: delete rules reach what others have added meanwhile",
        arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite],
        [false, true]
    )
    func winningDelete(policy: NSMergePolicy, isInChild: Bool) throws {
        let author = Author(context: context)
        let known = Book(context: context)
        (known.title, known.author) = ("known", author)
        let book = try library.savedBook()
        other.mergePolicy = policy
        let deleting = isInChild ? Layers.child(of: other, "child") : other
        for object in [author, book] as [NSManagedObject] { deleting.delete(deleting.own(object)) }
        deleting.processPendingChanges()
        let late = Book(context: context)
        (late.title, late.author) = ("late", author)
        chapter("late", book, in: context)
        book.tags = [Tag(context: context)]
        try context.save()
        if isInChild { try deleting.save() }
        try other.save()
        for table in ["ZPERSON", "ZBOOK", "ZCHAPTER", "Z_1TAGS"] {
            #expect(try library.sql("SELECT COUNT(*) FROM \(table)") == "0", "\(table)")
        }
    }
}
