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

@Suite("A batch insert under uniqueness constraints")
struct BatchUpsertTests {
    private static var rows: [[String: Any]] {
        [
            ["name": "Bob", "note": "given"], ["name": "Cleo", "note": "given"], ["name": "Ada", "score": 5],
            ["name": "Cleo", "score": 6],
        ]
    }

    private func insert(_ kind: StoreKind, _ policy: NSMergePolicy, type: NSBatchInsertRequestResultType = .count) throws -> (
        UniqueStore, Any?
    ) {
        let store = try UniqueStore(kind, policy)
        try store.saved("Ada", "Bob")
        return (store, try store.context.batchInsert("Owner", Self.rows, type: type).result)
    }

    private func values(_ store: UniqueStore) throws -> String {
        try store.home.sql("SELECT ZNAME, ZNOTE, ZSCORE, Z_OPT FROM ZOWNER ORDER BY ZNAME")
    }

    @Test("with object trump, writes what was given into rows that are there", arguments: StoreKind.allCases)
    func objectTrump(_ kind: StoreKind) throws {
        let (store, count) = try insert(kind, .mergeByPropertyObjectTrump)
        #expect(try values(store) == "Ada|stored|5|2\nBob|given|1|2\nCleo|given|6|2")
        // Two rows are Cleo.
        #expect(count as? Int == 3)
    }

    @Test("with overwrite, writes whole rows", arguments: StoreKind.allCases)
    func overwrite(_ kind: StoreKind) throws {
        let (store, _) = try insert(kind, .overwrite)
        #expect(try values(store) == "Ada||5|2\nBob|given|7|2\nCleo||6|2")
    }

    @Test("with store trump and rollback, leaves rows that are there", arguments: StoreKind.allCases)
    func storeTrump(_ kind: StoreKind) throws {
        for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .rollback] {
            let (store, count) = try insert(kind, policy)
            #expect(try values(store) == "Ada|stored|1|1\nBob|stored|1|1\nCleo|given|7|1")
            #expect(count as? Int == 1)
        }
    }

    @Test("with the error policy, fails and inserts nothing", arguments: StoreKind.allCases)
    func errorPolicy(_ kind: StoreKind) throws {
        let store = try UniqueStore(kind)
        try store.saved("Bob")
        expectError(.managedObjectConstraintMerge, "Owner", "NSBatchInsertRequest", "of name,") {
            try store.context.batchInsert("Owner", Self.rows)
        }
        #expect(try values(store) == "Bob|stored|1|1")
    }

    @Test("tells new objects from those that were there", arguments: StoreKind.allCases)
    func results(_ kind: StoreKind) throws {
        let store = try UniqueStore(kind, .mergeByPropertyObjectTrump)
        try store.saved("Ada", "Bob")
        let bob = try store.context.found("Owner", "name", "Bob")
        bob.setValue("mine", forKey: "note")
        let result = try store.context.batchInsert("Owner", Self.rows, type: .objectIDs)
        let ids = try #require(result.result as? [NSManagedObjectID])
        #expect(Set(ids).count == 3 && ids.contains(bob.objectID))
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: result.changedObjectIDs, into: [store.context])
        // What is unsaved here stays, on top of what is new.
        #expect(bob.text("note") == "mine")
        try store.context.save()
        #expect(try values(store) == "Ada|stored|5|2\nBob|mine|1|3\nCleo|given|6|2")
    }

    @Test("takes a row from the one who had it, who counts as changed", arguments: StoreKind.allCases)
    func movedMembers(_ kind: StoreKind) throws {
        let store = try UniqueStore(kind, .mergeByPropertyObjectTrump)
        let (red, blue) = (store.context.make("Team", ["name": "red"]), store.context.make("Team", ["name": "blue"]))
        for name in ["Ada", "Bob", "Cleo"] { store.context.make("Owner", ["name": name, "team": red]) }
        try store.context.save()
        #expect(red.members("members").count == 3)
        let rows: [[String: Any]] = [
            ["name": "Ada", "team": blue.objectID], ["name": "Bob", "team": NSNull()], ["name": "Cleo", "note": "stays"],
        ]
        let result = try store.context.batchInsert("Owner", rows, type: .objectIDs)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: result.changedObjectIDs, into: [store.context])
        #expect(red.members("members").map { $0.text("name") } == ["Cleo"])
        #expect(blue.members("members").map { $0.text("name") } == ["Ada"])
        #expect(try store.home.sql("SELECT ZNAME, Z_OPT FROM ZTEAM ORDER BY ZNAME") == "blue|2\nred|2")
        // The row cache has forgotten who had it, also where nobody asks for IDs.
        try store.context.batchInsert("Owner", [["name": "Cleo", "team": blue.objectID]])
        let other = try store.otherContext(separate: false)
        #expect(try other.found("Team", "name", "red").members("members").isEmpty)
        #expect(try store.home.sql("SELECT ZNAME, Z_OPT FROM ZTEAM ORDER BY ZNAME") == "blue|3\nred|3")
    }

    // * The first of three chapters is given once more: with its book, and then with another one.
    // => It stays where it is, and the book counts as unchanged; then it is the other's last, and both count as changed.
    @Test("leaves a member where it is in its owner's order, unless it gets another owner", arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
            let library = try Library(kind) { $0.entitiesByName["Chapter"]?.uniquenessConstraints = [["heading"]] }
            let context = library.context
            context.mergePolicy = policy
            let (book, other) = (try library.savedBook(), try library.savedBook("U"))
            func headings(_ book: Book) -> [String?] {
                context.refreshAllObjects()
                return book.chapters.map(\.heading)
            }
            try context.batchInsert("Chapter", ["a", "b", "c"].map { ["heading": $0, "book": book.objectID] })
            try context.batchInsert("Chapter", [["heading": "x", "book": other.objectID]])
            for type in [NSBatchInsertRequestResultType.objectIDs, .statusOnly] {
                let result = try context.batchInsert("Chapter", [["heading": "a", "book": book.objectID]], type: type)
                if type == .objectIDs { #expect((result.changedObjectIDs[NSUpdatedObjectIDsKey] as? [NSManagedObjectID])?.count == 1) }
            }
            #expect(headings(book) == ["a", "b", "c"])
            #expect(try library.sql("SELECT Z_OPT FROM ZBOOK ORDER BY Z_PK") == "2\n2")
            try context.batchInsert("Chapter", [["heading": "a", "book": other.objectID]])
            #expect(headings(book) == ["b", "c"] && headings(other) == ["x", "a"])
            #expect(try library.sql("SELECT Z_OPT FROM ZBOOK ORDER BY Z_PK") == "3\n3")
        }
    }

    @Test("names a row once that several of the request have become", arguments: StoreKind.allCases)
    func repeated(_ kind: StoreKind) throws {
        let store = try UniqueStore(kind, .mergeByPropertyObjectTrump)
        try store.saved("Ada")
        let rows = ["Ada", "Bob", "Ada", "Bob"].map { ["name": $0, "note": "x"] }
        let result = try store.context.batchInsert("Owner", rows, type: .objectIDs)
        #expect((result.result as? [NSManagedObjectID])?.count == 2)
        #expect((result.changedObjectIDs[NSInsertedObjectIDsKey] as? [NSManagedObjectID])?.count == 1)
        #expect(try store.context.batchInsert("Owner", rows).count == 2)
    }

    // * Two stores; a request names one, the other, none, and both.
    // => What is named is meant; the first of several, in the order of the coordinator.
    @Test("goes into the store that it names", arguments: StoreKind.allCases)
    func affectedStores(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let url = library.home.url("Other.sqlite")
        let other = try library.coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: nil)
        func insert(into stores: [NSPersistentStore]?) throws -> NSPersistentStore? {
            let request = NSBatchInsertRequest(entityName: "Book", objects: [["title": "A"]])
            (request.affectedStores, request.resultType) = (stores, .objectIDs)
            let result = try library.context.execute(request) as? NSBatchInsertResult
            return (result?.result as? [NSManagedObjectID])?.first?.persistentStore
        }
        #expect(try insert(into: [other]) === other)
        #expect(try insert(into: [library.store]) === library.store)
        #expect(try insert(into: [other, library.store]) === library.store)
        expectError(.persistentStoreOperation, "Book", "names no store") { _ = try insert(into: []) }
    }

    @Test("tells of a row what it is, where it is of another entity of the tree", arguments: StoreKind.allCases)
    func otherEntities(_ kind: StoreKind) throws {
        let store = try UniqueStore(kind, .mergeByPropertyObjectTrump)
        let manager = store.context.make("Manager", ["name": "Ada", "desk": "1"])
        try store.context.save()
        let result = try store.context.batchInsert("Owner", [["name": "Ada", "score": 9], ["name": "Bob"]], type: .objectIDs)
        let ids = try #require(result.result as? [NSManagedObjectID])
        #expect(ids.contains(manager.objectID) && ids.map(\.entity.name) == ["Owner", "Manager"])
        let owner = try store.context.found("Owner", "name", "Bob")
        let reverse = try store.context.batchInsert("Manager", [["name": "Bob", "desk": "2", "score": 8]], type: .objectIDs)
        #expect(reverse.result as? [NSManagedObjectID] == [owner.objectID])
        store.context.refreshAllObjects()
        #expect(manager.number("score") == 9 && owner.number("score") == 8)
    }

    @Test("runs one statement for each row, and few texts of them", arguments: StoreKind.allCases)
    func statements(_ kind: StoreKind) throws {
        let store = try UniqueStore(kind, .mergeByPropertyObjectTrump)
        let rows = (0..<100).map { ["name": "\($0 % 50)", "note": "x"] }
        let statements = try store.store.counter.recording { try store.context.batchInsert("Owner", rows) }
        #expect(statements.filter { $0.hasPrefix("INSERT") }.count == 100)
        #expect(Set(statements).count < 12, "\(Set(statements))")
    }

    @Test("knows several constraints, and those of superentities", arguments: StoreKind.allCases)
    func several(_ kind: StoreKind) throws {
        let store = try UniqueStore(kind, .mergeByPropertyObjectTrump)
        try store.context.batchInsert("Seat", [["row": 1, "number": 1.0, "label": "A"], ["row": 2, "number": 1.0, "label": "B"]])
        try store.context.batchInsert("Seat", [["row": 1, "number": 1, "label": "C"], ["row": 3, "number": 1.0, "label": "B"]])
        #expect(try store.home.sql("SELECT ZROW, ZLABEL FROM ZSEAT ORDER BY Z_PK") == "1|C\n3|B")
        // One row that has to be two is nothing that a policy decides.
        expectError(.managedObjectConstraintMerge, "Seat") {
            try store.context.batchInsert("Seat", [["row": 1, "number": 1.0, "label": "B"]])
        }
        // Where the store wins, there is nothing to decide: the rows that are there stay.
        store.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        #expect(try store.context.batchInsert("Seat", [["row": 1, "number": 1.0, "label": "B"]]).count == 0)
        #expect(try store.home.sql("SELECT ZROW, ZLABEL FROM ZSEAT ORDER BY Z_PK") == "1|C\n3|B")
        store.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try store.context.batchInsert("Owner", [["name": "Ada", "note": "owner"]])
        try store.context.batchInsert("Manager", [["name": "Ada", "desk": "12", "note": "manager"]])
        #expect(try store.home.sql("SELECT ZNAME, ZNOTE, ZDESK IS NULL FROM ZOWNER") == "Ada|manager|1")
    }

    // * Ada is an owner, who has no desk; Bob is a manager with one.
    // * A manager is to be named like her, and to have his desk.
    // => That would be both of them.
    @Test("fails where a row has unique values of two, also where one of them lacks an attribute", arguments: StoreKind.allCases)
    func twoRows(_ kind: StoreKind) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
            let store = try UniqueStore(kind, policy)
            try store.context.batchInsert("Owner", [["name": "Ada"]])
            try store.context.batchInsert("Manager", [["name": "Bob", "desk": "12"]])
            expectError(.managedObjectConstraintMerge, "Manager", "two") {
                try store.context.batchInsert("Manager", [["name": "Ada", "desk": "12", "note": "both"]])
            }
            #expect(try store.home.sql("SELECT ZNAME, ZDESK, ZNOTE FROM ZOWNER ORDER BY Z_PK") == "Ada||\nBob|12|")
        }
    }
}
