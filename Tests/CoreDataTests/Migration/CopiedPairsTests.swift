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
}
