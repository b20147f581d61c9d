import Foundation
import Testing

@testable import CoreData

@Suite("Both ends of a relationship agree, in memory and in the file,")
struct BothEndsTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library()
        context = library.context
    }

    private func rival(isFarOff: Bool) throws -> NSManagedObjectContext {
        isFarOff ? try library.separateContext() : library.newContext()
    }

    /// One-to-one ends of which the other says something else.
    private var disagreements: String {
        get throws {
            try library.sql(
                """
                SELECT (SELECT COUNT(*) FROM ZPERSON p LEFT JOIN ZDESK d ON d.Z_PK = p.ZDESK WHERE p.ZDESK IS NOT NULL AND d.ZOWNER IS NOT p.Z_PK)
                     + (SELECT COUNT(*) FROM ZDESK d LEFT JOIN ZPERSON p ON p.Z_PK = d.ZOWNER WHERE d.ZOWNER IS NOT NULL AND p.ZDESK IS NOT d.Z_PK)
                """
            )
        }
    }

    @Test("after a delete was carried along them and is taken back", arguments: ["book", "tag", "person", "desk", "boss", "report"])
    func takenBack(name: String) throws {
        let (book, tag, person, desk, report) = (
            Book(context: context), Tag(context: context), Person(context: context), Desk(context: context), Person(context: context)
        )
        (book.title, book.tags, person.desk, report.boss) = ("b", [tag], desk, person)
        try context.save()
        let objects =
            ["book": book, "tag": tag, "person": person, "desk": desk, "boss": person, "report": report] as [String: NSManagedObject]
        let object = try #require(objects[name])
        context.delete(object)
        context.processPendingChanges()
        context.insert(object)
        for _ in 0..<2 {
            #expect(book.tags == [tag] && tag.books == [book] && person.desk === desk && desk.owner === person)
            #expect(report.boss === person && person.reports == [report])
            try context.save()
        }
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS; SELECT ZBOSS FROM ZPERSON WHERE Z_PK = \(report.key)") == "1\n\(person.key)")
        #expect(try disagreements == "0")
        let reader = try library.separateContext()
        #expect(reader.own(person).reports == [reader.own(report)] && reader.own(person).desk === reader.own(desk))
    }

    // * An object is taken out of a relationship that has not been read, and that it is not in; then others put it in, which is merged.
    // => It is in, at both ends.
    @Test("after others have put in what was taken out here without being in")
    func takenOutBefore() throws {
        let (author, book) = (Author(context: context), Book(context: context))
        (author.name, book.title) = ("a", "b")
        try context.save()
        let reader = library.newContext()
        let (own, member) = (reader.own(author), reader.own(book))
        own.removeFromBooks(member)
        let saves = Notifications(.NSManagedObjectContextDidSave, from: context)
        book.author = author
        try context.save()
        reader.mergeChanges(fromContextDidSave: try #require(saves.received.last))
        #expect(member.author === own && own.books == [member])
    }

    // * A to-one is led elsewhere here, and back; others lead it elsewhere, which is merged, in one order or another.
    // => It leads to whom it led to, who has it, also in the file.
    @Test(
        "after a relationship that was led back here was led elsewhere by others",
        arguments: [[0, 2], [2, 0], [0, 1, 2], [1, 2, 0], [2]]
    )
    func ledBack(order: [Int]) throws {
        let (authors, book) = ((0..<2).map { _ in Author(context: context) }, Book(context: context))
        (book.title, book.author) = ("b", authors[0])
        try context.save()
        #expect(authors.map(\.books.count) == [1, 0])
        for author in authors.reversed() {
            book.author = author
            context.processPendingChanges()
        }
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let other = library.newContext()
        other.own(book).author = other.own(authors[1])
        try other.save()
        for index in order {
            let changed = (authors + [book])[index].objectID
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [changed]], into: [context])
        }
        for _ in 0..<2 {
            #expect(book.author === authors[0] && authors[0].books == [book] && authors[1].books.isEmpty)
            try context.save()
        }
        #expect(try library.sql("SELECT ZAUTHOR FROM ZBOOK") == "\(authors[0].key)")
    }

    // * A to-one is led elsewhere here and by others, of which a merge tells, though not of those that it led to; then it is led on here: back to
    //   whom it has left, or away from whom others have led it to as well.
    // => Whoever it leads to has it, and nobody else.
    @Test("after a relationship that others have led elsewhere, too, is led on", arguments: [false, true])
    func ledOn(isBack: Bool) throws {
        let (authors, book) = ((0..<3).map { _ in Author(context: context) }, Book(context: context))
        (book.title, book.author) = ("b", authors[0])
        try context.save()
        let rival = library.newContext()
        for author in authors { #expect(author.books.count <= 1) }
        book.author = authors[isBack ? 1 : 2]
        rival.own(book).author = rival.own(authors[2])
        try rival.save()
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [book.objectID]], into: [context])
        book.author = isBack ? authors[0] : nil
        for _ in 0..<2 {
            for author in authors { context.refresh(author, mergeChanges: true) }
            #expect(authors.map(\.books) == [isBack ? [book] : [], [], []])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
        }
        #expect(try library.sql("SELECT ifnull(ZAUTHOR, 0) FROM ZBOOK") == (isBack ? "\(authors[0].key)" : "0"))
    }

    // * A delete has been carried along relationships; a rival has changed the object meanwhile, and the policy lets the store win.
    // => The object stays, with all that led to it; a later delete of its owner finds it.
    @Test(
        "after a policy gives up a delete",
        arguments: [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType],
        [false, true]
    )
    func givenUp(policy: NSMergePolicyType, isFarOff: Bool) throws {
        let (author, book, tag) = (Author(context: context), Book(context: context), Tag(context: context))
        (book.title, book.author, book.tags) = ("b", author, [tag])
        try context.save()
        #expect(author.books == [book] && tag.books == [book])
        context.delete(book)
        context.processPendingChanges()
        let rival = try rival(isFarOff: isFarOff)
        rival.own(book).pages = 7
        try rival.save()
        context.mergePolicy = NSMergePolicy(merge: policy)
        try context.save()
        #expect(!book.isDeleted && book.pages == 7 && book.author === author && author.books == [book])
        #expect(book.tags == [tag] && tag.books == [book] && !context.hasChanges)
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "1")
        context.delete(author)
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK; SELECT COUNT(*) FROM Z_1TAGS") == "0\n0")
    }

    @Test("after a delete that others had made is taken back", arguments: ["book", "tag", "person", "report"], [false, true])
    func takenBackFromOthers(name: String, isProcessed: Bool) throws {
        let (book, tag, person, desk, report) = (
            Book(context: context), Tag(context: context), Person(context: context), Desk(context: context), Person(context: context)
        )
        (book.title, book.tags, person.desk, report.boss) = ("b", [tag], desk, person)
        try context.save()
        #expect(book.tags == [tag] && tag.books == [book] && person.reports == [report])
        let objects = ["book": book, "tag": tag, "person": person, "report": report] as [String: NSManagedObject]
        let object = try #require(objects[name])
        let rival = try rival(isFarOff: true)
        let saves = Notifications(.NSManagedObjectContextDidSave, from: rival)
        rival.delete(rival.own(object))
        try rival.save()
        context.mergeChanges(fromContextDidSave: try #require(saves.received.first))
        if isProcessed { context.processPendingChanges() }
        context.insert(object)
        try context.save()
        let counts = "SELECT COUNT(*) FROM Z_1TAGS; SELECT COUNT(ZBOSS) || COUNT(ZDESK) FROM ZPERSON"
        #expect(try library.sql(counts) == "1\n11")
        #expect(try disagreements == "0")
        #expect(book.tags == [tag] && tag.books == [book] && person.reports == [report] && person.desk === desk && desk.owner === person)
    }

    // * Two bring back what others had deleted, each by himself.
    @Test(
        "where a row comes back twice, the second save meets a conflict, which a policy resolves",
        arguments: [nil, NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType],
        [false, true]
    )
    func comesBackTwice(policy: NSMergePolicyType?, isFarOff: Bool) throws {
        let book = try library.savedBook("old")
        try context.save()
        let rival = try rival(isFarOff: isFarOff)
        let theirs = rival.own(book)
        #expect(theirs.title == "old")
        let deleter = try library.separateContext()
        let saves = Notifications(.NSManagedObjectContextDidSave, from: deleter)
        deleter.delete(deleter.own(book))
        try deleter.save()
        let note = try #require(saves.received.first)
        for (other, object, title) in [(context, book, "first"), (rival, theirs, "second")] {
            other.mergeChanges(fromContextDidSave: note)
            other.insert(object)
            object.title = title
        }
        try context.save()
        if let policy { rival.mergePolicy = NSMergePolicy(merge: policy) }
        #expect(errorCode { try rival.save() } == (policy == nil ? NSManagedObjectMergeError : 0))
        let isSecond = policy == .mergeByPropertyObjectTrumpMergePolicyType
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == (isSecond ? "second" : "first"))
        if policy != nil { #expect(theirs.title == (isSecond ? "second" : "first") && !rival.hasChanges) }
    }

    // * A fault is deleted whose row others have deleted already; then somebody who may overwrite brings the row back.
    @Test(
        "where a row comes back after it was missing when its object was deleted: that delete has nothing to delete",
        arguments: [false, true],
        [false, true]
    )
    func missingWhenDeleted(isFarOff: Bool, isInChild: Bool) throws {
        let (person, desk, report) = (Person(context: context), Desk(context: context), Person(context: context))
        (person.name, person.desk, report.boss) = ("p", desk, person)
        try context.save()
        let (keeper, top) = (library.newContext(), try rival(isFarOff: isFarOff))
        let deleter = isInChild ? Layers.child(of: top, "child", .confinementConcurrencyType) : top
        keeper.mergePolicy = NSMergePolicy.overwrite
        let kept = keeper.own(person)
        #expect(kept.desk === keeper.own(desk) && keeper.own(report).boss === kept)
        kept.name = "kept"
        let fault = deleter.own(person)
        context.delete(person)
        try context.save()
        deleter.delete(fault)
        deleter.processPendingChanges()
        if isInChild { try deleter.save() }
        (kept.desk, keeper.own(report).boss) = (keeper.own(desk), kept)
        try keeper.save()
        try top.save()
        #expect(try library.sql("SELECT ZNAME FROM ZPERSON WHERE Z_PK = \(kept.key)") == "kept")
        #expect(try disagreements == "0")
    }

    @Test("after a delete is taken back whose partner has found another, or is deleted, meanwhile")
    func takenBackTooLate() throws {
        let (person, desk, other) = (Person(context: context), Desk(context: context), Person(context: context))
        let (book, tag) = (try library.savedBook(), Tag(context: context))
        (person.desk, book.tags) = (desk, [tag])
        try context.save()
        for object in [person, book, tag] as [NSManagedObject] { context.delete(object) }
        context.processPendingChanges()
        desk.owner = other
        context.insert(person)
        context.insert(book)
        #expect(person.desk == nil && book.tags.isEmpty)
        try context.save()
        #expect(try library.sql("SELECT ZOWNER FROM ZDESK; SELECT COUNT(*) FROM Z_1TAGS") == "\(other.key)\n0")
        #expect(try disagreements == "0")
    }

    @Test("where one of two partners was read before others parted them: a save meets the conflict", arguments: [false, true])
    func partnerReadBefore(isFarOff: Bool) throws {
        let (person, desk) = (Person(context: context), Desk(context: context))
        person.desk = desk
        try context.save()
        let rival = try rival(isFarOff: isFarOff)
        let theirs = rival.own(person)
        #expect(theirs.desk != nil)
        person.desk = nil
        try context.save()
        let free = rival.own(desk)
        #expect(free.owner == nil)
        free.owner = theirs
        #expect(throws: CocoaError.self) { try rival.save() }
        rival.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try rival.save()
        #expect(try library.sql("SELECT ZDESK FROM ZPERSON") == "1")
        #expect(try disagreements == "0")
    }

    @Test("of a many-to-many where one of them was read before others changed it", arguments: [true, false], [true, false])
    func pairReadBefore(isAdded: Bool, isBook: Bool) throws {
        let (book, tag) = (try library.savedBook(), Tag(context: context))
        if isAdded { book.tags = [tag] }
        try context.save()
        let rival = library.newContext()
        rival.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let (theirBook, theirTag) = (rival.own(book), rival.own(tag))
        #expect((isBook ? theirTag.books.isEmpty : theirBook.tags.isEmpty) != isAdded)
        // * Others do the contrary of what is done after that, from the end that has not been read.
        book.tags = isAdded ? [] : [tag]
        try context.save()
        if isBook { theirBook.tags = isAdded ? [theirTag] : [] } else { theirTag.books = isAdded ? [theirBook] : [] }
        try rival.save()
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == (isAdded ? "1" : "0"))
        #expect(theirBook.tags.isEmpty != isAdded && theirTag.books.isEmpty != isAdded)
    }

    @Test(
        "when a policy overrides whom others have chosen as a partner, whether or not that one has been read",
        arguments: [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType],
        [false, true]
    )
    func overriddenPartner(policy: NSMergePolicyType, isFarOff: Bool) throws {
        let (person, first, second) = (Person(context: context), Desk(context: context), Desk(context: context))
        try context.save()
        let rival = try rival(isFarOff: isFarOff)
        rival.mergePolicy = NSMergePolicy(merge: policy)
        let theirs = rival.own(person)
        #expect(theirs.desk == nil && rival.own(first).owner == nil && rival.own(second).owner == nil)
        person.desk = second
        try context.save()
        theirs.desk = rival.own(first)
        try rival.save()
        #expect(try library.sql("SELECT ZDESK FROM ZPERSON; SELECT Z_PK FROM ZDESK WHERE ZOWNER = 1") == "\(first.key)\n\(first.key)")
        #expect(try disagreements == "0")
        #expect(rival.own(second).owner == nil)
    }

    @Test("and of an object that is merely locked nothing is saved later, whatever the policy")
    func lockedOnly() throws {
        let (book, tag) = (try library.savedBook("old"), Tag(context: context))
        try context.save()
        let rival = library.newContext()
        rival.mergePolicy = NSMergePolicy.overwrite
        let theirs = rival.own(book)
        #expect(theirs.title == "old")
        rival.detectConflicts(for: theirs)
        book.title = "new"
        try context.save()
        rival.own(tag).label = "touched"
        try rival.save()
        #expect(theirs.title == "new" && theirs.changedValues().isEmpty)
        theirs.pages = 3
        try rival.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "new|3")
    }
}
