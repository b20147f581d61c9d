import CoreData
import Foundation
import Testing

@Suite("The live set of a relationship")
struct MutableSetTests {
    let library: Library
    let books: [Book]
    let tag: Tag
    var context: NSManagedObjectContext { library.context }
    private var live: NSMutableSet { tag.mutableSetValue(forKey: "books") }

    init() throws {
        library = try Library()
        let context = library.context
        books = ["a", "b", "c"].map { title in
            let book = Book(context: context)
            book.title = title
            return book
        }
        tag = Tag(context: context)
        tag.books = Set(books)
        try context.save()
    }

    @Test("is as good as a set where it is set as a value, of its own object or of another")
    func asValue() throws {
        tag.setValue(live, forKey: "books")
        #expect(tag.books == Set(books))
        let other = Tag(context: context)
        other.setValue(live, forKey: "books")
        #expect(other.books == Set(books))
        tag.setPrimitiveValue(live, forKey: "books")
        var value: Any? = live
        try tag.validateValue(&value, forKey: "books")
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "6")
    }

    @Test("gives its members to Foundation's sets, to predicates and to loops")
    func members() throws {
        let plain = NSSet(set: live)
        #expect(plain.count == 3 && Set(live.allObjects.compactMap { $0 as? Book }) == Set(books))
        #expect(live.isEqual(to: Set(books)) && plain == live && live == plain)
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "SELF IN %@", live)
        #expect(try context.count(for: request) == 3)
        for case let book as Book in live { live.remove(book) }
        #expect(tag.books.isEmpty)
    }

    @Test("prints its members")
    func printing() {
        let text = "\(live)"
        #expect(text.contains("Relationship 'books'"))
        for book in books { #expect(text.contains(book.objectID.description)) }
        #expect(live.description(withLocale: nil) == live.description || tag.books.count == 3)
    }

    @Test("stops the program with a sentence where something else than an object is added")
    func strangers() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Tag(context: try Library().context).mutableSetValue(forKey: "books").add("text")
        }
        #expect(complaint(result).contains("takes managed objects, not a String"))
    }
}
