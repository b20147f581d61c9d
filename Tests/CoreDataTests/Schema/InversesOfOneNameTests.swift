import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Two relationships that are each other's inverse, whose names differ in nothing but capitals")
struct InversesOfOneNameTests {
    private static func model(ordered: Bool) -> NSManagedObjectModel {
        let person = NSEntityDescription("Person", attribute("n", .integer32))
        let out = person.relate("linkedTo", to: person, many: true, ordered: ordered)
        out.inverseRelationship = person.relate("linkedto", to: person, many: true, inverse: out)
        return NSManagedObjectModel(person)
    }

    /// The numbers of those that each object leads to, and of those that lead to it.
    private static func links(_ context: NSManagedObjectContext) throws -> [[[Int]]] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "n", ascending: true)]
        return try context.fetch(request).map { person in
            ["linkedTo", "linkedto"].map { name in
                let value = person.value(forKey: name)
                let objects = (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? Array(value as? Set<NSManagedObject> ?? [])
                return objects.compactMap { $0.value(forKey: "n") as? Int }.sorted()
            }
        }
    }

    // * The first of three leads to both others. The store is closed, and opened again.
    // => It still does; nobody leads the other way.
    @Test("are what they were in a store that is opened again", arguments: [false, true])
    func openedAgain(ordered: Bool) throws {
        let folder = try TemporaryFolder()
        let stack = try Stack(folder.file("Links.sqlite"), Self.model(ordered: ordered))
        let context = stack.newContext()
        let people = (0..<3).map { number in
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(number, forKey: "n")
            return person
        }
        people[0].setValue(ordered ? NSOrderedSet(array: Array(people[1...])) : Set(people[1...]), forKey: "linkedTo")
        try context.save()
        try stack.close()
        let again = try Stack(folder.file("Links.sqlite"), Self.model(ordered: ordered))
        #expect(try Self.links(again.newContext()) == [[[1, 2], []], [[], [0]], [[], [0]]])
        try again.close()
    }
}
