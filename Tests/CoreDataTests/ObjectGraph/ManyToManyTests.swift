import CoreData
import Foundation
import Testing

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

    // * One end was read; at the other, which was not, is done what is so already; then the contrary at the one that was read.
    // => The contrary is saved.
    @Test("edited at an end that was not read, then at the other: ends as the last edit says", arguments: [true, false], [true, false])
    func readAtOneEnd(isIn: Bool, isBookRead: Bool) throws {
        let (books, tags) = make(books: 1, tags: 1)
        if isIn { books[0].tags = [tags[0]] }
        try context.save()
        let second = library.newContext()
        let (book, tag) = (try second.all(Book.self, "Book")[0], try second.all(Tag.self, "Tag")[0])
        let (tagsOfBook, booksOfTag) = (book.mutableSetValue(forKey: "tags"), tag.mutableSetValue(forKey: "books"))
        func edit(ofBook: Bool, adds: Bool) {
            let (members, member) = ofBook ? (tagsOfBook, tag as NSManagedObject) : (booksOfTag, book as NSManagedObject)
            if adds { members.add(member) } else { members.remove(member) }
        }
        #expect((isBookRead ? book.tags.isEmpty : tag.books.isEmpty) != isIn)
        edit(ofBook: !isBookRead, adds: isIn)
        edit(ofBook: isBookRead, adds: !isIn)
        try second.save()
        #expect(try pairs() == (isIn ? "" : "b0t0"))
        #expect(book.tags.isEmpty == isIn && tag.books.isEmpty == isIn)
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
