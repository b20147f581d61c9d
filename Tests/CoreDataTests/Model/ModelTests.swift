import Foundation
import Testing

@testable import CoreData

@Suite("A model")
struct ModelTests {
    @Test("gives new descriptions the documented defaults")
    func defaults() {
        let entity = NSEntityDescription()
        #expect(entity.managedObjectClassName == "NSManagedObject")
        #expect(!entity.isAbstract)
        let attribute = NSAttributeDescription()
        #expect(attribute.isOptional && !attribute.isTransient)
        #expect(attribute.attributeType == .undefinedAttributeType && attribute.defaultValue == nil)
        let relationship = NSRelationshipDescription()
        #expect(relationship.minCount == 0 && relationship.maxCount == 0 && relationship.isToMany && !relationship.isOrdered)
        #expect(relationship.deleteRule == .nullifyDeleteRule)
        #expect(NSFetchIndexElementDescription(property: attribute, collationType: .binary).isAscending)
    }

    @Test("shows inherited properties after those of the superentity, and keeps them out of what is declared")
    func inheritance() {
        let animal = NSEntityDescription("Animal", attribute("name"))
        let dog = NSEntityDescription("Dog", attribute("breed"))
        animal.subentities = [dog]
        #expect(dog.superentity === animal)
        #expect(dog.properties.map(\.name) == ["name", "breed"])

        // `+=` hands the inherited property back; it stays the superentity's.
        dog.properties += [attribute("age", .integer16)]
        #expect(dog.properties.map(\.name) == ["name", "breed", "age"])
        #expect(dog.declaredProperties.map(\.name) == ["breed", "age"])
        #expect(dog.propertiesByName["name"]?.entity === animal)
        #expect(dog.isKindOf(entity: animal) && !animal.isKindOf(entity: dog))
    }

    @Test("moves an entity that gets another superentity")
    func moves() {
        let (first, second, child) = (NSEntityDescription("A"), NSEntityDescription("B"), NSEntityDescription("C"))
        first.subentities = [child]
        second.subentities = [child]
        #expect(first.subentities.isEmpty && child.superentity === second)
        second.subentities = []
        #expect(child.superentity == nil)
    }

    @Test("does not keep alive what only leads upwards")
    func lifetime() {
        weak var model: NSManagedObjectModel?
        weak var child: NSEntityDescription?
        do {
            let (a, b) = (NSEntityDescription("A", attribute("x")), NSEntityDescription("B"))
            a.subentities = [b]
            b.relate("back", to: a, inverse: a.relate("all", to: b, many: true))
            let built = NSManagedObjectModel(a, b).frozen()
            (model, child) = (built, b)
            #expect(built.entities.count == 2)
        }
        #expect(model == nil && child == nil)
    }

    @Test("reads uniqueness constraints as names however they were set")
    func constraints() {
        let code = attribute("code")
        let entity = NSEntityDescription("A", code, attribute("name"))
        entity.uniquenessConstraints = [[code, "name"], ["name"]]
        #expect(entity.uniquenessConstraints as? [[String]] == [["code", "name"], ["name"]])
    }

    @Test("orders entities regardless of case, each before its subentities")
    func order() {
        let entities = ["b", "C", "a", "c1", "_z", "É", "B2"].map { NSEntityDescription($0) }
        entities[0].subentities = [NSEntityDescription("Y"), NSEntityDescription("x")]
        let model = NSManagedObjectModel()
        model.entities = entities + entities[0].subentities
        model.freeze()
        #expect(model.entitiesInIndexOrder.map(\.name) == ["_z", "a", "b", "x", "Y", "B2", "C", "c1", "É"])
        #expect(model.entitiesInIndexOrder.map(\.index) == Array(0..<9))
        let parent = entities[0]
        #expect(parent.subtree == 2..<5 && parent.allSubentities.map(\.name) == ["x", "Y"])
        #expect(parent.allSubentities[0].rootEntity === parent)
        #expect(parent.allSubentities[0].inheritanceChain.map(\.name) == ["b", "x"])
        #expect(parent.allSubentities[0].isKindOf(entity: parent) && !parent.isKindOf(entity: entities[2]))
    }

    @Test("lists what is stored with the superentity's list first")
    func storedProperties() {
        let base = NSEntityDescription("Base", attribute("z"), attribute("b"))
        let derived = NSEntityDescription("Derived", attribute("a"), attribute("hidden"))
        base.subentities = [derived]
        derived.properties.first { $0.name == "hidden" }?.isTransient = true
        derived.relate("to", to: base)
        derived.relate("many", to: base, many: true)
        let model = NSManagedObjectModel(base, derived).frozen()
        #expect(base.storedProperties.map(\.name) == ["b", "z"])
        #expect(derived.storedProperties.map(\.name) == ["b", "z", "a", "to"])
        #expect(derived.toManyRelationships.map(\.name) == ["many"])
        #expect(derived.transientProperties.map(\.name) == ["hidden"])
        #expect(derived.propertiesInNameOrder.map(\.name) == ["a", "b", "hidden", "many", "to", "z"])
        #expect(model.isFrozen)
    }

    @Test("visits its entities, and an entity its properties, in a loop")
    func sequences() {
        let model = NSManagedObjectModel(NSEntityDescription("A", attribute("x"), attribute("y")), NSEntityDescription("B"))
        #expect(model.map(\.name) == ["A", "B"])
        #expect(model.entitiesByName["A"]?.map(\.name) == ["x", "y"])
    }

    @Test("has configurations of its own entities, and all entities for no name")
    func configurations() {
        let (a, b) = (NSEntityDescription("A"), NSEntityDescription("B"))
        let model = NSManagedObjectModel(a, b)
        model.setEntities([b], forConfigurationName: "Local")
        #expect(model.configurations == ["Local"])
        #expect(model.entities(forConfigurationName: "Local") == [b])
        #expect(model.entities(forConfigurationName: nil) == [a, b])
        #expect(model.entities(forConfigurationName: "Other") == nil)
        model.entities = [a]
        #expect(model.entities(forConfigurationName: "Local") == [])
    }

    @Test("is compatible with metadata of exactly its configuration's hashes")
    func compatibility() {
        let model = NSManagedObjectModel(NSEntityDescription("A", attribute("x")), NSEntityDescription("B"))
        model.setEntities([model.entities[1]], forConfigurationName: "Local")
        let all = model.entityVersionHashesByName
        func isCompatible(_ hashes: [String: Data], _ configuration: String? = nil) -> Bool {
            model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
        }
        #expect(isCompatible(all))
        #expect(!isCompatible(all.merging(["C": Data(count: 32)]) { $1 }))
        #expect(!isCompatible(["A": all["A"] ?? Data()]))
        #expect(!isCompatible(["A": all["B"] ?? Data(), "B": all["B"] ?? Data()]))
        #expect(isCompatible(["B": all["B"] ?? Data()], "Local"))
        #expect(!isCompatible(all, "Unknown"))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
    }

    @Test("has the same hashes frozen as before")
    func frozenHashes() {
        let (a, b) = (NSEntityDescription("A", attribute("x")), NSEntityDescription("B"))
        a.subentities = [b]
        b.relate("a", to: a)
        let model = NSManagedObjectModel(a, b)
        let before = (model.entityVersionHashesByName, model.versionChecksum)
        model.freeze()
        #expect((model.entityVersionHashesByName, model.versionChecksum) == before)
        #expect(Data(base64Encoded: model.versionChecksum)?.count == 32)
    }
}
