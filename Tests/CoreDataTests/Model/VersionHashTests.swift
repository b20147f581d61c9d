import Foundation
import ModelFormat
import Predicates
import TestSupport
import Testing

@testable import CoreData

@Suite("Version hashes")
struct VersionHashTests {
    // User { name: String, required; petName: String, optional }, whose hash is in a file of Apple's tools.
    @Test("equal those of Apple's Core Data for an entity with two strings")
    func workedExample() {
        let (name, petName) = (NSAttributeDescription(), NSAttributeDescription())
        (name.name, name.type, name.isOptional) = ("name", .string, false)
        (petName.name, petName.type) = ("petName", .string)
        let user = NSEntityDescription()
        user.name = "User"
        user.properties = [petName, name]

        #expect(hexadecimal(name.versionHash) == "8cb9965c0031ac68913984f3110941ad965395be9fd9b17de7be54bc7ad46890")
        #expect(hexadecimal(petName.versionHash) == "3600ceedf50b080f90041365395158784f0deb03bc9acddf1cad607c4fe50742")
        #expect(hexadecimal(user.versionHash) == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
    }

    @Test("equal those of Apple's Core Data for every known entity", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func vectors() throws {
        let data = try Fixtures.data("versionhash-vectors.json")
        let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let vectors = try #require(json?["vectors"] as? [[String: Any]])
        #expect(vectors.count > 100)
        for vector in vectors { try check(vector) }
    }

    // The plugin compiles models without making descriptions of them.
    @Test("of a model file are those of the model that is made of it", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func files() throws {
        for path in Fixtures.sources {
            let model = try Model(xml: Fixtures.data(path))
            #expect(model.versionHashes == (try NSManagedObjectModel(model).entityVersionHashesByName), "\(path)")
        }
        #expect(Fixtures.sources.count > 20)
    }

    private func check(_ vector: [String: Any]) throws {
        let name = try #require(vector["entity"] as? String)
        let builder = VectorEntity(vector)
        for (property, expected) in builder.expectedHashes where expected != nil {
            #expect(hexadecimal(property.versionHash) == expected, "\(name).\(property.name)")
        }
        let superentityHash = (vector["superentityHash"] as? String).map(bytes)
        let hash = hexadecimal(VersionHash.entity(builder.entity, superentityHash: superentityHash))
        #expect(hash == vector["versionHash"] as? String, "\(name) in \(vector["source"] ?? "")")
    }

    // * The count of pages, as a key path and as a function.
    // => Both have the hash that a store of Apple's has for GraphicNovel.pagesCount.
    @Test("of a derived attribute cover its expression, however that is written")
    func derived() throws {
        let pages = Predicates.NSExpression(forKeyPath: "pages")
        for expression in [
            Predicates.NSExpression(forKeyPath: "pages.@count"), Predicates.NSExpression(forFunction: "count:", arguments: [pages]),
        ] {
            let attribute = NSDerivedAttributeDescription()
            attribute.name = "any"
            attribute.derivationExpression = expression
            #expect(hexadecimal(attribute.versionHash) == "50081597fb1d6648429c1b37f73bc6bf63299d160cd6f0d555919fd143a9296e")
            let copy = try #require(attribute.copy() as? NSDerivedAttributeDescription)
            #expect(copy.derivationExpression === expression)
        }
    }

    @Test(
        "do not change with what stores do not depend on",
        arguments: [
            { $0.defaultValue = "x" }, { $0.userInfo = ["a": "b"] }, { $0.renamingIdentifier = "old" }, { $0.valueTransformerName = "T" },
            { $0.allowsCloudEncryption = true }, { $0.attributeValueClassName = "C" },
            { $0.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["1"]) },
        ] as [@Sendable (NSAttributeDescription) -> Void]
    )
    func irrelevant(change: @Sendable (NSAttributeDescription) -> Void) {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.type) = ("a", .string)
        let before = attribute.versionHash
        change(attribute)
        #expect(attribute.versionHash == before)
    }

    @Test(
        "change with whatever changes the store",
        arguments: [
            { $0.name = "b" }, { $0.type = .double }, { $0.isOptional = false }, { $0.isTransient = true },
            { $0.versionHashModifier = "2" },
            { $0.allowsExternalBinaryDataStorage = true }, { $0.preservesValueInHistoryOnDeletion = true },
        ] as [@Sendable (NSAttributeDescription) -> Void]
    )
    func relevant(change: @Sendable (NSAttributeDescription) -> Void) {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.type) = ("a", .string)
        let before = attribute.versionHash
        change(attribute)
        #expect(attribute.versionHash != before)
    }
}

/// An entity made from a test vector, with stand-ins for what its relationships lead to.
private final class VectorEntity {
    let entity = NSEntityDescription()
    private(set) var expectedHashes: [(NSPropertyDescription, String?)] = []
    /// Relationships do not keep these alive.
    private var standIns: [NSObject] = []

    init(_ vector: [String: Any]) {
        entity.name = vector["entity"] as? String
        entity.isAbstract = vector["isAbstract"] as? Bool ?? false
        entity.versionHashModifier = vector["versionHashModifier"] as? String
        entity.uniquenessConstraints = vector["uniquenessConstraints"] as? [[String]] ?? []
        let properties = vector["properties"] as? [[String: Any]] ?? []
        expectedHashes = properties.map { (property($0), $0["propertyHash"] as? String) }
        entity.properties = expectedHashes.map(\.0)
    }

    private func property(_ json: [String: Any]) -> NSPropertyDescription {
        let property =
            switch json["kind"] as? String {
            case "relationship": relationship(json)
            case "derivedAttribute": derivedAttribute(json)
            case "fetchedProperty": NSFetchedPropertyDescription()
            default: attribute(json)
            }
        property.name = json["name"] as? String ?? ""
        property.isOptional = json["optional"] as? Bool ?? false
        property.isTransient = json["transient"] as? Bool ?? false
        property.versionHashModifier = json["versionHashModifier"] as? String
        return property
    }

    private func attribute(_ json: [String: Any]) -> NSPropertyDescription {
        let attribute = NSAttributeDescription()
        attribute.attributeType = (json["type"] as? UInt).flatMap(NSAttributeType.init) ?? .undefinedAttributeType
        attribute.allowsExternalBinaryDataStorage = json["allowsExternalBinaryDataStorage"] as? Bool ?? false
        attribute.preservesValueInHistoryOnDeletion = json["preservesValueInHistoryOnDeletion"] as? Bool ?? false
        return attribute
    }

    private func derivedAttribute(_ json: [String: Any]) -> NSPropertyDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.derivation = (json["derivationExpression"] as? String).map { NSString(string: $0) }
        return attribute
    }

    private func relationship(_ json: [String: Any]) -> NSPropertyDescription {
        let relationship = NSRelationshipDescription()
        relationship.minCount = json["minCount"] as? Int ?? 0
        relationship.maxCount = json["maxCount"] as? Int ?? 0
        relationship.isOrdered = json["ordered"] as? Bool ?? false
        let destination = NSEntityDescription()
        destination.name = json["destination"] as? String
        relationship.destinationEntity = destination
        standIns.append(destination)
        guard let inverseName = json["inverse"] as? String else { return relationship }
        let owner = json["declaredIn"] as? String ?? entity.name
        if inverseName == json["name"] as? String, destination.name == owner {
            relationship.inverseRelationship = relationship
            return relationship
        }
        let inverse = NSRelationshipDescription()
        inverse.name = inverseName
        relationship.inverseRelationship = inverse
        standIns.append(inverse)
        return relationship
    }
}

private func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal)
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
}
