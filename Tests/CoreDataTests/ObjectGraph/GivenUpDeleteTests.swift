import Foundation
import Testing

@testable import CoreData

/// A delete that nullified relationships loses against what others have saved of the object: nothing of it is to be left, and what others have
/// saved of its members stays.
@Suite("A delete that a policy gives up")
struct GivenUpDeleteTests: TwoContextSuite {
    let contexts: TwoContexts
    private let boss, rival: Person
    private let reports: [Person]

    init() throws {
        contexts = try TwoContexts()
        let context = contexts.context
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        func person(_ name: String) -> Person {
            let person = Person(context: context)
            person.name = name
            return person
        }
        (boss, rival) = (person("boss"), person("rival"))
        reports = (0..<4).map { person("r\($0)") }
        for report in reports.dropLast() { report.boss = boss }
        try context.save()
    }

    /// Deletes the boss here; others save, which is merged here; then the save here, whose delete loses.
    private func giveUp(_ changes: (_ boss: Person, _ reports: [Person]) throws -> Void) throws {
        context.delete(boss)
        context.processPendingChanges()
        let (own, others) = (other.own(boss), reports.map { other.own($0) })
        own.age = 50
        try changes(own, others)
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: other, queue: nil) {
            [context] in context.mergeChanges(fromContextDidSave: $0)
        }
        try other.save()
        NotificationCenter.default.removeObserver(token)
        try context.save()
        #expect(!boss.isDeleted && boss.age == 50)
    }

    /// Who leads to whom: in the store, here, and from the other end.
    private func expectBosses(_ names: String?..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        let shown = names.map { $0 ?? "-" }.joined(separator: " ")
        let sql =
            "SELECT group_concat(ifnull((SELECT ZNAME FROM ZPERSON b WHERE b.Z_PK = p.ZBOSS), '-'), ' ') FROM ZPERSON p WHERE ZNAME LIKE 'r_'"
        #expect(try library.sql(sql) == shown, sourceLocation: sourceLocation)
        #expect(reports.map { $0.boss?.name ?? "-" }.joined(separator: " ") == shown, sourceLocation: sourceLocation)
        for owner in [boss, rival] {
            let expected = Set(zip(reports, names).filter { $1 == owner.name }.map(\.0))
            #expect(owner.reports == expected, sourceLocation: sourceLocation)
        }
        #expect(!context.hasChanges, sourceLocation: sourceLocation)
    }

    @Test("gives its members back")
    func members() throws {
        try giveUp { _, _ in }
        try expectBosses("boss", "boss", "boss", nil)
    }

    @Test("leaves a member to whom others have given it")
    func moved() throws {
        try giveUp { _, reports in reports[0].boss = other.own(rival) }
        try expectBosses("rival", "boss", "boss", nil)
    }

    @Test("leaves a member that others have taken out")
    func takenOut() throws {
        try giveUp { boss, reports in boss.reports = [reports[1]] }
        try expectBosses(nil, "boss", nil, nil)
    }

    @Test("keeps a member that others have put in")
    func newcomer() throws {
        try giveUp { boss, reports in boss.reports.insert(reports[3]) }
        try expectBosses("boss", "boss", "boss", "boss")
    }

    @Test("gives back a member that was put in here, and not saved yet")
    func unsaved() throws {
        reports[3].boss = boss
        try giveUp { _, _ in }
        try expectBosses("boss", "boss", "boss", "boss")
    }

    // * Others let a book have a tag that is deleted here. The book's tags are read, without that one; then the delete is given up, or rolled back.
    // => The book has the tag at both ends, and can lose it again.
    @Test("shows members that others have got meanwhile", arguments: [false, true])
    func readMeanwhile(rollsBack: Bool) throws {
        let (tag, book) = (Tag(context: context), try library.savedBook())
        tag.label = "a"
        try context.save()
        context.delete(tag)
        context.processPendingChanges()
        other.own(tag).label = "b"
        other.own(book).tags = [other.own(tag)]
        try other.save()
        merge(tag, book)
        #expect(book.tags.isEmpty)
        if rollsBack { context.rollback() } else { try context.save() }
        #expect(!tag.isDeleted && tag.label == "b" && !context.hasChanges)
        #expect(book.tags == [tag] && tag.books == [book])
        book.tags = []
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "0")
    }

    @Test("leaves pairs of many-to-many relationships that others have taken out, and those that they have made")
    func pairs() throws {
        let book = try library.savedBook()
        let tags = (0..<3).map { _ in Tag(context: context) }
        book.tags = [tags[0], tags[1]]
        try context.save()
        context.delete(book)
        context.processPendingChanges()
        let own = other.own(book)
        (own.pages, own.tags) = (5, [other.own(tags[1]), other.own(tags[2])])
        try other.save()
        merge(book, tags[0], tags[1], tags[2])
        try context.save()
        #expect(!book.isDeleted && book.tags == [tags[1], tags[2]])
        #expect(tags.map(\.books.count) == [0, 1, 1])
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "2")
        #expect(!context.hasChanges)
    }

    @Test("saves a many-to-many pair that was made here before the delete")
    func unsavedPair() throws {
        let book = try library.savedBook()
        let tag = Tag(context: context)
        tag.mutableSetValue(forKey: "books").add(book)
        context.delete(book)
        context.processPendingChanges()
        other.own(book).pages = 5
        try other.save()
        merge(book)
        try context.save()
        #expect(!book.isDeleted && book.tags == [tag] && tag.books == [book] && !context.hasChanges)
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "1")
    }

    // * A book has a new tag, and is deleted; then the tag, which nobody has saved, is deleted as well, or given up by a refresh. The delete of the book
    // loses, or is taken back.
    // => The book comes back without the tag, and can be saved.
    @Test("comes back without a member that is gone since, and was never saved", arguments: [false, true], [false, true])
    func goneMember(isRefreshed: Bool, isTakenBack: Bool) throws {
        let book = try library.savedBook()
        let (tag, kept) = (Tag(context: context), Tag(context: context))
        book.tags = [tag, kept]
        context.delete(book)
        context.processPendingChanges()
        if isRefreshed { context.refresh(tag, mergeChanges: false) } else { context.delete(tag) }
        other.own(book).pages = 5
        try other.save()
        if isTakenBack { context.insert(book) }
        try context.save()
        #expect(!book.isDeleted && book.tags == [kept] && kept.books == [book] && !context.hasChanges)
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "1")
    }

    // * An ordered relationship of an object is shown by the set that changes it, while the object is deleted; others put a member in meanwhile.
    // => The set shows it when the delete is taken back, and can take it out.
    @Test("shows what others have put into an ordered relationship, also in the set that changes it")
    func orderedMeanwhile() throws {
        let book = try library.savedBook()
        let chapter = Chapter(context: context)
        chapter.book = book
        try context.save()
        let chapters = book.mutableOrderedSetValue(forKey: "chapters")
        #expect(chapters.count == 1)
        let (loose, second) = (Chapter(context: context), Book(context: context))
        second.title = "second"
        loose.book = second
        try context.save()
        context.delete(book)
        context.processPendingChanges()
        other.own(loose).book = other.own(book)
        try other.save()
        merge(loose)
        context.rollback()
        #expect(chapters.count == 2 && chapters.contains(loose))
        chapters.remove(loose)
        #expect(chapters.count == 1 && loose.book == nil)
        loose.book = second
        try context.save()
        #expect(try library.sql("SELECT group_concat(ZBOOK) FROM ZCHAPTER") == "1,2")
    }
}
