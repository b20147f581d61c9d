import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Relationships of entities that are only copied")
struct CopiedPairsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        CountingPolicy.register()
    }

    /// Several people have one company; in the second version a company has one person, or nobody knows whom.
    private func model(_ isNew: Bool, hasInverse: Bool) -> NSManagedObjectModel {
        let person = NSEntityDescription("Person", attribute("n"))
        let company = NSEntityDescription("Company", attribute("n"))
        let other = NSEntityDescription("Other", attribute("n"))
        if isNew { other.properties.append(attribute("note")) }
        let employer = person.relate("company", to: company)
        if hasInverse || isNew {
            let back = company.relate(isNew ? "person" : "people", to: person, many: !isNew)
            (employer.inverseRelationship, back.inverseRelationship) = (back, employer)
        }
        return NSManagedObjectModel(person, company, other)
    }

    private func fill(_ model: NSManagedObjectModel) throws {
        let stack = try Stack(folder.file("Old.sqlite"), model)
        let context = stack.newContext()
        let company = NSEntityDescription.insertNewObject(forEntityName: "Company", into: context)
        for name in ["Ada", "Bob", "Cleo"] {
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(name, forKey: "n")
            person.setValue(company, forKey: "company")
        }
        _ = NSEntityDescription.insertNewObject(forEntityName: "Other", into: context)
        try context.save()
        try stack.close()
    }

    // * Three people have one company, that of the new version has one person.
    // => One of them has it, and it has that one, where people and companies are copied as rows and where they are objects.
    @Test("say the same at both ends where one end has room for one only now", arguments: [true, false], [true, false])
    func onePartner(bySQL: Bool, hadInverse: Bool) throws {
        let (old, new) = (model(false, hasInverse: hadInverse), model(true, hasInverse: true))
        try fill(old)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        for entity in mapping.entityMappings where entity.sourceEntityName == "Other" {
            entity.entityMigrationPolicyClassName = NSStringFromClass(CountingPolicy.self)
        }
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = bySQL
        try manager.migrateStore(
            from: folder.file("Old.sqlite"),
            type: .sqlite,
            mapping: mapping,
            to: folder.file("New.sqlite"),
            type: .sqlite
        )
        let stack = try Stack(folder.file("New.sqlite"), new)
        let context = stack.newContext()
        let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        let company = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Company")).first
        let employed = people.filter { $0.value(forKey: "company") != nil }
        #expect(people.count == 3 && employed.count == 1)
        #expect(company?.value(forKey: "person") as? NSManagedObject === employed.first)
        try stack.close()
    }

    /// Each person has one desk, and a spouse; entities of the second version are the same but for the third.
    private func desks(_ isNew: Bool) -> NSManagedObjectModel {
        let (person, desk) = (NSEntityDescription("Person", attribute("n")), NSEntityDescription("Desk", attribute("n")))
        let other = NSEntityDescription("Other", attribute("n"))
        if isNew { other.properties.append(attribute("note")) }
        let own = person.relate("desk", to: desk)
        own.inverseRelationship = desk.relate("person", to: person, inverse: own)
        let spouse = person.relate("spouse", to: person)
        spouse.inverseRelationship = spouse
        return NSManagedObjectModel(person, desk, other)
    }

    private func fillDesks() throws {
        let stack = try Stack(folder.file("Old.sqlite"), desks(false))
        let context = stack.newContext()
        let people = ["Ada", "Bob", "Cleo", "Dora"].map { name in
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(name, forKey: "n")
            let desk = NSEntityDescription.insertNewObject(forEntityName: "Desk", into: context)
            if name != "Dora" { desk.setValue(person, forKey: "person") }
            return person
        }
        people[0].setValue(people[1], forKey: "spouse")
        try context.save()
        try stack.close()
    }

    /// How many people there are afterwards, how many have a desk, and whether both ends of what leads to one object each say the same.
    private func migrateDesks(_ mapping: NSMappingModel, bySQL: Bool) throws -> (people: Int, seated: Int, isSame: Bool) {
        let manager = NSMigrationManager(sourceModel: desks(false), destinationModel: desks(true))
        manager.usesStoreSpecificMigrationManager = bySQL
        let (old, new) = (folder.file("Old.sqlite"), folder.file("New.sqlite"))
        try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
        let stack = try Stack(new, desks(true))
        let context = stack.newContext()
        func all(_ name: String) throws -> [NSManagedObject] { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) }
        let (people, desks) = (try all("Person"), try all("Desk"))
        func agree(_ objects: [NSManagedObject], _ key: String, _ back: String) -> Bool {
            objects.allSatisfy { object in
                (object.value(forKey: key) as? NSManagedObject).map { $0.value(forKey: back) as? NSManagedObject === object } ?? true
            }
        }
        let isSame = agree(people, "desk", "person") && agree(desks, "person", "desk") && agree(people, "spouse", "spouse")
        let seated = people.filter { $0.value(forKey: "desk") != nil }.count
        try stack.close()
        return (people.count, seated, isSame)
    }

    private func deskMapping(without left: [String]) throws -> NSMappingModel {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: desks(false), destinationModel: desks(true))
        for entity in mapping.entityMappings {
            if entity.sourceEntityName == "Other" { entity.entityMigrationPolicyClassName = NSStringFromClass(CountingPolicy.self) }
            entity.relationshipMappings?.removeAll { left.contains($0.name ?? "") }
        }
        return mapping
    }

    // * The mapping says of one end of a one-to-one relationship what becomes of it, and nothing of the other.
    // => Both ends are set.
    @Test("say the same at both ends where a mapping speaks of one end only", arguments: [true, false], ["desk", "person"])
    func oneEnd(bySQL: Bool, left: String) throws {
        try fillDesks()
        let found = try migrateDesks(deskMapping(without: [left]), bySQL: bySQL)
        #expect(found == (4, 3, true))
    }

    // * People become two each; a desk, and a spouse, have room for one.
    // => One of the two has it, and is had by it; of the others nothing is said.
    @Test("say the same at both ends where objects become two each", arguments: [true, false])
    func twins(bySQL: Bool) throws {
        try fillDesks()
        let mapping = try deskMapping(without: [])
        let twin = NSEntityMapping("Twin", "Person", "Person")
        let person = mapping.entityMappings.first { $0.sourceEntityName == "Person" }
        (twin.attributeMappings, twin.relationshipMappings) = (person?.attributeMappings, person?.relationshipMappings)
        mapping.entityMappings.append(twin)
        let found = try migrateDesks(mapping, bySQL: bySQL)
        #expect(found == (8, 3, true))
    }
}
