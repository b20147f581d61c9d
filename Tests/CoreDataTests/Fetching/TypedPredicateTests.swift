import Foundation
import Testing

@testable import CoreData

extension Author: KeyPathNaming {
    static var keyPathNames: [AnyKeyPath: String] { [\Author.name: "name", \Author.age: "age", \Author.books: "books"] }
}

extension Book: KeyPathNaming {
    static var keyPathNames: [AnyKeyPath: String] {
        [\Book.title: "title", \Book.pages: "pages", \Book.author: "author", \Book.tags: "tags", \Book.isLent: "isLent"]
    }

    fileprivate var isThick: Bool { pages > 300 }
    fileprivate var remainder: Int { Int(pages) % 4 }
    fileprivate var isThickOrNil: Int? { pages > 300 ? 1 : nil }
}

@Suite("A #Predicate of Swift's")
struct TypedPredicateTests {
    let library: Library
    let context: NSManagedObjectContext

    /// Books with and without titles and authors.
    init() throws {
        library = try Library(.memory)
        context = library.context
        let authors = ["Ann", "Bob", nil].map { name in
            let author = Author(context: context)
            (author.name, author.age) = (name, name == "Ann" ? 30 : 60)
            return author
        }
        for number in 0..<12 {
            let book = Book(context: context)
            book.title = ["x", "xyz", "", "é"][number % 4]
            (book.pages, book.isLent) = (Int32(number), number % 3 == 0)
            book.author = number % 5 == 4 ? nil : authors[number % 3]
        }
    }

    /// Compares what a fetch finds, of unsaved and of saved objects, with what Swift says of each object.
    private func expectSame<Object: NSManagedObject>(
        _ predicate: Predicate<Object>,
        isTranslated: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let request = NSFetchRequest<Object>()
        let all = try context.fetch(request)
        let expected = try Set(all.filter { try predicate.evaluate($0) })
        if isTranslated { request.predicate = try NSPredicate(translating: predicate) } else { request.predicate = NSPredicate(predicate) }
        #expect(try Set(context.fetch(request)) == expected, "\(request.predicate as Any)", sourceLocation: sourceLocation)
        try context.save()
        #expect(try Set(context.fetch(request)) == expected, "saved: \(request.predicate as Any)", sourceLocation: sourceLocation)
        if isTranslated { #expect(try context.explain(request).inMemory.isEmpty, sourceLocation: sourceLocation) }
    }

    @Test("finds what Swift says, with Swift's meaning of nil, in the store and unsaved")
    func meaning() throws {
        let (few, none, wanted): (Int32, String?, [Int32]) = (5, nil, [1, 2, 3, 50])
        try expectSame(#Predicate<Book> { $0.pages > few && $0.title == "x" })
        try expectSame(#Predicate<Book> { $0.author?.name != "Ann" })
        try expectSame(#Predicate<Book> { !($0.author?.name == "Ann") || $0.pages == 0 })
        try expectSame(#Predicate<Book> { $0.author?.name == none })
        try expectSame(#Predicate<Book> { $0.author == nil })
        try expectSame(#Predicate<Book> { $0.isLent })
        try expectSame(#Predicate<Book> { !$0.isLent && $0.isLent == false })
        try expectSame(#Predicate<Book> { ($0.author?.name ?? "Nobody") == "Nobody" })
        try expectSame(#Predicate<Book> { $0.author?.name?.contains("n") == true })
        try expectSame(#Predicate<Book> { $0.author?.name?.starts(with: "A") ?? false })
        try expectSame(#Predicate<Book> { wanted.contains($0.pages) })
        try expectSame(#Predicate<Book> { (2...4).contains($0.pages) })
        try expectSame(#Predicate<Book> { $0.pages * 2 + 1 == 7 })
        try expectSame(#Predicate<Book> { $0.pages % 2 == 1 })
    }

    // * Texts that are empty, absent and long; a list with nil in it.
    // => An empty text is one without characters, not a relationship without members; a nil in a list is found.
    @Test("knows texts from relationships, and nil in a list")
    func textsAndLists() throws {
        for (name, title) in [(nil, ""), ("", "long"), ("Zoë", "")] as [(String?, String)] {
            let (author, book) = (Author(context: context), Book(context: context))
            (author.name, book.title, book.author) = (name, title, author)
        }
        let (names, titles): ([String?], [String?]) = (["Ann", nil], ["", "x"])
        try expectSame(#Predicate<Author> { $0.name?.isEmpty == true })
        try expectSame(#Predicate<Author> { $0.name?.isEmpty ?? false })
        try expectSame(#Predicate<Author> { $0.books.contains { $0.title?.isEmpty == true } })
        try expectSame(#Predicate<Author> { names.contains($0.name) })
        try expectSame(#Predicate<Author> { !names.contains($0.name) })
        try expectSame(#Predicate<Book> { titles.contains($0.title) })
        try expectSame(#Predicate<Author> { ($0.name?.count ?? 0) == 3 }, isTranslated: false)
        #expect(throws: CocoaError.self) { try NSPredicate(translating: #Predicate<Author> { ($0.name?.count ?? 0) == 3 }) }
    }

    // * Values that one branch has, and the other may not have.
    // => What is not equal to nil is found, whichever branch nil comes from.
    @Test("takes either branch of a condition for what may be nil")
    func branches() throws {
        let known: String? = "Ann"
        try expectSame(#Predicate<Book> { !(($0.isLent ? known : $0.author?.name) == "Ann") })
        try expectSame(#Predicate<Book> { ($0.isLent ? known : $0.author?.name) != $0.title })
        try expectSame(#Predicate<Book> { ($0.isLent ? $0.author?.name : known) == $0.author?.name })
        try expectSame(#Predicate<Book> { !((($0.isLent ? $0.author?.name : $0.title) ?? "x") == "x") })
    }

    @Test("goes along to-many relationships")
    func members() throws {
        try expectSame(#Predicate<Author> { $0.books.contains { $0.pages > 7 && $0.isLent } })
        try expectSame(#Predicate<Author> { $0.books.allSatisfy { $0.pages < 10 } })
        try expectSame(#Predicate<Author> { $0.books.count > 3 && !$0.books.isEmpty })
        try expectSame(#Predicate<Author> { author in author.books.filter { $0.pages > 3 }.count > 1 })
        try expectSame(#Predicate<Author> { author in author.books.contains { $0.pages == 2 && $0.author?.name == author.name } })
    }

    // * A property that the class computes.
    // => The store is not asked; who wants it to be gets an error that names what is in the way.
    @Test("that has no translation is evaluated in memory, or refused with the reason")
    func untranslated() throws {
        try expectSame(#Predicate<Book> { $0.isThick || $0.pages < 3 }, isTranslated: false)
        let error = #expect(throws: CocoaError.self) { try NSPredicate(translating: #Predicate<Book> { $0.isThick }) }
        #expect(error?.errorCode == 134_060 && error?.localizedDescription.contains("KeyPathNaming") == true)
    }

    // * Key paths whose names the class says, and one of a property that it computes.
    // => The store sorts by those; the computed one sorts in memory.
    @Test("sorts and expressions take key paths that have names")
    func keyPaths() throws {
        try context.save()
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [
            NSSortDescriptor(\Book.isLent, ascending: false), NSSortDescriptor(keyPath: \Book.title, ascending: true),
        ]
        #expect(request.sortDescriptors?.map(\.key) == ["isLent", "title"])
        #expect(try context.explain(request).inMemory.isEmpty)
        let pages = NSComparisonPredicate(
            leftExpression: CoreData.NSExpression(forKeyPath: \Book.pages),
            rightExpression: CoreData.NSExpression(forConstantValue: 9),
            modifier: .direct,
            type: .greaterThan
        )
        request.predicate = pages
        #expect(try context.fetch(request).map(\.pages) == [10, 11])
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.isThickOrNil, ascending: true)]
        #expect(try context.explain(request).inMemory.isEmpty == false)
    }

    // * A function for any class of managed objects, which knows nothing of names.
    // => The store sorts.
    @Test("generic code sorts in the store, too, by key paths that have names")
    func genericSorts() throws {
        func byKey<Object: NSManagedObject, Value>(_ keyPath: KeyPath<Object, Value>) -> NSSortDescriptor {
            NSSortDescriptor(keyPath: keyPath, ascending: true)
        }
        let sorts = [byKey(\Book.title), byKey(\Book.pages), byKey(\Book.author), byKey(\Book.isThickOrNil)]
        #expect(sorts.map(\.key) == ["title", "pages", "author", nil])
    }

    // * Foundation's values: by properties whose names the class says, and by one that it computes.
    @Test("a SortDescriptor of Foundation's sorts in the store, or in memory where the store cannot")
    func sortDescriptors() throws {
        try context.save()
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [SortDescriptor(\Book.pages, order: .reverse), SortDescriptor(\Book.title)].map { NSSortDescriptor($0) }
        #expect(request.sortDescriptors?.map(\.key) == ["pages", "title"])
        #expect(try context.explain(request).inMemory.isEmpty)
        #expect(try context.fetch(request).map(\.pages) == (0..<12).reversed())
        request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Book.remainder, order: .reverse)), NSSortDescriptor(\Book.pages)]
        #expect(try context.explain(request).inMemory.isEmpty == false)
        let pages = try context.fetch(request).map(\.pages)
        #expect(pages == [3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8])
    }

    @Test("sorts, groups and columns are named by keys that the compiler knows")
    func keys() throws {
        try context.save()
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(Book.Keys.isLent, ascending: false), NSSortDescriptor(Book.Keys.pages)]
        #expect(try context.fetch(request).map(\.pages) == [0, 3, 6, 9, 1, 2, 4, 5, 7, 8, 10, 11])
        #expect(try context.explain(request).inMemory.isEmpty)
        let rows = NSFetchRequest<NSDictionary>(entityName: "Book")
        rows.resultType = .dictionaryResultType
        rows.propertiesToFetch = [Book.Keys.isLent]
        rows.propertiesToGroupBy = [Book.Keys.isLent]
        #expect(try context.fetch(rows).count == 2)
    }
}
