import Foundation
import Testing

@testable import CoreData

@Suite("A batch insert")
struct BatchInsertTests {
    @Test("inserts dictionaries, with defaults for what is not given", arguments: StoreKind.allCases)
    func dictionaries(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let (date, uuid) = (Date(timeIntervalSinceReferenceDate: 1000.5), UUID())
        let result = try library.context.batchInsert(
            "Book",
            [
                [
                    "title": "A", "pages": 7, "price": 2.5, "published": date, "isLent": true, "cover": Data([1, 0, 2]), "isbn": uuid,
                    "copies": Int64.min, "weight": Float(0.1),
                ],
                ["title": "", "pages": NSNumber(value: 8), "price": NSNull()],
            ]
        )
        #expect(result.count == 2 && result.resultType == .count)
        #expect(try library.sql("SELECT Z_PK, Z_OPT, ZTITLE, ZPAGES, ZISLENT FROM ZBOOK ORDER BY Z_PK") == "1|1|A|7|1\n2|1||8|0")
        let books = try library.context.fetch(NSFetchRequest<Book>(entityName: "Book"))
        let book = try #require(books.first { $0.title == "A" })
        #expect(book.price == 2.5 && book.published == date && book.cover == Data([1, 0, 2]) && book.isbn == uuid)
        #expect(book.copies == .min && book.weight == 0.1)
    }

    @Test("takes a part of a text for a text, as an update and an object do", arguments: StoreKind.allCases)
    func partsOfTexts(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let parts = "one,two,three,four".split(separator: ",")
        try library.context.batchInsert("Tag", [["label": parts[0]]])
        var rest = [parts[1]]
        let request = NSBatchInsertRequest(entityName: "Tag") { dictionary in
            guard let part = rest.popLast() else { return true }
            dictionary["label"] = part
            return false
        }
        try library.context.execute(request)
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: library.context).setValue(parts[2], forKey: "label")
        try library.context.save()
        let update = NSBatchUpdateRequest(entityName: "Tag")
        (update.predicate, update.propertiesToUpdate) = (NSPredicate(format: "label == 'one'"), ["label": parts[3]])
        try library.context.execute(update)
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG ORDER BY Z_PK") == "four\ntwo\nthree")
    }

    @Test("gives the IDs of the new objects in order, which others do not get again", arguments: StoreKind.allCases)
    func ids(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1])
        let ids = try #require(
            try library.context.batchInsert("Book", (0..<120).map { ["title": "\($0)"] }, type: .objectIDs).result as? [NSManagedObjectID]
        )
        #expect(ids.map { (library.context.object(with: $0) as? Book)?.title } == (0..<120).map { "\($0)" })
        let book = try library.savedBook()
        #expect(book.objectID.uriRepresentation().lastPathComponent == "p122")
    }

    // * A relationship is set to an object that was deleted in the meantime.
    // => As for one that was never saved: an error that names entity and key, and nothing is written.
    @Test("refuses a target that is in the store no more", arguments: StoreKind.allCases)
    func goneTargets(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let author = Author(context: library.context)
        try library.save(["A": 1])
        let id = author.objectID
        library.context.delete(author)
        try library.context.save()
        expectError(.managedObjectReferentialIntegrity, "Book.author", "Author/p1") {
            try library.context.batchInsert("Book", [["title": "B"], ["title": "C", "author": id]])
        }
        expectError(.managedObjectReferentialIntegrity, "Book.author", "Author/p1") {
            try library.context.batchUpdate("Book", ["author": id])
        }
        #expect(try library.books() == "A|1|1")
    }

    @Test("takes a boxed nil for nil, as a bridge does", arguments: StoreKind.allCases)
    func boxedNil(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let (none, some): (Int32?, Int32?) = (nil, 3)
        try library.context.batchInsert("Book", [["title": "A", "pages": none as Any], ["title": "B", "pages": some as Any]])
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK ORDER BY ZTITLE") == "A|\nB|3")
        try library.context.batchUpdate("Book", ["pages": none as Any], where: "title == 'B'")
        #expect(try library.sql("SELECT COUNT(ZPAGES) FROM ZBOOK") == "0")
        expectError(.validationMissingMandatoryProperty, "Book.title") {
            try library.context.batchInsert("Book", [["title": String?.none as Any]])
        }
    }

    private var misfits: [(Any, CocoaError.Code, String)] {
        [
            (UInt64.max, .validationNumberTooLarge, "18446744073709551615"), (9.3e18, .validationNumberTooLarge, "no room for"),
            (-9.3e18, .validationNumberTooSmall, "no room for"), (Double.infinity, .validationNumberTooLarge, "inf"),
            (3.7, .managedObjectValidation, "a whole number, not 3.7"), (Double.nan, .managedObjectValidation, "is not a number"),
        ]
    }

    @Test("says of a number that does not fit what it is", arguments: StoreKind.allCases)
    func misfits(_ kind: StoreKind) throws {
        let library = try Library(kind)
        for (value, code, words) in misfits {
            expectError(code, "Book.copies", words) { try library.context.batchInsert("Book", [["title": "A", "copies": value]]) }
            expectError(code, "Book.copies", words) { try library.context.batchUpdate("Book", ["copies": value]) }
        }
    }

    @Test("calls a handler of dictionaries until it says that there is no more", arguments: StoreKind.allCases)
    func dictionaryHandler(_ kind: StoreKind) throws {
        let library = try Library(kind)
        var calls = 0
        let request = NSBatchInsertRequest(entityName: "Book") { (dictionary: NSMutableDictionary) -> Bool in
            #expect(dictionary.count == 0)
            calls += 1
            dictionary["title"] = "\(calls)"
            if calls == 2 { dictionary["pages"] = 5 }
            return calls > 3
        }
        request.resultType = .count
        #expect((try library.context.execute(request) as? NSBatchInsertResult)?.count == 3)
        #expect(calls == 4)
        #expect(try library.books() == "1||1\n2|5|1\n3||1")
    }

    @Test("calls a handler of objects until it says that there is no more", arguments: StoreKind.allCases)
    func objectHandler(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let author = Author(context: library.context)
        try library.context.save()
        var number = 0
        let entity = try #require(library.model.entitiesByName["Book"])
        let request = NSBatchInsertRequest(entity: entity) { (object: NSManagedObject) -> Bool in
            guard let book = object as? Book, book.title == nil, book.author == nil else {
                Issue.record("\(object)")
                return true
            }
            book.title = "A text that is longer than fifteen bytes, no. \(number)"
            if number == 1 { book.author = author }
            book.setValue(number, forKey: "pages")
            number += 1
            // The context can be used meanwhile.
            if number == 50 { _ = try? library.context.count(for: NSFetchRequest<Book>(entityName: "Book")) }
            return number > 120
        }
        try library.context.execute(request)
        #expect(try library.sql("SELECT COUNT(*), SUM(ZPAGES), COUNT(ZAUTHOR), COUNT(DISTINCT ZTITLE) FROM ZBOOK") == "120|7140|1|120")
        #expect(try library.sql("SELECT Z_OPT FROM ZPERSON") == "2")
        #expect(!library.context.hasChanges)
    }

    @Test("inserts nothing for no rows", arguments: StoreKind.allCases)
    func nothing(_ kind: StoreKind) throws {
        let library = try Library(kind)
        #expect(try library.context.batchInsert("Book", []).count == 0)
        #expect(try library.context.batchInsert("Book", [], type: .statusOnly).result as? Bool == true)
        try library.context.execute(NSBatchInsertRequest(entityName: "Book") { (_: NSManagedObject) in true })
        #expect(try library.books() == "")
    }

    @Test("sets to-one relationships by ID, at the end of ordered ones; owners count as changed", arguments: StoreKind.allCases)
    func relationships(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let book = try library.savedBook()
        let first = Chapter(context: library.context)
        (first.heading, first.book) = ("0", book)
        try library.context.save()
        try library.context.batchInsert("Chapter", (1...3).map { ["heading": "\($0)", "book": book.objectID] })
        library.context.refreshAllObjects()
        #expect(book.chapters.map(\.heading) == ["0", "1", "2", "3"])
        #expect(try library.sql("SELECT Z_OPT FROM ZBOOK") == "3")
    }

    @Test("refuses what cannot be a row, names entity and key, and inserts nothing", arguments: StoreKind.allCases)
    func refusals(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let book = try library.savedBook()
        let context = library.context
        let good: [String: Any] = ["title": "A"]
        expectError(.coreData, "Book.nothing") { try context.batchInsert("Book", [good, ["title": "B", "nothing": 1]]) }
        expectError(.validationMissingMandatoryProperty, "Book.title") { try context.batchInsert("Book", [good, ["pages": 1]]) }
        expectError(.validationMissingMandatoryProperty, "Book.title") { try context.batchInsert("Book", [good, ["title": NSNull()]]) }
        expectError(.managedObjectValidation, "Book.title") { try context.batchInsert("Book", [good, ["title": 1]]) }
        expectError(.validationNumberTooLarge, "Book.pages") { try context.batchInsert("Book", [good, ["title": "B", "pages": 1 << 40]]) }
        expectError(.managedObjectValidation, "Book.price") { try context.batchInsert("Book", [["title": "B", "price": Double.nan]]) }
        expectError(.coreData, "Book.chapters") { try context.batchInsert("Book", [["title": "B", "chapters": [book]]]) }
        expectError(.validationMissingMandatoryProperty, "Chapter.book") { try context.batchInsert("Chapter", [["heading": "I"]]) }
        expectError(.managedObjectValidation, "Chapter.book") { try context.batchInsert("Chapter", [["book": "I"]]) }
        expectError(.validationNumberTooLarge, "Book.pages") {
            var isDone = false
            try context.execute(
                NSBatchInsertRequest(entityName: "Book") { (object: NSManagedObject) -> Bool in
                    defer { isDone = true }
                    object.setValue("B", forKey: "title")
                    object.setValue(1 << 40, forKey: "pages")
                    return isDone
                }
            )
        }
        #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK") == "T|1")
    }

    @Test("keeps texts of all sizes and with every byte", arguments: StoreKind.allCases)
    func texts(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let titles = ["", "a\u{0}b", "👩‍👩‍👧", String(repeating: "ä", count: 1_000_000), "short"]
        var next = 0
        try library.context.execute(
            NSBatchInsertRequest(entityName: "Book") { (object: NSManagedObject) -> Bool in
                guard next < titles.count else { return true }
                (object as? Book)?.title = titles[next]
                (object as? Book)?.cover = Data(repeating: 7, count: next)
                next += 1
                return false
            }
        )
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
        let books = try library.context.fetch(request)
        #expect(books.map(\.title) == titles)
        #expect(books.map { $0.cover?.count } == [0, 1, 2, 3, 4])
    }
}
