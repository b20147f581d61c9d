import Foundation
import Testing

@testable import CoreData

@Suite("Every kind of store")
struct ContractTests {
    // What a store keeps of text and numbers is found by others as it was.
    @Test("keeps values of all types", arguments: ContractKind.allCases)
    func values(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let texts = [
            "", " a b ", "ß→é\u{301} 🏳️‍🌈", "line\nbreak, \"quotes\"", "# no comment", "cr\r\nlf", "tab\tnul\u{1}", "<&>", "\u{feff}x",
        ]
        let (uuid, date) = (UUID(), Date(timeIntervalSinceReferenceDate: 700_000_000.123_456))
        for (index, text) in texts.enumerated() {
            let book = Book(context: context)
            (book.title, book.pages, book.price, book.published) = (text, Int32(index) - 3, 0.1 * Double(index), date)
            (book.isLent, book.isbn, book.copies, book.weight) = (index % 2 == 0, uuid, Int64.max - Int64(index), 1.5)
            book.cover = Data([0, 255, UInt8(index)])
        }
        let empty = Book(context: context)
        empty.title = "empty"
        try context.save()

        let other = try home.reopened(context)
        let books = try other.all(Book.self, where: "title != 'empty'", sortedBy: "pages")
        #expect(books.map(\.title) == texts)
        #expect(books.map(\.pages) == texts.indices.map { Int32($0) - 3 })
        #expect(books.map(\.price) == texts.indices.map { 0.1 * Double($0) })
        #expect(books.allSatisfy { $0.published == date && $0.isbn == uuid && $0.weight == 1.5 })
        #expect(books.map(\.copies) == texts.indices.map { Int64.max - Int64($0) })
        #expect(books.map(\.isLent) == texts.indices.map { $0 % 2 == 0 })
        #expect(books.map(\.cover) == texts.indices.map { Data([0, 255, UInt8($0)]) })
        let nothing = try #require(try other.all(Book.self, where: "title == 'empty'").first)
        #expect(nothing.price == nil && nothing.published == nil && nothing.isbn == nil && nothing.cover == nil)
    }

    @Test("is among those that the contract is checked with")
    func kinds() {
        #expect(Set(StoreTypes.builtIn.keys).subtracting(ContractKind.allCases.map(\.type)) == [])
    }

    @Test("keeps relationships of all kinds", arguments: ContractKind.allCases)
    func relationships(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let author = Author(context: context)
        (author.name, author.penName) = ("Ann", "A.")
        let boss = Person(context: context)
        boss.name = "Bob"
        author.boss = boss
        author.desk = Desk(context: context)
        author.desk?.room = "7"
        for title in ["one", "two"] {
            let book = Book(context: context)
            (book.title, book.author) = (title, author)
        }
        try context.save()
        // Some of it in a second save.
        let tags = ["x", "y", "z"].map { label in
            let tag = Tag(context: context)
            tag.label = label
            return tag
        }
        for book in author.books { book.tags = Set(tags.prefix(book.title == "one" ? 3 : 1)) }
        try context.save()

        let other = try home.reopened(context)
        let found = try #require(try other.all(Author.self).first)
        #expect(Set(found.books.map(\.title)) == ["one", "two"])
        #expect(found.boss?.name == "Bob" && found.boss?.reports == [found] && found.desk?.room == "7")
        #expect(found.desk?.owner === found)
        #expect(try other.all(Person.self, sortedBy: "name").map(\.name) == ["Ann", "Bob"])
        #expect(try other.all(Tag.self, sortedBy: "label").map { $0.books.count } == [2, 1, 1])
        #expect(try other.all(Book.self, sortedBy: "title").map { $0.tags.count } == [3, 1])
        #expect(found.books.allSatisfy { $0.author === found })
    }

    @Test("keeps the order of an ordered relationship", arguments: ContractKind.allCases)
    func order(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let book = Book(context: context)
        book.title = "B"
        book.chapters = ["b", "a", "c"].map { heading in
            let chapter = Chapter(context: context)
            chapter.heading = heading
            return chapter
        }
        try context.save()
        book.chapters = [book.chapters[2], book.chapters[0], book.chapters[1]]
        try context.save()

        let other = try home.reopened(context)
        let found = try #require(try other.all(Book.self).first)
        #expect(found.chapters.map(\.heading) == ["c", "b", "a"])
        // In a second save of what was read.
        other.delete(found.chapters[0])
        try other.save()
        let third = try home.reopened(other)
        #expect(try third.all(Book.self).map { $0.chapters.map(\.heading) } == [["b", "a"]])
        // Put in front of what is there, and moved once more by who has saved.
        let again = try #require(try third.all(Book.self).first)
        let new = Chapter(context: third)
        new.heading = "n"
        again.chapters.insert(new, at: 0)
        try third.save()
        again.chapters.swapAt(0, 2)
        try third.save()
        let fourth = try home.reopened(third)
        #expect(try fourth.all(Book.self).map { $0.chapters.map(\.heading) } == [["a", "b", "n"]])
    }

    @Test("follows delete rules", arguments: ContractKind.allCases)
    func deleteRules(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let (author, tag, desk) = (Author(context: context), Tag(context: context), Desk(context: context))
        let book = Book(context: context)
        (book.title, book.author, book.tags) = ("B", author, [tag])
        (desk.owner, author.name) = (author, "A")
        try context.save()

        context.delete(desk)
        #expect(throws: CocoaError.self) { try context.save() }
        context.rollback()
        context.delete(author)
        try context.save()

        let other = try home.reopened(context)
        #expect(try other.all(Author.self).isEmpty && other.all(Book.self).isEmpty)
        #expect(try other.all(Tag.self).map(\.books) == [[]])
        #expect(try other.all(Desk.self).map { $0.owner == nil } == [true])
    }

    @Test("answers predicates, orders, limits and counts, with unsaved changes as if they were saved", arguments: ContractKind.allCases)
    func fetching(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        for index in 0..<20 {
            let book = Book(context: context)
            (book.title, book.pages) = ("Title \(index % 5)", Int32(index))
        }
        try context.save()
        context.reset()
        func fetch(_ format: String, limit: Int = 0, offset: Int = 0) throws -> [Int32] {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: format)
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false), NSSortDescriptor(key: "pages", ascending: true)]
            (request.fetchLimit, request.fetchOffset) = (limit, offset)
            let found = try context.fetch(request).map(\.pages)
            #expect(try context.count(for: request) == found.count)
            return found
        }
        #expect(try fetch("pages >= 15") == [19, 18, 17, 16, 15])
        #expect(try fetch("title CONTAINS[c] 'TITLE 3' AND pages < 10") == [3, 8])
        #expect(try fetch("pages IN {1, 2, 3}", limit: 2) == [3, 2])
        #expect(try fetch("TRUEPREDICATE", limit: 3, offset: 4) == [3, 8, 13])
        let unsaved = Book(context: context)
        (unsaved.title, unsaved.pages) = ("Title 9", 99)
        for book in try context.all(Book.self, where: "pages == 19") { book.pages = -1 }
        for book in try context.all(Book.self, where: "pages == 18") { context.delete(book) }
        #expect(try fetch("pages >= 15") == [99, 17, 16, 15])
        #expect(try fetch("TRUEPREDICATE", limit: 2) == [99, -1])
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        ids.resultType = .managedObjectIDResultType
        #expect(try context.fetch(ids).count == 20)
        try context.save()
        #expect(try fetch("pages >= 15") == [99, 17, 16, 15])
    }

    @Test("refuses what is not valid, and everything else with it", arguments: ContractKind.allCases)
    func refusal(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let book = Book(context: context)
        book.title = "kept"
        try context.save()
        book.title = "changed"
        let invalid = Book(context: context)
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(context.hasChanges && invalid.isInserted && book.title == "changed")
        context.rollback()
        #expect(book.title == "kept")
        let other = try home.reopened(context)
        #expect(try other.all(Book.self).map(\.title) == ["kept"])
    }

    @Test("keeps unique values unique", arguments: ContractKind.allCases)
    func constraints(_ kind: ContractKind) throws {
        let model = LibraryModel.make()
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["label"]]
        let home = try ContractHome(kind, model: model)
        let context = try home.open()
        try home.require(.constraints, "constraints", context)
        for _ in 0..<2 {
            let tag = Tag(context: context)
            tag.label = "same"
        }
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectConstraintMerge)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        let other = try home.reopened(context)
        #expect(try other.all(Tag.self).map(\.label) == ["same"])
    }

    @Test("answers with dictionaries: columns, groups and counts", arguments: ContractKind.allCases)
    func dictionaries(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        defer { withExtendedLifetime(home) {} }
        let context = try home.open()
        for (index, title) in ["b", "a", "b"].enumerated() {
            let book = Book(context: context)
            (book.title, book.pages) = (title, Int32(index))
        }
        try context.save()

        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true), NSSortDescriptor(key: "pages", ascending: false)]
        request.propertiesToFetch = ["title", "pages", "price"]
        #expect(try context.fetch(request) == [["title": "a", "pages": 1], ["title": "b", "pages": 2], ["title": "b", "pages": 0]])

        let count = NSExpressionDescription()
        (count.name, count.expressionResultType) = ("number", .integer64AttributeType)
        count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "title")])
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        (request.propertiesToFetch, request.propertiesToGroupBy) = (["title", count], ["title"])
        #expect(try context.fetch(request) == [["title": "a", "number": 1], ["title": "b", "number": 2]])
    }

    @Test("holds ten thousand objects", arguments: ContractKind.allCases)
    func many(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        for index in 0..<10_000 {
            let tag = Tag(context: context)
            tag.label = "tag \(index)"
        }
        try context.save()
        let other = try home.reopened(context)
        #expect(try other.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 10_000)
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.predicate = NSPredicate(format: "label ENDSWITH '99'")
        #expect(try other.count(for: request) == 100)
    }
}
