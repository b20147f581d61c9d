import Foundation
import Testing

@testable import CoreData

@Suite("A fetch that is decided in memory")
struct OldValuesTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library(.memory)
        context = library.newContext(.privateQueueConcurrencyType)
    }

    private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        return child
    }

    private func titles(_ format: String, in context: NSManagedObjectContext) throws -> [String?] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
        return try context.fetch(request).map(\.title)
    }

    private func insertBooks() {
        context.performAndWait {
            for name in ["Ann", "Bob"] {
                let (author, book) = (Author(context: context), Book(context: context))
                (author.name, book.title, book.author) = (name, "by \(name)", author)
            }
        }
    }

    // * Ann's name is read in a child, then changed in its parent, which saves nothing.
    // => The child finds her book by the new name, in its place, and shows the old one.
    @Test("counts what contexts above have changed, not what a context shows of it", arguments: [false, true])
    func parentsChanges(isSaved: Bool) throws {
        insertBooks()
        if isSaved { try context.performAndWait { try context.save() } }
        let child = child(of: context)
        try child.performAndWait { () throws -> Void in
            let authors = try child.fetch(NSFetchRequest<Author>(entityName: "Author"))
            let ann = try #require(authors.first { $0.name == "Ann" })
            context.performAndWait { context.object(with: ann.objectID).setValue("Zoe", forKey: "name") }
            #expect(try titles("author.name == 'Zoe'", in: child) == ["by Ann"])
            #expect(try titles("author.name == 'Ann'", in: child) == [])
            #expect(try titles("TRUEPREDICATE", in: child) == ["by Bob", "by Ann"])
            #expect(ann.name == "Ann")
        }
    }

    // * A predicate that SQL cannot say; what it reads has been changed and saved by another context.
    // => It is decided by what is in the store, as if SQL could say it.
    @Test("counts what others have saved")
    func othersSaves() throws {
        insertBooks()
        try context.performAndWait { try context.save() }
        let other = library.newContext(.privateQueueConcurrencyType)
        try other.performAndWait {
            for author in try other.fetch(NSFetchRequest<Author>(entityName: "Author")) { _ = author.books.map(\.title) }
        }
        try context.performAndWait {
            let bob = try #require(try context.fetch(NSFetchRequest<Author>(entityName: "Author")).first { $0.name == "Bob" })
            for book in try context.fetch(NSFetchRequest<Book>(entityName: "Book")) { book.author = bob }
            try context.save()
        }
        let found = try other.performAndWait { try titles("author.books.tags.@count == 0 AND author.books[SIZE] == 2", in: other) }
        #expect(found.count == 2)
    }

    // * A book without an author, saved or not.
    // => It has no tags through its author: neither one that is looked for, nor one of which nobody knows.
    @Test("finds nothing in what a missing object would have", arguments: [false, true])
    func missingOwner(isSaved: Bool) throws {
        try context.performAndWait { () throws -> Void in
            let (book, other) = (Book(context: context), Book(context: context))
            (book.title, other.title) = ("A", "B")
            other.author = Author(context: context)
            if isSaved { try context.save() }
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "NOT (author.books CONTAINS %@)", book)
            #expect(try Set(context.fetch(request).map(\.title)) == ["A", "B"])
            request.predicate = nil
            request.sortDescriptors = [
                NSSortDescriptor(key: "author.reports.@count", ascending: true), NSSortDescriptor(key: "title", ascending: true),
            ]
            #expect(try context.fetch(request).map(\.title) == ["A", "B"])
        }
    }
}
