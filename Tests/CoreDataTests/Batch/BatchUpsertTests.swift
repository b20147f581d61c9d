import Foundation
import Testing

@testable import CoreData

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

    // * Bob has the desk that a manager has by default; Ada has none.
    // * A manager is to be named like her, and nothing else is said.
    // => That would be both of them, though there is nothing to be written into hers.
    @Test("fails so too where a default is what one of the two has, and nothing is to be written", arguments: StoreKind.allCases)
    func twoRowsByDefault(_ kind: StoreKind) throws {
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump] {
            let store = try UniqueStore(kind, policy) { $0.entitiesByName["Manager"]?.attributesByName["desk"]?.defaultValue = "12" }
            try store.context.batchInsert("Owner", [["name": "Ada"]])
            try store.context.batchInsert("Manager", [["name": "Bob"]])
            // Whoever lets the store win has nothing to decide.
            if policy === NSMergePolicy.mergeByPropertyStoreTrump {
                #expect(try store.context.batchInsert("Manager", [["name": "Ada"]]).count == 0)
            } else {
                expectError(.managedObjectConstraintMerge, "Manager", "two") { try store.context.batchInsert("Manager", [["name": "Ada"]]) }
            }
            // One that is met by what was given, and by nothing else, is there.
            #expect(try store.context.batchInsert("Manager", [["name": "Bob"]]).count == 0)
            #expect(try store.home.sql("SELECT ZNAME, ZDESK, Z_OPT FROM ZOWNER ORDER BY Z_PK") == "Ada||1\nBob|12|1")
        }
    }
}
