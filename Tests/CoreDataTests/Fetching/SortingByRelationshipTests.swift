import CoreData
import Foundation
import Testing

@Suite("Sorting by a to-one relationship")
struct SortingByRelationshipTests {
    @Test("gives one order: in the store, in memory, with unsaved changes and before anything is saved", arguments: StoreKind.allCases)
    func order(kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.context
        let authors = ["c", "a", "b"].map { name in
            let author = Author(context: context)
            author.name = name
            return author
        }
        for number in 0..<8 {
            let book = Book(context: context)
            book.title = "\(number)"
            book.author = number % 4 == 3 ? nil : authors[2 - number % 4]
        }
        let request = NSFetchRequest<Book>(entityName: "Book")
        func titles(_ key: String, ascending: Bool) throws -> String {
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending), NSSortDescriptor(key: "title", ascending: true)]
            let books = try context.fetch(request)
            #expect(books.shuffled().sorted(using: request.sortDescriptors ?? []) == books)
            return books.compactMap(\.title).joined()
        }
        for _ in 0..<2 {
            for key in ["author", "author.objectID"] {
                #expect(try titles(key, ascending: true) == "37261504")
                #expect(try titles(key, ascending: false) == "04152637")
            }
            // => The order of the keys, which is that in which the authors were made.
            #expect(try titles("author.self", ascending: true) == "37261504")
            try context.save()
        }
        // * Some rows are answered by the store, others by the context.
        for book in try context.all(Book.self, "Book") where ["2", "7"].contains(book.title) { book.pages = 1 }
        #expect(try titles("author", ascending: true) == "37261504")
        let late = Author(context: context)
        try #require(try context.all(Book.self, "Book", by: "title").first).author = late
        #expect(try titles("author", ascending: true) == "37261540" && titles("author", ascending: false) == "04152637")
        try context.save()
        #expect(try titles("author", ascending: true) == "37261540")
        request.predicate = NSPredicate { object, _ in (object as? Book)?.title != "1" }
        #expect(try titles("author", ascending: true) == "3726540")
    }

    @Test("by the object itself and by its ID is by its key")
    func identity() throws {
        let library = try Library()
        let tags = (0..<30).map { _ in Tag(context: library.context) }
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        for isSaved in [false, true] {
            if isSaved { try library.context.save() }
            for key in ["self", "objectID"] {
                request.sortDescriptors = [NSSortDescriptor(key: key, ascending: false)]
                #expect(try library.context.fetch(request) == tags.reversed())
                #expect(tags.shuffled().sorted(using: request.sortDescriptors ?? []) == tags.reversed())
            }
        }
    }
}
