import CoreData
import Foundation
import Testing

@Suite("Relationships")
struct RelationshipTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func author(_ name: String = "A") -> Author {
        let author = Author(context: context)
        author.name = name
        return author
    }

    private func book(_ title: String = "B") -> Book {
        let book = Book(context: context)
        book.title = title
        return book
    }

    @Test("show both sides at once when the to-one side is set, replaced and cleared")
    func toOneSide() throws {
        let (first, second, book) = (author(), author(), book())
        book.author = first
        #expect(first.books == [book])
        book.author = second
        #expect(first.books.isEmpty)
        #expect(second.books == [book])
        book.author = nil
        #expect(second.books.isEmpty)
        #expect(book.author == nil)
    }

    @Test("show both sides at once when members are added, removed, and the whole set is replaced")
    func toManySide() throws {
        let (author, one, two, three) = (author(), book("1"), book("2"), book("3"))
        author.books = [one, two]
        #expect(one.author === author && two.author === author)
        author.books = [two, three]
        #expect(one.author == nil && two.author === author && three.author === author)
        author.removeFromBooks(two)
        #expect(two.author == nil)
        author.addToBooks(one)
        author.addToBooks(one)
        #expect(author.books == [one, three])
        try context.save()
        #expect(try library.sql("SELECT ZTITLE, ZAUTHOR IS NOT NULL FROM ZBOOK ORDER BY ZTITLE") == "1|1\n2|0\n3|1")
    }

    @Test("take a member from the owner that had it when another adds it")
    func stealingMember() throws {
        let (first, second, book) = (author("1"), author("2"), book())
        first.addToBooks(book)
        try context.save()
        second.addToBooks(book)
        #expect(first.books.isEmpty)
        #expect(book.author === second)
        #expect(first.isUpdated && second.isUpdated && book.isUpdated)
        try context.save()
        #expect(try library.sql("SELECT p.ZNAME FROM ZBOOK b JOIN ZPERSON p ON p.Z_PK = b.ZAUTHOR") == "2")
    }

    @Test("leave no third party when a one-to-one end is stolen, from either side")
    func stealingOneToOne() throws {
        let (anna, bert) = (Person(context: context), Person(context: context))
        let (left, right) = (Desk(context: context), Desk(context: context))
        (anna.desk, bert.desk) = (left, right)
        try context.save()
        bert.desk = left
        #expect(anna.desk == nil && right.owner == nil && left.owner === bert)
        right.owner = bert
        #expect(left.owner == nil && bert.desk === right)
        try context.save()
        // One of the two columns may hold it; where both do they agree.
        #expect(try library.sql("SELECT COUNT(*) FROM ZDESK WHERE ZOWNER IS NOT NULL") == "1")
        let other = try library.separateContext()
        #expect(try other.all(Person.self, "Person").compactMap(\.desk).count == 1)
        #expect(try other.all(Desk.self, "Desk").compactMap(\.owner).count == 1)
    }

    @Test("lead from an object to others of its entity, to itself too")
    func selfRelationship() throws {
        let (boss, one, two) = (author("boss"), author("1"), author("2"))
        boss.reports = [one, two]
        two.boss = one
        boss.boss = boss
        #expect(boss.reports == [one, boss])
        #expect(one.reports == [two])
        try context.save()
        #expect(
            try library.sql("SELECT p.ZNAME, b.ZNAME FROM ZPERSON p LEFT JOIN ZPERSON b ON b.Z_PK = p.ZBOSS ORDER BY 1")
                == "1|boss\n2|1\nboss|boss"
        )
        boss.boss = nil
        #expect(boss.reports == [one])
        try context.save()
        let other = try library.separateContext()
        #expect(try other.all(Person.self, "Person", by: "name").map { $0.reports.count } == [1, 0, 1])
    }

    @Test("can be set through key-value coding with every kind of collection, nil and NSNull")
    func keyValueCoding() throws {
        let (author, one, two) = (author(), book("1"), book("2"))
        author.setValue(Set([one, two]), forKey: "books")
        #expect(author.books == [one, two])
        author.setValue(NSSet(array: [one]), forKey: "books")
        #expect(author.books == [one] && two.author == nil)
        author.setValue(NSOrderedSet(array: [two]), forKey: "books")
        #expect(author.books == [two])
        author.setValue([one, two], forKey: "books")
        #expect(author.value(forKey: "books") as? Set<NSManagedObject> == [one, two])
        author.setValue(nil, forKey: "books")
        #expect(author.books.isEmpty)
        one.setValue(author, forKey: "author")
        #expect(one.value(forKey: "author") as? Author === author)
        one.setValue(NSNull(), forKey: "author")
        #expect(one.author == nil && author.books.isEmpty)
    }

    @Test("can be edited through a live mutable set")
    func mutableSet() throws {
        let (author, one, two) = (author(), book("1"), book("2"))
        let set = author.mutableSetValue(forKey: "books")
        set.add(one)
        set.addObjects(from: [one, two])
        #expect(set.count == 2 && author.books == [one, two] && two.author === author)
        set.remove(one)
        #expect(one.author == nil && set.contains(two) && !set.contains(one))
        author.addToBooks(one)
        #expect(set.count == 2)
        set.minus([two])
        #expect(author.books == [one])
        set.intersect([])
        #expect(author.books.isEmpty)
        set.union([one, two])
        #expect(author.books == [one, two])
        set.setSet([two])
        #expect(author.books == [two])
        set.removeAllObjects()
        #expect(author.books.isEmpty && one.author == nil && two.author == nil)
    }

    @Test("are written as foreign keys that the sqlite3 command reads, also to objects saved in the same save")
    func temporaryKeys() throws {
        // * Each refers to one that is inserted after it.
        let book = book("late")
        let chapter = Chapter(context: context)
        chapter.book = book
        let author = author("late")
        book.author = author
        let boss = self.author("boss")
        author.boss = boss
        boss.boss = author
        try context.save()
        #expect(!book.objectID.isTemporaryID)
        #expect(
            try library.sql(
                """
                SELECT c.Z_PK, b.ZTITLE, a.ZNAME, p.ZNAME FROM ZCHAPTER c JOIN ZBOOK b ON b.Z_PK = c.ZBOOK \
                JOIN ZPERSON a ON a.Z_PK = b.ZAUTHOR JOIN ZPERSON p ON p.Z_PK = a.ZBOSS
                """
            ) == "1|late|late|boss"
        )
        #expect(author.boss === boss && boss.boss === author && book.author === author && chapter.book === book)
        // * Across two saves, with one end saved before.
        let later = self.book("later")
        later.author = author
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR = (SELECT Z_PK FROM ZPERSON WHERE ZNAME = 'late')") == "2")
    }

    @Test("hold when permanent IDs are obtained after they were set, before the save")
    func permanentIDs() throws {
        let (author, book, tag, desk) = (author(), book(), Tag(context: context), Desk(context: context))
        book.author = author
        book.tags = [tag]
        desk.owner = author
        try context.obtainPermanentIDs(for: [author, tag, desk])
        #expect(!author.objectID.isTemporaryID && author.isInserted && book.objectID.isTemporaryID)
        #expect(book.author === author && author.books == [book] && author.desk === desk)
        // * The inverse is found although the row was written with the temporary key.
        author.desk = nil
        #expect(desk.owner == nil)
        author.desk = desk
        author.removeFromBooks(book)
        #expect(book.author == nil)
        author.addToBooks(book)
        try context.obtainPermanentIDs(for: [book])
        let ids = [author, book, tag, desk].map(\.objectID)
        try context.save()
        #expect([author, book, tag, desk].map(\.objectID) == ids)
        #expect(
            try library.sql("SELECT COUNT(*) FROM ZBOOK b JOIN ZPERSON a ON a.Z_PK = b.ZAUTHOR JOIN ZDESK d ON d.ZOWNER = a.Z_PK") == "1"
        )
        let other = try library.separateContext()
        #expect(try other.only(Tag.self, "Tag").books.first?.author?.desk != nil)
    }

    @Test("set before permanent IDs were obtained are saved without being touched again")
    func permanentIDsUntouched() throws {
        let (author, book) = (author(), book())
        book.author = author
        try context.obtainPermanentIDs(for: [author])
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK b JOIN ZPERSON a ON a.Z_PK = b.ZAUTHOR") == "1")
        #expect(book.author === author && !author.hasChanges)
    }

    @Test("keep a foreign key to an object that is inserted in another save than the one that set it to nil")
    func otherContext() throws {
        let author = author()
        try context.save()
        let second = library.newContext()
        let same = try #require(second.object(with: author.objectID) as? Author)
        let book = Book(context: second)
        book.title = "elsewhere"
        book.author = same
        try second.save()
        context.refresh(author, mergeChanges: true)
        #expect(author.books.first?.title == "elsewhere")
    }
}
