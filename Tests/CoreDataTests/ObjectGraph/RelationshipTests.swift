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

@Suite("A many-to-many relationship")
struct ManyToManyTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func make(books: Int, tags: Int) -> (books: [Book], tags: [Tag]) {
        let books = (0..<books).map { number in
            let book = Book(context: context)
            book.title = "b\(number)"
            return book
        }
        let tags = (0..<tags).map { number in
            let tag = Tag(context: context)
            tag.label = "t\(number)"
            return tag
        }
        return (books, tags)
    }

    /// The pairs in the file, as text.
    private func pairs() throws -> String {
        let table = try library.sql("SELECT name FROM sqlite_master WHERE name GLOB 'Z_*TAGS' AND type = 'table'")
        let columns = try library.sql("SELECT group_concat(name) FROM pragma_table_info('\(table)')").split(separator: ",")
        let book = columns.first { $0.hasSuffix("BOOKS") } ?? ""
        let tag = columns.first { $0.contains("TAGS") && !$0.contains("FOK") } ?? ""
        return try library.sql(
            """
            SELECT group_concat(pair, ' ') FROM (SELECT COALESCE(b.ZTITLE, '?') || COALESCE(t.ZLABEL, '?') AS pair FROM \(table) j \
            LEFT JOIN ZBOOK b ON b.Z_PK = j.\(book) LEFT JOIN ZTAG t ON t.Z_PK = j.\(tag) ORDER BY 1)
            """
        )
    }

    @Test("shows and writes each link once, whichever side made it")
    func bothSides() throws {
        let (books, tags) = make(books: 2, tags: 2)
        books[0].tags = [tags[0]]
        tags[1].books = [books[0], books[1]]
        tags[0].books.insert(books[0])
        #expect(books[0].tags == Set(tags) && books[1].tags == [tags[1]])
        try context.save()
        #expect(try pairs() == "b0t0 b0t1 b1t1")
    }

    @Test("edited on both sides of saved objects ends as the last edit says")
    func editing() throws {
        let (books, tags) = make(books: 3, tags: 3)
        books[0].tags = Set(tags)
        try context.save()
        tags[0].books.remove(books[0])
        books[1].tags.insert(tags[0])
        tags[2].books = [books[2]]
        books[2].tags.remove(tags[2])
        tags[2].books.insert(books[0])
        try context.save()
        #expect(try pairs() == "b0t1 b0t2 b1t0")
        let other = try library.separateContext()
        #expect(try other.all(Tag.self, "Tag", by: "label").map { Set($0.books.compactMap(\.title)) } == [["b1"], ["b0"], ["b0"]])
    }

    @Test("edited while unread on both sides: added and taken back, taken and put back")
    func unread() throws {
        let (books, tags) = make(books: 2, tags: 2)
        books[0].tags = [tags[0]]
        try context.save()
        let second = library.newContext()
        let others = try second.all(Book.self, "Book", by: "title")
        let marks = try second.all(Tag.self, "Tag", by: "label")
        // * A link that is there is added and removed; one that is not is removed and added.
        others[0].mutableSetValue(forKey: "tags").add(marks[0])
        others[0].mutableSetValue(forKey: "tags").remove(marks[0])
        others[1].mutableSetValue(forKey: "tags").remove(marks[1])
        others[1].mutableSetValue(forKey: "tags").add(marks[1])
        #expect(others[0].tags.isEmpty && others[1].tags == [marks[1]])
        #expect(marks[0].books.isEmpty && marks[1].books == [others[1]])
        try second.save()
        #expect(try pairs() == "b1t1")
    }

    @Test("loses its links in the file when an object of either side is deleted", arguments: [true, false])
    func deletion(ofBook: Bool) throws {
        let (books, tags) = make(books: 2, tags: 2)
        books[0].tags = Set(tags)
        books[1].tags = Set(tags)
        try context.save()
        context.delete(ofBook ? books[0] : tags[0])
        try context.save()
        #expect(try pairs() == (ofBook ? "b1t0 b1t1" : "b0t1 b1t1"))
        #expect(ofBook ? tags[0].books == [books[1]] : books[0].tags == [tags[1]])
    }

    @Test("loses its links also when the deleted object and the other end were never read", arguments: [true, false])
    func deletionUnread(ofBook: Bool) throws {
        let (books, tags) = make(books: 2, tags: 2)
        books[0].tags = Set(tags)
        books[1].tags = Set(tags)
        try context.save()
        let second = library.newContext()
        second.delete(second.object(with: ofBook ? books[0].objectID : tags[0].objectID))
        try second.save()
        #expect(try pairs() == (ofBook ? "b1t0 b1t1" : "b0t1 b1t1"))
    }

    @Test("knows that a new object, taken out unread, was never in")
    func removedUnsaved() throws {
        let (books, _) = make(books: 1, tags: 0)
        try context.save()
        let other = library.newContext()
        let book = try other.only(Book.self, "Book")
        let tag = Tag(context: other)
        book.mutableSetValue(forKey: "tags").remove(tag)
        other.delete(tag)
        try other.save()
        #expect(try pairs() == "" && books[0].tags.isEmpty)
    }

    @Test("joins objects that are all new, all deleted, or replaced in one save")
    func mixed() throws {
        let (books, tags) = make(books: 1, tags: 1)
        books[0].tags = [tags[0]]
        try context.save()
        let (newBooks, newTags) = make(books: 1, tags: 1)
        newBooks[0].title = "n"
        newTags[0].label = "m"
        newBooks[0].tags = [newTags[0], tags[0]]
        context.delete(books[0])
        try context.save()
        #expect(try pairs() == "nm nt0")
        context.delete(newBooks[0])
        context.delete(newTags[0])
        context.delete(tags[0])
        try context.save()
        #expect(try pairs() == "")
    }
}

@Suite("Reading a to-many relationship")
struct ToManyReadingTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func saveAuthor(books count: Int) throws {
        let author = Author(context: context)
        author.name = "A"
        for number in 0..<count {
            let book = Book(context: context)
            book.title = "\(number)"
            book.author = author
        }
        try context.save()
    }

    @Test("is one statement for 500 targets, and firing each of them runs none")
    func oneStatement() throws {
        try saveAuthor(books: 500)
        let other = library.newContext()
        let author = try other.only(Author.self, "Author")
        let reading = library.statementsOf { _ = author.books }
        #expect(reading.count == 1)
        #expect(author.books.count == 500)
        let firing = library.statementsOf { for book in author.books { #expect(book.title != nil && book.author === author) } }
        #expect(firing == [])
    }

    @Test("takes unsaved additions, removals and deletes into account that were made before it was read")
    func pendingBeforeReading() throws {
        try saveAuthor(books: 4)
        let other = library.newContext()
        let author = try other.only(Author.self, "Author")
        let books = try other.all(Book.self, "Book", by: "title")
        let new = Book(context: other)
        new.title = "new"
        let edits = library.statementsOf {
            author.addToBooks(new)
            author.removeFromBooks(books[0])
            books[1].author = nil
            author.addToBooks(books[2])
        }
        #expect(edits == [])
        #expect(author.hasFault(forRelationshipNamed: "books"))
        other.delete(books[3])
        other.processPendingChanges()
        #expect(author.books == [new, books[2]])
        #expect(books[0].author == nil)
        try other.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK WHERE ZAUTHOR IS NOT NULL ORDER BY 1") == "2\nnew")
        #expect(author.books == [new, books[2]])
    }

    @Test("adding and removing a member that is in already, unread, ends without it")
    func addedAndRemoved() throws {
        try saveAuthor(books: 1)
        let other = library.newContext()
        let author = try other.only(Author.self, "Author")
        let book = try other.only(Book.self, "Book")
        author.addToBooks(book)
        author.removeFromBooks(book)
        #expect(book.author == nil)
        #expect(author.books.isEmpty)
        author.addToBooks(book)
        #expect(author.books == [book] && book.author === author)
    }

    @Test("of a new object runs no statement")
    func newOwner() throws {
        let author = Author(context: context)
        let statements = library.statementsOf { #expect(author.books.isEmpty && author.reports.isEmpty) }
        #expect(statements == [])
        #expect(author.changedValues().isEmpty)
        #expect(author.hasFault(forRelationshipNamed: "books") == false)
    }
}

extension Library {
    func statementsOf(_ body: () -> Void) -> [String] { statements(body) }
}
