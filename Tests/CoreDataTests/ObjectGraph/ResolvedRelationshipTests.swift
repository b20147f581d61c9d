import Foundation
import Testing

@testable import CoreData

@Suite("After a merge policy has resolved a conflict")
struct ResolvedRelationshipTests {
    let library: Library
    let context: NSManagedObjectContext
    let other: NSManagedObjectContext

    init() throws {
        library = try Library()
        (context, other) = (library.context, try library.separateContext())
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }

    private func person(_ name: String) -> Author {
        let person = Author(context: context)
        person.name = name
        return person
    }

    private func book(_ title: String, _ author: Author?, in context: NSManagedObjectContext) -> Book {
        let book = Book(context: context)
        (book.title, book.author) = (title, author)
        return book
    }

    private func deleteElsewhere(_ objects: NSManagedObject...) throws {
        for object in objects { other.delete(other.own(object)) }
        try other.save()
    }

    private func version(_ entity: String, _ condition: String) throws -> Int {
        try Int(library.sql("SELECT Z_OPT FROM Z\(entity) WHERE \(condition)")) ?? 0
    }

    @Test("a row that came back is a conflict for those who have read the one before it")
    func anotherRow() throws {
        let book = book("b", nil, in: context)
        try context.save()
        let third = try library.separateContext()
        let theirs = third.own(book)
        #expect(theirs.title == "b")
        try deleteElsewhere(book)
        book.pages = 7
        try context.save()
        theirs.title = "theirs"
        #expect(errorCode { try third.save() } == NSManagedObjectMergeError)
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "b|7")
        book.pages = 8
        try context.save()
        #expect(try library.sql("SELECT ZPAGES FROM ZBOOK") == "8")
    }

    @Test("a row that came back does not refer to what is gone", arguments: [true, false])
    func goneTarget(overwrites: Bool) throws {
        let (report, boss) = (person("r"), person("b"))
        report.boss = boss
        try context.save()
        if overwrites {
            context.mergePolicy = NSMergePolicy.overwrite
            other.own(report).age = 1
            try deleteElsewhere(boss)
        } else {
            try deleteElsewhere(report, boss)
        }
        report.age = 3
        try context.save()
        #expect(try library.sql("SELECT ZNAME, ZAGE, ZBOSS FROM ZPERSON") == "r|3|")
    }

    @Test("a row that came back is among the members again, which is a conflict for those who have read them")
    func memberAgain() throws {
        let author = person("a")
        let book = book("b", author, in: context)
        try context.save()
        try deleteElsewhere(book)
        let theirs = other.own(author)
        #expect(theirs.books.isEmpty)
        book.pages = 7
        try context.save()
        #expect(author.books == [book])
        other.delete(theirs)
        #expect(errorCode { try other.save() } == NSManagedObjectMergeError)
    }

    @Test("a row that came back has a position that nobody else has")
    func position() throws {
        let book = book("b", nil, in: context)
        func chapter(_ heading: String, _ book: Book, in context: NSManagedObjectContext) -> Chapter {
            let chapter = Chapter(context: context)
            (chapter.heading, chapter.book) = (heading, book)
            return chapter
        }
        _ = chapter("1", book, in: context)
        let second = chapter("2", book, in: context)
        try context.save()
        try deleteElsewhere(second)
        let theirs = other.own(book)
        #expect(theirs.chapters.count == 1)
        _ = chapter("3", theirs, in: other)
        try other.save()
        second.heading = "2 again"
        try context.save()
        #expect(try library.sql("SELECT COUNT(*), COUNT(DISTINCT Z_FOK_BOOK) FROM ZCHAPTER") == "3|3")
    }

    @Test("a delete that won has taken along what others had added since")
    func addedMembers() throws {
        let author = person("a")
        try context.save()
        context.delete(author)
        context.processPendingChanges()
        _ = book("theirs", other.own(author), in: other)
        try other.save()
        try context.save()
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK) + (SELECT COUNT(*) FROM ZPERSON)") == "0")
    }

    @Test("an object that the store has led elsewhere is not among the members that it was added to")
    func ledElsewhere() throws {
        let (mine, theirs, moved) = (person("mine"), person("theirs"), book("b", nil, in: context))
        try context.save()
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        #expect(mine.books.isEmpty && theirs.books.isEmpty)
        other.own(moved).author = other.own(theirs)
        try other.save()
        moved.author = mine
        try context.save()
        #expect(moved.author === theirs && mine.books.isEmpty)
        context.refresh(theirs, mergeChanges: true)
        #expect(theirs.books == [moved])
    }

    @Test("an owner that was rolled back has the members that were saved, and a newer version for them")
    func rolledBackOwner() throws {
        let author = person("a")
        try context.save()
        context.mergePolicy = NSMergePolicy.rollback
        other.own(author).name = "theirs"
        try other.save()
        let before = try version("PERSON", "1")
        author.name = "mine"
        let book = book("b", author, in: context)
        try context.save()
        #expect(author.name == "theirs" && author.books == [book])
        #expect(try version("PERSON", "1") == before + 1)
    }

    // * A desk is given to somebody and then to another, here; others give it to the first of the two, and what is saved wins.
    @Test("an edit of an end of a pair that came to nothing takes nobody away from what others have saved", arguments: StoreKind.allCases)
    func pairThatCameToNothing(kind: StoreKind) throws {
        let library = try Library(kind)
        let (context, other) = (library.context, library.newContext())
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let (first, second, desk) = (Person(context: context), Person(context: context), Desk(context: context))
        (first.name, second.name) = ("first", "second")
        try context.save()
        for person in [first, second] {
            desk.owner = person
            context.processPendingChanges()
            if person === first {
                other.own(first).desk = other.own(desk)
                try other.save()
            }
        }
        try context.save()
        let reader = library.newContext()
        let (saved, owner) = (reader.own(desk), reader.own(first))
        #expect(saved.owner === owner && owner.desk === saved && reader.own(second).desk == nil)
        #expect(desk.owner === first)
    }

    // * A desk is given to somebody and back to the owner whom others have given it, whose own row was read before that. Others delete it.
    @Test("who was led to a desk that others have deleted has it again, or has none, though the desk's edit came to nothing")
    func partnerThatCameToNothing() throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump, .rollback, .error] {
            let library = try Library()
            let (context, other) = (library.context, try library.separateContext())
            context.mergePolicy = policy
            let owner = Person(context: context)
            owner.name = "owner"
            try context.save()
            let desk = Desk(context: other)
            desk.owner = other.own(owner)
            try other.save()
            let mine = context.own(desk)
            mine.owner = Person(context: context)
            mine.owner = owner
            #expect(owner.desk === mine && mine.changedValues().isEmpty)
            desk.owner = nil
            other.delete(desk)
            try other.save()
            guard policy !== NSMergePolicy.error else {
                #expect(errorCode { try context.save() } == NSManagedObjectMergeError)
                continue
            }
            try context.save()
            let keepsDesk = policy === NSMergePolicy.mergeByPropertyObjectTrump || policy === NSMergePolicy.overwrite
            let ends = "SELECT (SELECT COUNT(*) FROM ZDESK WHERE ZOWNER = 1), (SELECT COUNT(*) FROM ZPERSON WHERE ZDESK IS NOT NULL)"
            #expect(try library.sql(ends) == (keepsDesk ? "1|1" : "0|0"), "\(policy.mergeType)")
            #expect(owner.desk === (keepsDesk ? mine : nil))
        }
    }
}
