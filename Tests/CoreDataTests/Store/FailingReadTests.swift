import Foundation
import Testing

@testable import CoreData

/// Tables that vanish for a while, as for a file on a network that is gone: every read fails.
@Suite("A read that fails")
struct FailingReadTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library()
        let author = Author(context: library.context)
        author.name = "author"
        for number in 0..<3 {
            let book = Book(context: library.context)
            (book.title, book.author) = ("book \(number)", author)
        }
        try library.context.save()
        context = library.newContext()
    }

    private func withoutTables(_ body: () throws -> Void) throws {
        for table in ["ZPERSON", "ZBOOK"] { _ = try library.sql("ALTER TABLE \(table) RENAME TO HIDDEN\(table)") }
        defer { for table in ["ZPERSON", "ZBOOK"] { _ = try? library.sql("ALTER TABLE HIDDEN\(table) RENAME TO \(table)") } }
        try body()
    }

    private func fault<Object: NSManagedObject>(_ type: Object.Type) throws -> Object {
        let id = try #require(library.context.all(Object.self).first).objectID
        return try #require(context.object(with: id) as? Object)
    }

    @Test("of a fault gives nil and leaves a fault, which the next access reads")
    func faults() throws {
        let book = try fault(Book.self)
        try withoutTables {
            #expect(book.title == nil && book.pages == 0)
            #expect(book.isFault && !book.isDeleted && !context.hasChanges)
            #expect(throws: CocoaError.self) { try context.existingObject(with: book.objectID) }
        }
        try context.save()
        #expect(book.title?.hasPrefix("book") == true && !book.isFault)
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK") == "3")
    }

    @Test("of a relationship gives no members, and the next access reads them")
    func relationships() throws {
        let author = try fault(Author.self)
        #expect(author.name == "author")
        let added = Book(context: context)
        added.title = "added"
        try withoutTables {
            added.author = author
            #expect(author.books.isEmpty)
        }
        #expect(author.books.count == 4)
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR = 1") == "4")
    }

    // * A context has added something to an object that it has not read. Its child looks for what is unsaved above.
    // => That the object cannot be read is an error, not an object less.
    @Test("of what a context above has changed fails the fetch of a child")
    func inherited() throws {
        let author = try fault(Author.self)
        let added = Book(context: context)
        (added.title, added.author) = ("added", author)
        #expect(author.isFault)
        let child = Layers.child(of: context, "child")
        let inherited = InheritedChanges(child, entities: [author.entity.index])
        try withoutTables { #expect(throws: CocoaError.self) { try inherited.objects(matching: nil) } }
        #expect(try inherited.objects(matching: nil).map(\.objectID) == [author.objectID])
    }

    @Test("for a delete's rule fails the save, and the next one carries the delete along")
    func deletes() throws {
        let author = try fault(Author.self)
        #expect(author.name == "author")
        try withoutTables {
            context.delete(author)
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(author.isDeleted)
        }
        #expect(try library.sql("SELECT COUNT(*) FROM ZPERSON") == "1")
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZPERSON") == "0")
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR IS NOT NULL") == "0")
    }

    @Test("of a deleted fault fails the save as well")
    func deletedFaults() throws {
        let author = try fault(Author.self)
        try withoutTables {
            context.delete(author)
            #expect(throws: CocoaError.self) { try context.save() }
        }
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZPERSON") == "0")
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR IS NOT NULL") == "0")
    }

    @Test("of an object that is then changed loses none of its other values")
    func changes() throws {
        let book = try fault(Book.self)
        try withoutTables { book.pages = 7 }
        // The mandatory ones are not known.
        do { try context.save() } catch { #expect((error as? CocoaError)?.code.rawValue == 1570) }
        context.refresh(book, mergeChanges: true)
        try context.save()
        #expect(try library.sql("SELECT ZTITLE IS NOT NULL, ZPAGES FROM ZBOOK WHERE Z_PK = \(book.key)") == "1|7")
    }

    // * An author cannot be read when its pen name is set. Others read it after the save.
    // => All see the author with the name that it had.
    @Test("of an object that is then changed is made up for by the save", arguments: [false, true])
    func changesMadeUpFor(inChild: Bool) throws {
        let id = try fault(Author.self).objectID
        let changing = inChild ? Layers.child(of: context, "child") : context
        let author = try #require(changing.object(with: id) as? Author)
        try withoutTables {
            author.penName = "pen"
            #expect(author.name == nil)
            #expect(throws: CocoaError.self) { try changing.save() }
        }
        try changing.save()
        if inChild { try context.save() }
        #expect(author.name == "author" && author.penName == "pen" && author.books.count == 3)
        #expect(try library.newContext().all(Author.self).map(\.name) == ["author"])
        #expect(try library.sql("SELECT ZNAME, ZPENNAME FROM ZPERSON") == "author|pen")
    }

    @Test("of an object that then gets another owner takes it from the one that it had")
    func ownerMadeUpFor() throws {
        let other = Author(context: library.context)
        try library.context.save()
        let (first, second) = (try fault(Author.self), try #require(context.object(with: other.objectID) as? Author))
        #expect(first.books.count == 3)
        let book = try #require(first.books.first)
        context.refresh(book, mergeChanges: false)
        try withoutTables { book.setValue(second, forKey: "author") }
        try context.save()
        #expect(first.books.count == 2 && second.books == [book] && book.title?.hasPrefix("book") == true)
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR = \(second.key)") == "1")
    }

    // * An author's books are replaced while they cannot be read: by one that is new, or by none.
    // => The save takes out those that were there. As long as they cannot be read, nothing is saved.
    @Test("of members that are then replaced is made up for by the save", arguments: [0, 1])
    func membersMadeUpFor(count: Int) throws {
        let author = try fault(Author.self)
        #expect(author.name == "author")
        let books = (0..<count).map { _ in Book(context: context) }
        for book in books { book.title = "new" }
        try withoutTables {
            author.books = Set(books)
            #expect(throws: CocoaError.self) { try context.save() }
        }
        try context.save()
        #expect(author.books == Set(books))
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR = \(author.key)") == "\(count)")
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK") == "\(3 + count)")
    }

    // * The books of an author who could not be read are replaced; they are read for another reason then, and replaced once more.
    @Test("of members that are then replaced, and read, shows them without those of before; a second replacement counts alone")
    func membersReplacedTwice() throws {
        let author = try fault(Author.self)
        #expect(author.name == "author")
        let (first, second) = (Book(context: context), Book(context: context))
        (first.title, second.title) = ("first", "second")
        try withoutTables { author.books = [first] }
        let request = NSFetchRequest<Author>(entityName: "Author")
        request.relationshipKeyPathsForPrefetching = ["books"]
        _ = try context.fetch(request)
        #expect(author.books == [first])
        let former = try #require(try context.all(Book.self).first { $0.title?.hasPrefix("book") == true })
        author.books = [former, second]
        try context.save()
        #expect(author.books == [former, second])
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR = \(author.key)") == "2")
    }

    @Test("of an object that an observer of WillSave then changes fails the save, which can be tried again")
    func changedByObserver() throws {
        // It is posted on this thread.
        nonisolated(unsafe) let author = try fault(Author.self)
        Book(context: context).title = "another"
        try withoutTables {
            let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextWillSave, object: context, queue: nil) {
                _ in
                author.penName = "pen"
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            #expect(throws: CocoaError.self) { try context.save() }
        }
        try context.save()
        #expect(author.name == "author" && author.penName == "pen")
        #expect(try library.sql("SELECT ZNAME, ZPENNAME FROM ZPERSON") == "author|pen")
    }
}
