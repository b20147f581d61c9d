import Foundation
import Testing

@testable import CoreData

@Suite("A fetch over unsaved changes")
struct PendingChangesTests {
    @Test("answers as if they were saved: predicate, order, limit, offset, count, IDs", arguments: 1...5 as ClosedRange<UInt64>)
    func savedAndUnsaved(seed: UInt64) throws {
        let unsaved = try RandomLibrary(seed)
        let saved = try RandomLibrary(seed)
        unsaved.change()
        saved.change()
        try saved.library.context.save()
        var generator = SeededGenerator(seed + 100)
        for number in 0..<100 {
            let query = RandomQuery(&generator)
            let (left, right) = (try unsaved.answer(query), try saved.answer(query))
            #expect(left == right, "seed \(seed), query \(number): \(query)")
            guard left == right else { return }
        }
        // => The fetches changed nothing: what is saved now is what was saved there. Places may differ as numbers, not as an order; and a
        // relationship that was never read counts as changed when its changes came to nothing, which shows in versions only.
        try unsaved.library.context.save()
        let tables = """
            SELECT Z_PK, Z_ENT, ZNAME, ZAGE, ZBOSS FROM ZPERSON; SELECT Z_PK, ZTITLE, ZPAGES, ZPRICE, ZAUTHOR FROM ZBOOK;
            SELECT Z_PK, ZLABEL FROM ZTAG; SELECT ZBOOK, Z_PK, ZHEADING FROM ZCHAPTER ORDER BY ZBOOK, Z_FOK_BOOK;
            SELECT * FROM Z_1TAGS ORDER BY 1, 2; SELECT * FROM Z_PRIMARYKEY
            """
        let contents = try [unsaved, saved].map { try $0.library.sql(tables).split(separator: "\n").map(String.init) }
        #expect(contents[0].difference(from: contents[1]).isEmpty)
    }

    @Test("sees objects that a change of a related object makes match, or not match any more")
    func relatedChanges() throws {
        let library = try Library()
        let context = library.context
        let (author, book) = (Author(context: context), Book(context: context))
        (author.name, book.title, book.author) = ("old", "t", author)
        let chapter = Chapter(context: context)
        (chapter.heading, chapter.book) = ("h", book)
        try context.save()
        func chapters(_ name: String) throws -> Int {
            let request = NSFetchRequest<Chapter>(entityName: "Chapter")
            request.predicate = NSPredicate(format: "book.author.name == %@", name)
            let count = try context.count(for: request)
            #expect(try context.fetch(request).count == count)
            return count
        }
        author.name = "new"
        #expect(try (chapters("old"), chapters("new")) == (0, 1))
        let other = Author(context: context)
        other.name = "other"
        book.author = other
        #expect(try (chapters("new"), chapters("other")) == (0, 1))
        context.delete(other)
        #expect(try chapters("other") == 0)
        context.rollback()
        #expect(try chapters("old") == 1)
    }

    @Test("does not see them where the request says so")
    func withoutPendingChanges() throws {
        let library = try Library()
        let tags = ["a", "b", "c"].map { label in
            let tag = Tag(context: library.context)
            tag.label = label
            return tag
        }
        try library.context.save()
        tags[0].label = "z"
        library.context.delete(tags[1])
        Tag(context: library.context).label = "d"
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.predicate = NSPredicate(format: "label IN {'a', 'b', 'd'}")
        request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
        #expect(try library.context.fetch(request).map(\.label) == ["d"])
        request.includesPendingChanges = false
        let found = try library.context.fetch(request)
        #expect(found.count == 2 && found[0] === tags[0] && found[1] === tags[1])
        #expect(tags[0].label == "z" && tags[1].isDeleted)
        #expect(try library.context.count(for: request) == 2)
    }

    // * A predicate that goes through two relationships to many, which only memory knows; a book gets a tag, unsaved, in a context or its parent.
    // => Only what is saved counts: the objects show other members.
    @Test("does not see them where memory decides either", arguments: [false, true])
    func withoutPendingMembers(isInParent: Bool) throws {
        let library = try Library()
        let (old, new) = (Book(context: library.context), Book(context: library.context))
        let tag = Tag(context: library.context)
        (old.title, old.pages, new.title, old.tags) = ("old", 9, "new", [tag])
        try library.context.save()
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = library.context
        let context = isInParent ? child : library.context
        new.tags.insert(tag)
        library.context.processPendingChanges()
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "ANY tags.books.pages > 8")
        #expect(Set(try context.fetch(request).map(\.title)) == ["old", "new"])
        request.includesPendingChanges = false
        #expect(try context.fetch(request).map(\.title) == ["old"])
        #expect(try context.count(for: request) == 1)
        #expect(try isInParent ? context.fetch(request).first?.tags.count == 1 : context.fetch(request).first === old)
    }

    @Test("takes limits and offsets of any size")
    func extremes() throws {
        let library = try Library()
        for label in ["a", "b", "c"] { Tag(context: library.context).label = label }
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
        for isSaved in [false, true] {
            if isSaved { try library.context.save() }
            for (limit, offset, expected) in [
                (Int.max, 1, ["b", "c"]), (Int.max, Int.max, []), (0, 2, ["c"]), (-5, -5, ["a", "b", "c"]), (1, 3, []), (2, 0, ["a", "b"]),
            ] {
                (request.fetchLimit, request.fetchOffset) = (limit, offset)
                #expect(try library.context.fetch(request).compactMap(\.label) == expected, "\(limit) \(offset) \(isSaved)")
                #expect(try library.context.count(for: request) == expected.count, "\(limit) \(offset) \(isSaved)")
            }
        }
    }
}

/// A library with random contents, and random unsaved changes to it. Every object has a name of its own.
private final class RandomLibrary {
    let library: Library
    private var generator: SeededGenerator
    private var authors: [Author] = []
    private var books: [Book] = []
    private var chapters: [Chapter] = []
    private var tags: [Tag] = []
    private var serial = 0

    init(_ seed: UInt64) throws {
        library = try Library()
        generator = SeededGenerator(seed)
        for _ in 0..<15 { insert(0) }
        for _ in 0..<60 { insert(Int.random(in: 0..<4, using: &generator)) }
        for _ in 0..<150 { relate() }
        try library.context.save()
    }

    private func name() -> String {
        serial += 1
        return "\(["a", "B", "é", "Z", ""].randomElement(using: &generator)!)\(serial)"
    }

    private func insert(_ kind: Int) {
        let context = library.context
        switch kind {
        case 0:
            let author = Author(context: context)
            (author.name, author.age) = (name(), Int16.random(in: 0...5, using: &generator))
            authors.append(author)
        case 1:
            let book = Book(context: context)
            (book.title, book.pages) = (name(), Int32.random(in: 0...5, using: &generator))
            book.price = Bool.random(using: &generator) ? Double(Int.random(in: 0...5, using: &generator)) : nil
            books.append(book)
        case 2:
            let tag = Tag(context: context)
            tag.label = Int.random(in: 0...4, using: &generator) == 0 ? nil : name()
            tags.append(tag)
        default:
            guard let book = books.randomElement(using: &generator) else { return }
            let chapter = Chapter(context: context)
            (chapter.heading, chapter.book) = (name(), book)
            chapters.append(chapter)
        }
    }

    private func relate() {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            books.randomElement(using: &generator)?.author =
                Int.random(in: 0..<4, using: &generator) == 0 ? nil : authors.randomElement(using: &generator)
        case 1:
            guard let book = books.randomElement(using: &generator), let tag = tags.randomElement(using: &generator) else { return }
            if book.tags.contains(tag) { book.tags.remove(tag) } else { book.tags.insert(tag) }
        case 2:
            if let book = books.randomElement(using: &generator) { chapters.randomElement(using: &generator)?.book = book }
        default: authors.randomElement(using: &generator)?.boss = authors.randomElement(using: &generator)
        }
    }

    func change() {
        for _ in 0..<60 {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1: insert(Int.random(in: 0..<4, using: &generator))
            case 2: books.randomElement(using: &generator)?.pages = Int32.random(in: 0...5, using: &generator)
            case 3: authors.randomElement(using: &generator)?.age = Int16.random(in: 0...5, using: &generator)
            case 4: delete()
            default: relate()
            }
        }
    }

    private func delete() {
        let object: NSManagedObject? =
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: authors.randomElement(using: &generator)
            case 1: books.randomElement(using: &generator)
            case 2: tags.randomElement(using: &generator)
            default: chapters.randomElement(using: &generator)
            }
        guard let object else { return }
        library.context.delete(object)
        library.context.processPendingChanges()
        authors.removeAll { $0.isDeleted || $0.managedObjectContext == nil }
        books.removeAll { $0.isDeleted || $0.managedObjectContext == nil }
        chapters.removeAll { $0.isDeleted || $0.managedObjectContext == nil }
        tags.removeAll { $0.isDeleted || $0.managedObjectContext == nil }
    }

    /// Names of the results in order, or as a set where no order was asked for; and the number of results.
    func answer(_ query: RandomQuery) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: query.entity)
        request.predicate = query.predicate.map { NSPredicate(format: $0) }
        request.includesSubentities = query.includesSubentities
        request.sortDescriptors = query.sorts.map { NSSortDescriptor(key: $0.key, ascending: $0.ascending) }
        (request.fetchLimit, request.fetchOffset) = (query.limit, query.offset)
        let context = library.context
        let objects = try context.fetch(request)
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: query.entity)
        (ids.predicate, ids.sortDescriptors, ids.resultType) = (request.predicate, request.sortDescriptors, .managedObjectIDResultType)
        (ids.fetchLimit, ids.fetchOffset, ids.includesSubentities) = (query.limit, query.offset, query.includesSubentities)
        #expect(try context.fetch(ids) == objects.map(\.objectID), "\(query)")
        let names = objects.map { object in
            ["name", "title", "heading", "label"].lazy.compactMap { object.entity.propertiesByName[$0] == nil ? nil : $0 }
                .first.map { object.value(forKey: $0) as? String ?? "nil" } ?? "?"
        }
        return (query.sorts.isEmpty ? names.sorted() : names) + ["\(try context.count(for: request))"]
    }
}

private struct RandomQuery: CustomStringConvertible {
    let entity: String
    let predicate: String?
    let sorts: [(key: String, ascending: Bool)]
    let limit: Int
    let offset: Int
    let includesSubentities: Bool

    init(_ generator: inout SeededGenerator) {
        let entity = ["Person", "Author", "Book", "Chapter", "Tag"].randomElement(using: &generator)!
        self.entity = entity
        includesSubentities = Int.random(in: 0..<5, using: &generator) > 0
        let conditions = Self.conditions[entity]!
        let parts = (0..<Int.random(in: 0..<3, using: &generator)).map { _ in
            let condition = conditions.randomElement(using: &generator)!
            return Int.random(in: 0..<4, using: &generator) == 0 ? "NOT (\(condition))" : "(\(condition))"
        }
        predicate = parts.isEmpty ? nil : parts.joined(separator: Bool.random(using: &generator) ? " AND " : " OR ")
        // Names are unique, so that the order is total; a nil label is not, so those who sort by it are not cut.
        let isTotal = entity != "Tag"
        let keys = Self.keys[entity]!
        if Int.random(in: 0..<5, using: &generator) == 0 || !isTotal {
            sorts = []
            (limit, offset) = (0, 0)
        } else {
            let first = keys.randomElement(using: &generator)!
            sorts = [(first, Bool.random(using: &generator)), (keys[0], Bool.random(using: &generator))]
            limit = Int.random(in: 0..<8, using: &generator)
            offset = Int.random(in: 0..<5, using: &generator)
        }
    }

    var description: String { "\(entity) \(predicate ?? "-") \(sorts) \(limit) \(offset) \(includesSubentities)" }

    private static let keys = [
        "Person": ["name", "age", "boss.name", "boss.age", "desk.room"], "Author": ["name", "boss.boss.name", "penName"],
        "Book": ["title", "pages", "price", "author.name", "author.boss.age"],
        "Chapter": ["heading", "book.title", "book.author.name", "book.pages"], "Tag": ["label"],
    ]

    private static let conditions = [
        "Person": [
            "age > 2", "name BEGINSWITH 'a'", "boss == nil", "boss.age < 3", "boss.boss.name CONTAINS[c] 'b'", "ANY reports.age >= 3",
            "reports.@count > 1", "reports.@avg.age > 2", "SUBQUERY(reports, $r, $r.age > 2 AND $r.boss.age > 1).@count > 0",
            "ALL reports.age > 1",
        ],
        "Author": [
            "age BETWEEN {1, 3}", "ANY books.pages > 3", "books.@count == 0", "books.@sum.price > 4", "boss.name != 'a1'",
            "SUBQUERY(books, $b, $b.pages > 2 AND ANY $b.tags.label BEGINSWITH 'a').@count > 0", "ANY books.title LIKE '*1*'",
            "NONE books.price == nil", "reports.@max.age > 3",
        ],
        "Book": [
            "pages IN {1, 3, 5}", "price == nil", "price != 2", "author.age > 2", "author == nil", "author.boss.age <= 2",
            "ANY tags.label CONTAINS[cd] 'E'", "tags.@count >= 2", "chapters.@count < 2", "ANY chapters.heading ENDSWITH '3'",
            "SUBQUERY(tags, $t, $t.books.@count > 2).@count > 0", "title MATCHES '.*[1-3].*'", "pages > price", "author.reports.@count > 0",
        ],
        "Chapter": [
            "book.pages > 2", "book.author.age < 4", "book.author == nil", "ANY book.tags.label != nil", "book.chapters.@count > 2",
            "heading < 'b'", "book.author.boss.name != nil", "book.price + book.pages > 4",
        ],
        "Tag": [
            "label == nil", "label > 'M'", "ANY books.author.name BEGINSWITH[c] 'b'", "books.@count > 1", "ANY books.pages == 3",
            "SUBQUERY(books, $b, $b.author.age > 1).@count >= 1", "books.@min.pages > 0",
        ],
    ]
}
