import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The same changes made twice, by batch requests in one store and by objects in another.
private struct TwoWays {
    let batch: Library
    let objects: Library
    private var random: SplitMix
    private var number = 0
    /// Whether the stores keep a history, and people are unique by their names.
    private let isTracked: Bool

    init(_ kind: StoreKind, seed: UInt64, isTracked: Bool = false) throws {
        self.isTracked = isTracked
        let make = {
            try Library(kind, options: [NSPersistentHistoryTrackingKey: isTracked]) { model in
                if isTracked { model.entitiesByName["Person"]?.uniquenessConstraints = [["name"]] }
            }
        }
        (batch, objects) = (try make(), try make())
        random = SplitMix(state: seed)
        try fill(batch, SplitMix(state: seed))
        try fill(objects, SplitMix(state: seed))
    }

    /// The same objects, with relationships of every kind.
    private func fill(_ library: Library, _ seeded: SplitMix) throws {
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
        switch Int.random(in: 0..<(isTracked ? 15 : 12), using: &random) {
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
        case 12...14: return try upsertPersons()
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

    /// People who are there get new values, and another boss; the first may be new.
    private mutating func upsertPersons() throws -> String {
        let known = try found("Person", NSPredicate(format: "name != nil"), in: batch.newContext()).compactMap { $0 as? Person }
        var rows: [[String: Any]] = Bool.random(using: &random) ? [["name": "new \(number)", "age": number]] : []
        for person in known.shuffled(using: &random).prefix(3) {
            rows.append(["name": person.name ?? "", "age": number])
            if let boss = try id("Person"), boss != person.boss?.objectID { rows[rows.count - 1]["boss"] = boss }
        }
        if rows.isEmpty { return "nothing" }
        let (upserting, context) = (batch.newContext(), objects.newContext())
        for context in [upserting, context] { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        try upserting.batchInsert("Person", rows, type: Bool.random(using: &random) ? .statusOnly : .objectIDs)
        for row in rows {
            let person = Person(context: context)
            (person.name, person.age) = (row["name"] as? String, Int16(number))
            if let boss = row["boss"] as? NSManagedObjectID { person.boss = try other(boss, in: context) as? Person }
        }
        try context.save()
        // A batch insert gives each row a key, also where it goes into one that is there.
        let last = try batch.home.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'")
        #expect(try objects.home.sql("UPDATE Z_PRIMARYKEY SET Z_MAX = \(last) WHERE Z_NAME = 'Person'") == "")
        return "upsert \(rows)"
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

/// What their histories tell.
extension TwoWays {
    /// The changes of all transactions behind a number, by object: the kind, and which properties.
    private func told(_ library: Library, after number: Int64) throws -> [[String: Set<String>]] {
        try library.newContext().history().filter { $0.transactionNumber > number }.map { transaction in
            let lines = (transaction.changes ?? []).map { $0.told.split(separator: " ").map(String.init) }
            return Dictionary(lines.map { ($0[0] + " " + $0[1], Set($0.dropFirst(2))) }) { $0.union($1) }
        }
    }

    var transactions: Int64 { get throws { try batch.newContext().history().last?.transactionNumber ?? 0 } }

    /// Where what batch requests tell is not what objects tell.
    ///
    /// NB: a batch request names all that it has set, objects what is another value by that.
    func differences(after number: Int64) throws -> [String] {
        let (left, right) = (try told(batch, after: number), try told(objects, after: number))
        guard left.count == right.count else { return ["\(left.count) transactions, \(right.count) by objects: \(left) \(right)"] }
        return zip(left, right).flatMap { batch, objects in
            Set(batch.keys).union(objects.keys).sorted().compactMap { change in
                if let all = batch[change], let some = objects[change], some.isSubset(of: all) { return nil }
                return "\(change): \(batch[change].map { "\($0)" } ?? "-"), by objects \(objects[change].map { "\($0)" } ?? "-")"
            }
        }
    }

    /// Copies of the files as they are.
    func copies() throws -> [URL] {
        try [batch, objects].map { (library: Library) throws -> URL in
            let url = library.url.deletingLastPathComponent().appendingPathComponent("older.sqlite")
            #expect(try library.sql("VACUUM INTO '\(url.path)'") == "")
            return url
        }
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

    // * Of two people who are there one gets the other as a boss, who is in the request too.
    // => Each has had one change, as with objects.
    @Test("changes a row once that is written, and gets a member of the same request", arguments: StoreKind.allCases, [false, true])
    func reflexive(_ kind: StoreKind, listsKeys: Bool) throws {
        let library = try Library(kind) { $0.entitiesByName["Person"]?.uniquenessConstraints = [["name"]] }
        let people = ["A", "B"].map { name in
            let person = Person(context: library.context)
            person.name = name
            return person
        }
        try library.context.save()
        let context = library.newContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let rows: [[String: Any]] = [["name": "A", "boss": people[1].objectID], ["name": "B", "age": 5], ["name": "C"]]
        try context.batchInsert("Person", rows, type: listsKeys ? .objectIDs : .statusOnly)
        #expect(try library.sql("SELECT ZNAME, ZBOSS, Z_OPT FROM ZPERSON ORDER BY ZNAME") == "A|2|2\nB||2\nC||1")
    }

    // * The same with a history, and upserts. Steps of random kinds, in two stores of a kind.
    // => After each, rows and versions are the same, and the histories tell of the same changes; in files they lead from a copy to the store.
    @Test("change and tell the same with a history, upserts too", arguments: StoreKind.allCases, 0..<6)
    func sameHistories(_ kind: StoreKind, seed: Int) throws {
        var ways = try TwoWays(kind, seed: UInt64(100 + seed), isTracked: true)
        let copies = kind == .file ? try ways.copies() : []
        var steps: [String] = []
        for _ in 0..<(kind == .file ? 6 : 15) {
            let number = try ways.transactions
            steps.append(try ways.step())
            let (batch, objects) = (try ways.contents(ways.batch), try ways.contents(ways.objects))
            for (left, right) in zip(batch, objects) where left != right {
                Issue.record("after \(steps): by batch\n\(left)\nby objects\n\(right)")
            }
            let differences = try ways.differences(after: number)
            if !differences.isEmpty { Issue.record("after \(steps): \(differences)") }
            if batch != objects || !differences.isEmpty { return }
        }
        for (library, copy) in zip([ways.batch, ways.objects], copies) {
            let problems = try StoreInspector(url: library.url).problems(since: StoreInspector(url: copy), with: library.model)
            #expect(problems == [], "after \(steps)")
        }
    }
}
