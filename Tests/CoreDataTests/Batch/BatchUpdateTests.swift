import Foundation
import Testing

@testable import CoreData

@Suite("A batch update")
struct BatchUpdateTests {
    @Test("sets constants of every kind, and versions rise", arguments: StoreKind.allCases)
    func constants(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let book = try #require(try library.save(["A": 1, "B": 2]).first)
        let (date, uuid) = (Date(timeIntervalSinceReferenceDate: 1000.5), UUID())
        let result = try library.context.batchUpdate(
            "Book",
            [
                "title": "Ä 𝛀", "pages": 7, "price": 2.5, "published": date, "isLent": true, "cover": Data([1, 0, 2]), "isbn": uuid,
                "copies": NSNumber(value: Int64.max), "weight": Float(0.1),
            ],
            where: "title == 'A'"
        )
        #expect(result.count == 1)
        library.context.refresh(book, mergeChanges: false)
        #expect(book.title == "Ä 𝛀" && book.pages == 7 && book.price == 2.5 && book.published == date && book.isLent)
        #expect(book.cover == Data([1, 0, 2]) && book.isbn == uuid && book.copies == .max && book.weight == 0.1)
        #expect(try library.sql("SELECT Z_OPT FROM ZBOOK ORDER BY Z_PK") == "2\n1")
        try library.context.batchUpdate("Book", ["cover": NSNull(), "isbn": NSNull(), "price": NSNull()])
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZCOVER IS NULL AND ZISBN IS NULL AND ZPRICE IS NULL") == "2")
    }

    @Test("advances versions that others wrote as anything", arguments: ["4.5": 5, "NULL": 1, "'x'": 1, "\(Int64.max)": 1, "-7": -6])
    func strangeVersions(_ version: (written: String, next: Int32)) throws {
        let library = try Library(.file)
        try library.save(["A": 1])
        _ = try library.sql("UPDATE ZBOOK SET Z_OPT = \(version.written)")
        try library.context.batchUpdate("Book", ["pages": 2])
        let other = try library.separateContext()
        let book = try #require(other.fetch(NSFetchRequest<Book>(entityName: "Book")).first)
        #expect(book.committedRow?.version == version.next)
        book.pages += 1
        try other.save()
        #expect(try library.sql("SELECT ZPAGES FROM ZBOOK") == "3")
    }

    @Test("computes expressions from values as they were", arguments: StoreKind.allCases)
    func expressions(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1, "B": 2])
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.propertiesToUpdate = [
            "pages": NSExpression(format: "pages * 10 + 1"), "copies": NSExpression(forKeyPath: "pages"),
            "price": NSExpression(format: "pages / 2.0"), "title": NSExpression(forConstantValue: "C"),
        ]
        let result = try library.context.execute(request) as? NSBatchUpdateResult
        #expect(result?.result as? Bool == true)
        #expect(try library.sql("SELECT ZTITLE, ZPAGES, ZCOPIES, ZPRICE, Z_OPT FROM ZBOOK ORDER BY Z_PK") == "C|11|1|0.5|2\nC|21|2|1.0|2")
    }

    @Test("computes from what key paths lead to, before anything is written", arguments: StoreKind.allCases)
    func keyPathExpressions(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.context
        let people = (0..<3).map { number in
            let person = Person(context: context)
            (person.name, person.age) = ("\(number)", Int16(number))
            return person
        }
        (people[1].boss, people[2].boss) = (people[0], people[1])
        try context.save()
        try context.batchUpdate("Person", ["age": NSExpression(format: "boss.age + 10"), "name": NSExpression(forKeyPath: "boss.name")])
        #expect(try library.sql("SELECT ZNAME, ZAGE FROM ZPERSON ORDER BY Z_PK") == "|\n0|10\n1|11")
        try context.batchUpdate("Person", ["age": NSExpression(format: "reports.@count")])
        #expect(try library.sql("SELECT ZAGE FROM ZPERSON ORDER BY Z_PK") == "1\n1\n0")
    }

    @Test("takes descriptions of properties as keys", arguments: StoreKind.allCases)
    func descriptions(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1])
        let entity = try #require(library.model.entitiesByName["Book"])
        let pages = try #require(entity.attributesByName["pages"])
        let request = NSBatchUpdateRequest(entity: entity)
        request.propertiesToUpdate = [pages: 9]
        try library.context.execute(request)
        #expect(try library.books() == "A|9|2")
        #expect(request.entity === entity && request.entityName == "Book")
    }

    @Test("sets to-one relationships by ID: owners count as changed, ordered members go to the end", arguments: StoreKind.allCases)
    func relationships(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.context
        let books = try library.save(["A": 1, "B": 2])
        for (number, book) in [0, 0, 1].enumerated() {
            let chapter = Chapter(context: context)
            (chapter.heading, chapter.book) = ("\(number)", books[book])
        }
        try context.save()
        let result = try context.batchUpdate(
            "Chapter",
            ["book": books[1].objectID],
            where: "book.title == 'A'",
            type: .updatedObjectIDsResultType
        )
        #expect((result.result as? [NSManagedObjectID])?.count == 2)
        #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK ORDER BY Z_PK") == "A|3\nB|3")
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: result.changedObjectIDs, into: [context])
        context.refreshAllObjects()
        #expect(books[1].chapters.map(\.heading) == ["2", "0", "1"] && books[0].chapters.isEmpty)
        let author = Author(context: context)
        try context.save()
        try context.batchUpdate("Book", ["author": author.objectID])
        try context.batchUpdate("Book", ["author": NSNull()], where: "title == 'A'")
        #expect(try library.sql("SELECT ZTITLE, ZAUTHOR, Z_OPT FROM ZBOOK ORDER BY Z_PK") == "A||5\nB|1|4")
        #expect(try library.sql("SELECT Z_OPT FROM ZPERSON") == "3")
    }

    @Test("changes objects of subentities unless told not to", arguments: StoreKind.allCases)
    func subentities(_ kind: StoreKind) throws {
        let library = try Library(kind)
        _ = (Person(context: library.context), Author(context: library.context))
        try library.context.save()
        #expect(try library.context.batchUpdate("Person", ["age": 1]).count == 2)
        #expect(try library.context.batchUpdate("Person", ["age": 2]) { $0.includesSubentities = false }.count == 1)
        #expect(try library.sql("SELECT ZAGE FROM ZPERSON ORDER BY ZAGE") == "1\n2")
    }

    // * An expression gives a number that no float, or no decimal, can hold; then infinity, which a float can.
    // => An error names the attribute; the infinite float is there.
    @Test("refuses what an expression gives beyond all floats and decimals")
    func beyond() throws {
        let stage = try Stage {
            let types = [("ratio", NSAttributeType.doubleAttributeType), ("weight", .floatAttributeType), ("price", .decimalAttributeType)]
            return [LibraryModel.entity("Item", NSManagedObject.self, types.map { LibraryModel.attribute($0.0, $0.1) })]
        }
        NSEntityDescription.insertNewObject(forEntityName: "Item", into: stage.context)["ratio"] = -1e300
        try stage.context.save()
        for key in ["weight", "price"] {
            expectError(.managedObjectValidation, "Item.\(key)", "no room") {
                try stage.context.batchUpdate("Item", [key: NSExpression(forKeyPath: "ratio")])
            }
        }
        let infinite = NSExpression(format: "ratio * 1e300")
        try stage.context.batchUpdate("Item", ["weight": infinite])
        expectError(.managedObjectValidation, "Item.price", "no room") { try stage.context.batchUpdate("Item", ["price": infinite]) }
        #expect(try stage.sql("SELECT ZWEIGHT = -9e999, ZPRICE IS NULL FROM ZITEM") == "1|1")
    }

    @Test("refuses what it cannot write, names entity and key, and writes nothing", arguments: StoreKind.allCases)
    func refusals(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let book = try #require(try library.save(["A": 1, "B": 40_000]).first)
        let context = library.context
        expectError(.coreData, "Book.nothing") { try context.batchUpdate("Book", ["pages": 5, "nothing": 1]) }
        expectError(.managedObjectValidation, "Book.pages") { try context.batchUpdate("Book", ["pages": "five"]) }
        expectError(.validationNumberTooLarge, "Book.pages") { try context.batchUpdate("Book", ["pages": Int64(1) << 40]) }
        expectError(.validationNumberTooLarge, "Book.weight", "no room") { try context.batchUpdate("Book", ["weight": 1e300]) }
        expectError(.validationNumberTooSmall, "Book.weight", "no room") { try context.batchUpdate("Book", ["weight": -1e300]) }
        expectError(.validationMissingMandatoryProperty, "Book.title") { try context.batchUpdate("Book", ["title": NSNull(), "pages": 5]) }
        expectError(.validationMissingMandatoryProperty, "Chapter.book") { try context.batchUpdate("Chapter", ["book": NSNull()]) }
        expectError(.coreData, "Book.tags", "to-many") { try context.batchUpdate("Book", ["tags": NSNull()]) }
        expectError(.managedObjectValidation, "Book.author", "Author") { try context.batchUpdate("Book", ["author": book.objectID]) }
        expectError(.managedObjectValidation, "Book.author") { try context.batchUpdate("Book", ["author": "Ada"]) }
        let unsaved = Author(context: context)
        expectError(.managedObjectReferentialIntegrity, "Book.author") { try context.batchUpdate("Book", ["author": unsaved.objectID]) }
        expectError(.managedObjectValidation, "Book.pages") {
            try context.batchUpdate("Book", ["pages": NSExpression(format: "pages * 100000")])
        }
        expectError(.managedObjectValidation, "Book.title") {
            try context.batchUpdate("Book", ["title": NSExpression(forKeyPath: "author.name")])
        }
        expectError(.managedObjectValidation, "Book.title") {
            try context.batchUpdate("Book", ["title": NSExpression(forKeyPath: "pages")])
        }
        expectError(.coreData, "Book.title", "uppercase") {
            try context.batchUpdate("Book", ["title": NSExpression(format: "uppercase(title)")])
        }
        expectError(.coreData, "propertiesToUpdate") { try context.batchUpdate("Book", [:]) }
        expectError(.managedObjectValidation, "Book.price") { try context.batchUpdate("Book", ["price": Double.nan]) }
        #expect(try library.books() == "A|1|1\nB|40000|1")
        context.rollback()
    }

    @Test("that breaks a uniqueness constraint fails with 133021, and writes nothing", arguments: StoreKind.allCases)
    func constraints(_ kind: StoreKind) throws {
        let store = try UniqueStore(kind, .mergeByPropertyObjectTrump)
        try store.saved("Ada", "Bob")
        expectError(.managedObjectConstraintMerge, "Owner") { try store.context.batchUpdate("Owner", ["name": "Cleo", "score": 9]) }
        #expect(try store.owners() == "1|Ada|stored|1\n2|Bob|stored|1")
    }
    @Test("may give a row the unique value of one that gets another", arguments: StoreKind.allCases)
    func uniqueOnTheWay(_ kind: StoreKind) throws {
        let library = try Library(kind) { $0.entitiesByName["Book"]?.uniquenessConstraints = [["pages"]] }
        let context = library.context
        try library.save(["A": 1, "B": 2, "C": 3, "D": 10])
        let result = try context.batchUpdate("Book", ["pages": NSExpression(format: "pages + 1"), "copies": 5], where: "pages < 4")
        #expect(result.count == 3)
        #expect(try library.books() == "A|2|2\nB|3|2\nC|4|2\nD|10|1")
        #expect(try library.sql("SELECT ZCOPIES FROM ZBOOK WHERE ZCOPIES = 5") == "5\n5\n5")
        try context.batchUpdate("Book", ["pages": NSExpression(format: "6 - pages")], where: "pages < 5", type: .updatedObjectIDsResultType)
        #expect(try library.books() == "A|4|3\nB|3|3\nC|2|3\nD|10|1")
        // * Two of them would have one value at the end, or one that another has.
        for format in ["pages - pages", "pages + 8"] {
            expectError(.managedObjectConstraintMerge, "Book") {
                try context.batchUpdate("Book", ["pages": NSExpression(format: format)], where: "pages < 5")
            }
        }
        expectError(.managedObjectValidation, "Book.pages") {
            try context.batchUpdate(
                "Book",
                ["pages": NSExpression(format: "1 + (pages - 1) * 900000000")],
                where: "pages < 5 OR pages == 10"
            )
        }
        #expect(try library.books() == "A|4|3\nB|3|3\nC|2|3\nD|10|1")
    }
}
