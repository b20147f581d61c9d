import Foundation
import Testing

@testable import CoreData

@Suite("An ordered relationship that is its own inverse")
struct PairOrderTests {
    private static func model() -> NSManagedObjectModel {
        let person = NSEntityDescription("Person", attribute("name"))
        let friends = NSRelationshipDescription()
        (friends.name, friends.maxCount, friends.isOrdered) = ("friends", 0, true)
        (friends.destinationEntity, friends.inverseRelationship) = (person, friends)
        person.properties.append(friends)
        return NSManagedObjectModel(person)
    }

    private func orders(_ context: NSManagedObjectContext) throws -> [String] {
        context.reset()
        return try context.all(NSManagedObject.self, "Person", orderedBy: "name").map { person in
            let friends = (person.value(forKey: "friends") as? NSOrderedSet)?.array ?? []
            return ([person] + friends).compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.joined()
        }
    }

    private func people(_ context: NSManagedObjectContext) -> [NSManagedObject] {
        "ABCDEF".map { name in
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(String(name), forKey: "name")
            return person
        }
    }

    // * A and F have friends in another order than that of the keys, some of them the same. Then A puts F before all others.
    // => Opened again, the document has everybody's friends in the order in which they were.
    @Test("is in the order that was saved when it is opened again", arguments: [ContractKind.binary, .xml])
    func order(_ kind: ContractKind) throws {
        let home = try ContractHome(kind, model: Self.model())
        let context = try home.open()
        let people = people(context)
        people[0].setValue(NSOrderedSet(array: [3, 2, 1, 4].map { people[$0] }), forKey: "friends")
        try context.save()
        people[5].setValue(NSOrderedSet(array: [4, 1, 2].map { people[$0] }), forKey: "friends")
        try context.save()
        people[0].mutableOrderedSetValue(forKey: "friends").insert(people[5], at: 0)
        try context.save()
        let saved = try orders(context)
        #expect(saved.first == "AFDCBE")
        #expect(try orders(home.reopened(context)) == saved)
    }

    // * Everybody gets his friends in one save; what each says goes with what the others say.
    // => The store has them as everybody has them.
    @Test("is in the order of everybody's own", arguments: [ContractKind.file, .memory, .xml])
    func everybody(_ kind: ContractKind) throws {
        let home = try ContractHome(kind, model: Self.model())
        let context = try home.open()
        let people = people(context)
        let rank = { (one: Int, other: Int) in (min(one, other) * 4 + max(one, other) * 6) % 19 }
        for (number, person) in people.enumerated() {
            let others = people.indices.filter { $0 != number }.sorted { rank(number, $0) < rank(number, $1) }
            person.setValue(NSOrderedSet(array: others.map { people[$0] }), forKey: "friends")
        }
        try context.save()
        #expect(try orders(context) == ["AEBFCD", "BDAEFC", "CFDAEB", "DBFCEA", "EAFBCD", "FCDEAB"])
    }

    // * Three people each have the others in an order that no order of all pairs gives them.
    // => Whoever is followed, everybody keeps his friends.
    @Test("has all members where what its objects say goes round in a circle")
    func circle() throws {
        let home = try ContractHome(.xml, model: Self.model())
        let context = try home.open()
        let people = people(context)
        people[0].setValue(NSOrderedSet(array: [people[1], people[2]]), forKey: "friends")
        people[1].mutableOrderedSetValue(forKey: "friends").add(people[2])
        try context.save()
        for store in try #require(context.persistentStoreCoordinator).persistentStores {
            try context.persistentStoreCoordinator?.remove(store)
        }
        var document = try Document(contentsOf: home.url)
        let number = { (place: Int) in (document.objects["Person"]?[place]["id"] as? NSNumber)?.int64Value ?? 0 }
        let numbers = (0..<3).map(number)
        let ends = [[1, 2], [2, 0], [0, 1]].map { $0.map { numbers[$0] } }
        var objects = document.objects
        for place in 0..<3 { objects["Person"]?[place]["relationships"] = ["friends": ends[place]] }
        document = Document(metadata: document.metadata, lastNumbers: document.lastNumbers, objects: objects)
        try document.data(.xml).write(to: home.url)
        let members = try orders(home.open()).map { String($0.prefix(1)) + $0.dropFirst().sorted() }
        #expect(members == ["ABC", "BAC", "CAB", "D", "E", "F"])
    }
}
