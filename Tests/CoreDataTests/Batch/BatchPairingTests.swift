import Foundation
import Testing

@testable import CoreData

@Suite("A one-to-one relationship in a batch request")
struct BatchPairingTests {
    /// Persons and desks of one coordinator, Ada at 1 and Bob at 2.
    private struct Office {
        let library: Library
        let persons: [Person]
        let desks: [Desk]
        var context: NSManagedObjectContext { library.context }

        init(_ kind: StoreKind, configure: (NSManagedObjectModel) -> Void = { _ in }) throws {
            library = try Library(kind, options: [NSPersistentHistoryTrackingKey: true as NSNumber], configure: configure)
            let context = library.context
            let persons = ["Ada", "Bob", "Cem"].map { name in
                let person = Person(context: context)
                person.name = name
                return person
            }
            try context.save()
            let desks = ["1", "2", "3"].map { room in
                let desk = Desk(context: context)
                desk.room = room
                return desk
            }
            try context.save()
            (persons[0].desk, persons[1].desk) = (desks[0], desks[1])
            try context.save()
            (self.persons, self.desks) = (persons, desks)
        }

        /// Who sits where, told from both ends, with versions.
        var plan: String {
            get throws {
                try library.sql(
                    """
                    SELECT p.ZNAME, d.ZROOM, p.Z_OPT FROM ZPERSON p LEFT JOIN ZDESK d ON d.Z_PK = p.ZDESK ORDER BY p.Z_PK;
                    SELECT d.ZROOM, p.ZNAME, d.Z_OPT FROM ZDESK d LEFT JOIN ZPERSON p ON p.Z_PK = d.ZOWNER ORDER BY d.Z_PK
                    """
                )
            }
        }

        /// What the last transaction has changed.
        var latestChanges: Set<String> {
            get throws {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                let result = try context.execute(request) as? NSPersistentHistoryResult
                let changes = (result?.result as? [NSPersistentHistoryTransaction])?.last?.changes ?? []
                return Set(
                    changes.map { change in
                        let names = (change.updatedProperties ?? []).map(\.name).sorted().joined(separator: ",")
                        return
                            "\(change.changedObjectID.entity.name ?? "")\(change.changedObjectID.uriRepresentation().lastPathComponent) \(names)"
                    }
                )
            }
        }
    }

    @Test("follows an update at both ends, takes the object from whoever had it, and is told", arguments: StoreKind.allCases)
    func update(_ kind: StoreKind) throws {
        let office = try Office(kind)
        let result = try office.context.batchUpdate(
            "Person",
            ["desk": office.desks[1].objectID],
            where: "name == 'Ada'",
            type: .updatedObjectIDsResultType
        )
        #expect(try office.plan == "Ada|2|3\nBob||3\nCem||1\n1||3\n2|Ada|3\n3||1")
        #expect(try office.latestChanges == ["Personp1 desk", "Personp2 desk", "Deskp1 owner", "Deskp2 owner"])
        // => Who has read them learns of it.
        #expect(office.persons[1].desk == office.desks[1])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: result.changedObjectIDs, into: [office.context])
        #expect(office.persons[0].desk == office.desks[1] && office.persons[1].desk == nil && office.desks[0].owner == nil)
    }

    @Test("is taken from all by an update with nil, and the row cache forgets", arguments: StoreKind.allCases)
    func updateWithNil(_ kind: StoreKind) throws {
        let office = try Office(kind)
        try office.context.batchUpdate("Person", ["desk": NSNull()])
        #expect(try office.plan == "Ada||3\nBob||3\nCem||2\n1||3\n2||3\n3||1")
        let other = office.library.newContext()
        #expect((other.object(with: office.desks[0].objectID) as? Desk)?.owner == nil)
    }

    @Test("is not given to several objects at once", arguments: StoreKind.allCases)
    func several(_ kind: StoreKind) throws {
        let office = try Office(kind)
        let before = try office.plan
        expectError(.managedObjectValidation, "Person.desk", "3 objects") {
            try office.context.batchUpdate("Person", ["desk": office.desks[2].objectID])
        }
        #expect(try office.plan == before)
    }

    @Test("follows an insert; of two rows that want one object the later gets it", arguments: StoreKind.allCases)
    func insert(_ kind: StoreKind) throws {
        let office = try Office(kind)
        let (one, three) = (office.desks[0].objectID, office.desks[2].objectID)
        try office.context.batchInsert(
            "Person",
            [["name": "Dan", "desk": three], ["name": "Eva", "desk": one], ["name": "Fay", "desk": three], ["name": "Gil"]]
        )
        #expect(try office.plan == "Ada||3\nBob|2|2\nCem||1\nDan||1\nEva|1|1\nFay|3|1\nGil||1\n1|Eva|3\n2|Bob|2\n3|Fay|2")
        #expect(
            try office.latestChanges == [
                "Personp1 desk", "Personp4 ", "Personp5 ", "Personp6 ", "Personp7 ", "Deskp1 owner", "Deskp3 owner",
            ]
        )
    }

    @Test("follows an insert by a handler, from the end that denies too", arguments: StoreKind.allCases)
    func handler(_ kind: StoreKind) throws {
        let office = try Office(kind)
        var rooms = ["4"].makeIterator()
        try office.context.execute(
            NSBatchInsertRequest(entityName: "Desk") { (object: NSManagedObject) -> Bool in
                guard let room = rooms.next(), let desk = object as? Desk else { return true }
                (desk.room, desk.owner) = (room, office.persons[0])
                return false
            }
        )
        #expect(try office.plan == "Ada|4|3\nBob|2|2\nCem||1\n1||3\n2|Bob|2\n3||1\n4|Ada|1")
    }

    @Test("is written by upserts as the policy says", arguments: StoreKind.allCases)
    func upsert(_ kind: StoreKind) throws {
        func office() throws -> Office {
            try Office(kind) { model in model.entitiesByName["Person"]?.uniquenessConstraints = [["name"]] }
        }
        func upserted(_ policy: NSMergePolicy, _ row: (Office) -> [String: Any]) throws -> String {
            let office = try office()
            office.context.mergePolicy = policy
            try office.context.batchInsert("Person", [row(office)], type: .statusOnly)
            return try office.plan
        }
        // * Ada gets Bob's desk, where what is given is written.
        let taken = "Ada|2|3\nBob||3\nCem||1\n1||3\n2|Ada|3\n3||1"
        #expect(try upserted(.mergeByPropertyObjectTrump) { ["name": "Ada", "desk": $0.desks[1].objectID] } == taken)
        #expect(try upserted(.overwrite) { ["name": "Ada", "desk": $0.desks[1].objectID] } == taken)
        // * Nothing is said of the desk: it stays, unless the whole row is written.
        let left = "Ada|1|3\nBob|2|2\nCem||1\n1|Ada|2\n2|Bob|2\n3||1"
        #expect(try upserted(.mergeByPropertyObjectTrump) { _ in ["name": "Ada", "age": 7] } == left)
        #expect(try upserted(.overwrite) { _ in ["name": "Ada"] } == "Ada||3\nBob|2|2\nCem||1\n1||3\n2|Bob|2\n3||1")
        // * The row that is there stays as it is.
        let same = "Ada|1|2\nBob|2|2\nCem||1\n1|Ada|2\n2|Bob|2\n3||1"
        #expect(try upserted(.mergeByPropertyStoreTrump) { ["name": "Ada", "desk": $0.desks[1].objectID] } == same)
    }

    @Test("that is required is not taken from an object", arguments: StoreKind.allCases)
    func mandatory(_ kind: StoreKind) throws {
        let office = try Office(kind)
        try office.context.batchUpdate("Person", ["desk": office.desks[2].objectID], where: "name == 'Cem'")
        let strict = try Library(kind) { model in model.entitiesByName["Desk"]?.relationshipsByName["owner"]?.isOptional = false }
        let (person, desk) = (Person(context: strict.context), Desk(context: strict.context))
        person.desk = desk
        try strict.context.save()
        expectError(.validationMissingMandatoryProperty, "Desk.owner") { try strict.context.batchUpdate("Person", ["desk": NSNull()]) }
        expectError(.validationMissingMandatoryProperty, "Desk.owner") {
            try strict.context.batchInsert("Desk", [["owner": person.objectID]])
        }
        // A delete that would take it away as well.
        expectError(.validationMissingMandatoryProperty, "Desk.owner") { try strict.context.batchDelete("Person") }
        #expect(try strict.sql("SELECT ZDESK, Z_OPT FROM ZPERSON; SELECT ZOWNER, Z_OPT FROM ZDESK") == "1|1\n1|1")
    }

    @Test("that is its own inverse follows", arguments: StoreKind.allCases)
    func reflexive(_ kind: StoreKind) throws {
        let library = try Library(kind) { model in
            guard let person = model.entitiesByName["Person"] else { return }
            let spouse = NSRelationshipDescription()
            (spouse.name, spouse.maxCount, spouse.destinationEntity, spouse.inverseRelationship) = ("spouse", 1, person, spouse)
            person.properties.append(spouse)
            person.uniquenessConstraints = [["name"]]
        }
        let context = library.context
        let persons = ["A", "B", "C", "D", "E"].map { name in
            let person = Person(context: context)
            person.name = name
            return person
        }
        try context.save()
        persons[0].setValue(persons[1], forKey: "spouse")
        persons[2].setValue(persons[3], forKey: "spouse")
        try context.save()
        let couples = "SELECT p.ZNAME, q.ZNAME FROM ZPERSON p LEFT JOIN ZPERSON q ON q.Z_PK = p.ZSPOUSE ORDER BY p.ZNAME"
        try context.batchUpdate("Person", ["spouse": persons[2].objectID], where: "name == 'A'")
        #expect(try library.sql(couples) == "A|C\nB|\nC|A\nD|\nE|")
        // * Three rows in turn: the last of them counts.
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.batchInsert(
            "Person",
            [
                ["name": "A", "spouse": persons[1].objectID], ["name": "B", "spouse": persons[3].objectID],
                ["name": "F", "spouse": persons[4].objectID],
            ]
        )
        #expect(try library.sql(couples) == "A|\nB|D\nC|\nD|B\nE|F\nF|E")
    }

    // * One row leads A to B, another C to B, each from an end of its own.
    // => B is with whom the later row names, and the other one is alone.
    @Test("is as the later of two rows says, whichever end each of them names", arguments: StoreKind.allCases)
    func bothEnds(_ kind: StoreKind) throws {
        func line(_ order: (_ fromA: [String: Any], _ fromB: [String: Any]) -> [[String: Any]]) throws -> String {
            let library = try Library(kind) { model in
                guard let person = model.entitiesByName["Person"] else { return }
                LibraryModel.relate(person, "next", toMany: false, .nullifyDeleteRule, person, "prev", toMany: false, .nullifyDeleteRule)
                person.uniquenessConstraints = [["name"]]
            }
            let persons = ["A", "B", "C"].map { name in
                let person = Person(context: library.context)
                person.name = name
                return person
            }
            try library.context.save()
            library.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let ids = persons.map(\.objectID)
            try library.context.batchInsert("Person", order(["name": "A", "next": ids[1]], ["name": "B", "prev": ids[2]]))
            return try library.sql(
                """
                SELECT p.ZNAME, n.ZNAME, b.ZNAME FROM ZPERSON p LEFT JOIN ZPERSON n ON n.Z_PK = p.ZNEXT \
                LEFT JOIN ZPERSON b ON b.Z_PK = p.ZPREV ORDER BY p.ZNAME
                """
            )
        }
        #expect(try line { [$0, $1] } == "A||\nB||C\nC|B|")
        #expect(try line { [$1, $0] } == "A|B|\nB||A\nC||")
    }
}
