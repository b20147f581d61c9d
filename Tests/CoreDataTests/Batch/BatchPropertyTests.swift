import Foundation
import Testing

@testable import CoreData

/// The same changes made twice, by batch requests in one store and by objects in another.
private struct TwoWays {
    let batch: Library
    let objects: Library
    private var random: SeededRandom
    private var number = 0

    init(_ kind: StoreKind, seed: UInt64) throws {
        (batch, objects) = (try Library(kind), try Library(kind))
        random = SeededRandom(state: seed)
        try fill(batch, SeededRandom(state: seed))
        try fill(objects, SeededRandom(state: seed))
    }

    /// The same objects, with relationships of every kind.
    private func fill(_ library: Library, _ seeded: SeededRandom) throws {
        var random = seeded
        let context = library.newContext()
        func names(_ count: Int) -> [String] { (0..<count).map { "\($0)" } }
        let authors = names(4).map { name in
            let author = Author(context: context)
            author.name = name
            return author
        }
        try context.save()
        let tags = names(3).map { name in
            let tag = Tag(context: context)
            tag.label = name
            return tag
        }
        try context.save()
        for room in names(4) {
            let desk = Desk(context: context)
            desk.room = room
            try context.save()
        }
        for author in authors.dropFirst() { author.boss = authors.randomElement(using: &random) }
        for name in names(10) {
            let book = Book(context: context)
            (book.title, book.pages, book.author) = (name, Int32.random(in: 0..<20, using: &random), authors.randomElement(using: &random))
            for tag in tags where Bool.random(using: &random) { book.tags.insert(tag) }
            try context.save()
            for heading in names(Int.random(in: 0..<3, using: &random)) {
                let chapter = Chapter(context: context)
                (chapter.heading, chapter.book) = (heading, book)
                try context.save()
            }
        }
    }

    mutating func step() throws -> String {
        number += 1
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return try insertBooks()
        case 1: return try insertChapters()
        case 2: return try updatePages()
        case 3: return try moveBooks()
        case 4: return try moveChapters()
        case 5: return try moveBosses()
        case 6: return try delete("Book", NSPredicate(format: "pages IN %@", (0..<7).map { _ in Int.random(in: 0..<40, using: &random) }))
        case 7: return try moveDesk()
        case 8: return try clearDesks()
        case 9: return try insertPersons()
        case 10:
            let number = Int32.random(in: 1..<9, using: &random)
            return try delete("Book", NSPredicate { object, _ in ((object as? Book)?.pages ?? 0) % number == 3 })
        default:
            let entity = ["Person", "Tag", "Chapter", "Author"].randomElement(using: &random) ?? "Tag"
            return try delete(entity, NSPredicate(format: "SELF == %@", try id(entity) ?? NSNull()))
        }
    }

    /// A random object, by its ID in the store of the batch requests: keys are the same in both.
    private mutating func id(_ entity: String) throws -> NSManagedObjectID? {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        (request.resultType, request.sortDescriptors) = (.managedObjectIDResultType, [NSSortDescriptor(key: "objectID", ascending: true)])
        return try batch.newContext().fetch(request).randomElement(using: &random)
    }

    /// The same object in the other store.
    private func other(_ id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let name = try #require(id.entity.name)
        let uri = try #require(
            URL(string: "x-coredata://\(objects.store.identifier ?? "")/\(name)/\(id.uriRepresentation().lastPathComponent)")
        )
        return context.object(with: try #require(objects.coordinator.managedObjectID(forURIRepresentation: uri)))
    }

    private func found(_ entity: String, _ predicate: NSPredicate, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        (request.predicate, request.sortDescriptors) = (predicate, [NSSortDescriptor(key: "objectID", ascending: true)])
        return try context.fetch(request)
    }

    private mutating func insertBooks() throws -> String {
        let (author, count) = (try id("Author"), Int.random(in: 1..<4, using: &random))
        let rows = (0..<count).map { ["title": "\(number) \($0)", "pages": 3 * number] as [String: Any] }
        try batch.newContext().batchInsert("Book", rows.map { row in author.map { row.merging(["author": $0]) { $1 } } ?? row })
        let context = objects.newContext()
        for row in rows {
            let book = Book(context: context)
            for (key, value) in row { book.setValue(value, forKey: key) }
            if let author { book.author = try other(author, in: context) as? Author }
        }
        try context.save()
        return "insert \(count) books"
    }

    private mutating func insertChapters() throws -> String {
        guard let book = try id("Book") else { return "nothing" }
        try batch.newContext().batchInsert("Chapter", [["heading": "\(number)", "book": book]])
        let context = objects.newContext()
        let chapter = Chapter(context: context)
        (chapter.heading, chapter.book) = ("\(number)", try other(book, in: context) as? Book)
        try context.save()
        return "insert a chapter"
    }

    private mutating func updatePages() throws -> String {
        let predicate = NSPredicate(format: "pages < %d OR author.name == %@", Int.random(in: 0..<20, using: &random), "1")
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.predicate = predicate
        request.propertiesToUpdate = ["pages": NSExpression(format: "pages + 2"), "copies": number]
        request.resultType = Bool.random(using: &random) ? .statusOnlyResultType : .updatedObjectIDsResultType
        try batch.newContext().execute(request)
        let context = objects.newContext()
        for case let book as Book in try found("Book", predicate, in: context) {
            (book.pages, book.copies) = (book.pages + 2, Int64(number))
        }
        try context.save()
        return "update \(predicate)"
    }

    /// Objects of the entity get another target, or none; all of them change, as they get another number too.
    private mutating func move(_ entity: String, _ key: String, to target: NSManagedObjectID?, _ mark: String, _ value: Any) throws {
        let predicate = NSPredicate(value: true)
        try batch.newContext().batchUpdate(entity, [key: target ?? NSNull(), mark: value])
        let context = objects.newContext()
        let end = try target.map { try other($0, in: context) }
        for object in try found(entity, predicate, in: context) {
            object.setValue(end, forKey: key)
            object.setValue(value, forKey: mark)
        }
        try context.save()
    }

    private mutating func moveBooks() throws -> String {
        try move("Book", "author", to: Bool.random(using: &random) ? try id("Author") : nil, "copies", number)
        return "move books"
    }

    private mutating func moveChapters() throws -> String {
        guard let book = try id("Book") else { return "nothing" }
        try move("Chapter", "book", to: book, "heading", "moved \(number)")
        return "move chapters"
    }

    private mutating func moveBosses() throws -> String {
        try move("Person", "boss", to: Bool.random(using: &random) ? try id("Person") : nil, "age", number)
        return "move bosses"
    }

    /// One person gets another desk, which somebody may have, or none.
    private mutating func moveDesk() throws -> String {
        guard let person = try id("Person") else { return "nothing" }
        let desk = Bool.random(using: &random) ? try id("Desk") : nil
        try batch.newContext().batchUpdate("Person", ["desk": desk ?? NSNull(), "age": number], where: "SELF == %@", person)
        let context = objects.newContext()
        let object = try #require(try other(person, in: context) as? Person)
        (object.desk, object.age) = (try desk.map { try other($0, in: context) } as? Desk, Int16(number))
        try context.save()
        return "move a desk"
    }

    private mutating func clearDesks() throws -> String {
        try move("Desk", "owner", to: nil, "room", "cleared \(number)")
        return "clear desks"
    }

    private mutating func insertPersons() throws -> String {
        let rows = try (0..<3).map { _ in
            try id("Desk").map { ["age": number, "desk": $0] as [String: Any] } ?? ["age": number]
        }
        try batch.newContext().batchInsert("Person", rows)
        let context = objects.newContext()
        for row in rows {
            let person = Person(context: context)
            person.age = Int16(number)
            person.desk = try (row["desk"] as? NSManagedObjectID).map { try other($0, in: context) } as? Desk
        }
        try context.save()
        return "insert persons"
    }

    private mutating func delete(_ entity: String, _ predicate: NSPredicate) throws -> String {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        fetch.predicate = predicate
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = Bool.random(using: &random) ? .resultTypeStatusOnly : .resultTypeObjectIDs
        let context = objects.newContext()
        let keys = try found(entity, predicate, in: batch.newContext())
        try batch.newContext().execute(request)
        for object in keys { context.delete(try other(object.objectID, in: context)) }
        try context.save()
        return "delete \(entity) \(predicate)"
    }

    /// What is in the files, row by row. Places in ordered relationships count by their order.
    func contents(_ library: Library) throws -> [String] {
        try [
            "SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZAGE, ZBOSS, ZDESK FROM ZPERSON ORDER BY Z_PK", "SELECT * FROM ZDESK ORDER BY Z_PK",
            "SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES, ZCOPIES, ZAUTHOR FROM ZBOOK ORDER BY Z_PK",
            "SELECT Z_PK, Z_ENT, Z_OPT, ZHEADING, ZBOOK FROM ZCHAPTER ORDER BY Z_PK",
            "SELECT Z_PK FROM ZCHAPTER ORDER BY ZBOOK, Z_FOK_BOOK", "SELECT COUNT(*) FROM ZCHAPTER WHERE Z_FOK_BOOK IS NULL",
            "SELECT Z_PK, Z_OPT, ZLABEL FROM ZTAG ORDER BY Z_PK", "SELECT * FROM Z_1TAGS ORDER BY 1, 2",
            "SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT",
        ].map { "\($0):\n\(try library.home.sql($0))" }
    }
}

private struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite("Batch requests and objects")
struct BatchPropertyTests {
    @Test("change the same rows in the same way, whatever the order of changes", arguments: 0..<20)
    func sameRows(seed: Int) throws {
        var ways = try TwoWays(.memory, seed: UInt64(seed))
        #expect(try ways.contents(ways.batch) == ways.contents(ways.objects))
        var steps: [String] = []
        for _ in 0..<12 {
            steps.append(try ways.step())
            let (batch, objects) = (try ways.contents(ways.batch), try ways.contents(ways.objects))
            for (left, right) in zip(batch, objects) where left != right {
                Issue.record("after \(steps): by batch\n\(left)\nby objects\n\(right)")
            }
            if batch != objects { return }
        }
    }
}
