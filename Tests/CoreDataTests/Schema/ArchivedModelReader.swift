import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Reads a model from the content of `Z_MODELCACHE`, with python3: an implementation of DEFLATE and of binary property lists not our own.
enum ArchivedModelReader {
    static let python = ["/usr/bin", "/usr/local/bin"].map { $0 + "/python3" }.first(where: FileManager.default.isExecutableFile)
    static var canRead: Bool { python != nil }
    static let whyNot: Comment = "There is no python3."

    struct Archive: Decodable {
        struct Entity: Decodable {
            let name: String
            let parent: String?
            let isAbstract: Bool
            let modifier: String?
            let constraints: [[String]]
            /// Those that the parent has not.
            let properties: [Property]
            let allProperties: [String]
            let indexes: [Index]
        }
        struct Property: Decodable {
            let kind: String
            let name: String
            let isOptional: Bool
            let isTransient: Bool
            let modifier: String?
            let type: UInt?
            let flags: Int?
            let destination: String?
            let inverse: String?
            let maxCount: Int?
            let minCount: Int?
            let isOrdered: Bool?
            let derivation: String?
        }
        struct Index: Decodable {
            struct Element: Decodable {
                let name: String
                let isAscending: Bool
                let type: UInt
            }
            let name: String
            let isPartial: Bool
            let elements: [Element]
        }
        let entities: [Entity]
        let versionIdentifiers: [String]
        /// The keys of the objects of each class, those that are always there.
        let keys: [String: [String]]
    }

    static func archive(in content: [UInt8]) throws -> Archive {
        try JSONDecoder().decode(Archive.self, from: output(of: program, for: content))
    }

    /// The keyed archive in the content, inflated.
    static func inflated(_ content: [UInt8]) throws -> Data {
        try output(of: "import sys, zlib\nsys.stdout.buffer.write(zlib.decompress(open(sys.argv[1], 'rb').read(), -15))", for: content)
    }

    private static func output(of program: String, for content: [UInt8]) throws -> Data {
        let folder = try TemporaryFolder()
        let script = try folder.write(program, to: "read.py")
        try Data(content).write(to: folder.file("content"))
        let read = try Child.run(#require(python), [script.path, folder.path("content")])
        try #require(read.status == 0, "python3 could not read the archive.")
        return read.data
    }

    static func model(from archive: Archive) -> NSManagedObjectModel {
        var entities: [String: NSEntityDescription] = [:]
        for archived in archive.entities { entities[archived.name] = entity(archived) }
        for archived in archive.entities { archived.parent.map { entities[$0]?.subentities.append(entities[archived.name]!) } }
        for archived in archive.entities {
            for property in archived.properties {
                guard let relationship = entities[archived.name]?.relationshipsByName[property.name] else { continue }
                relationship.destinationEntity = entities[property.destination ?? ""]
                relationship.inverseRelationship = property.inverse.flatMap { relationship.destinationEntity?.relationshipsByName[$0] }
            }
            entities[archived.name]?.indexes = archived.indexes.map { index($0, of: entities[archived.name]!) }
        }
        let model = NSManagedObjectModel()
        model.entities = archive.entities.compactMap { entities[$0.name] }
        model.versionIdentifiers = Set(archive.versionIdentifiers)
        return model
    }

    private static func entity(_ archived: Archive.Entity) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = archived.name
        entity.isAbstract = archived.isAbstract
        entity.versionHashModifier = archived.modifier
        entity.uniquenessConstraints = archived.constraints
        entity.properties = archived.properties.map(property)
        return entity
    }

    private static func property(_ archived: Archive.Property) -> NSPropertyDescription {
        let property: NSPropertyDescription
        switch archived.kind {
        case "NSRelationshipDescription":
            let relationship = NSRelationshipDescription()
            relationship.maxCount = archived.maxCount ?? 0
            relationship.minCount = archived.minCount ?? 0
            relationship.isOrdered = archived.isOrdered ?? false
            property = relationship
        case "NSFetchedPropertyDescription": property = NSFetchedPropertyDescription()
        default:
            let attribute = archived.derivation == nil ? NSAttributeDescription() : NSDerivedAttributeDescription()
            (attribute as? NSDerivedAttributeDescription)?.derivation = archived.derivation.map { NSString(string: $0) }
            attribute.attributeType = archived.type.flatMap(NSAttributeType.init) ?? .undefinedAttributeType
            attribute.allowsExternalBinaryDataStorage = (archived.flags ?? 0) & 4 != 0
            attribute.preservesValueInHistoryOnDeletion = (archived.flags ?? 0) & 16 != 0
            property = attribute
        }
        property.name = archived.name
        property.isOptional = archived.isOptional
        property.isTransient = archived.isTransient
        property.versionHashModifier = archived.modifier
        return property
    }

    private static func index(_ archived: Archive.Index, of entity: NSEntityDescription) -> NSFetchIndexDescription {
        let elements = archived.elements.map { element in
            let stranger = NSExpressionDescription()
            stranger.name = element.name
            let made = NSFetchIndexElementDescription(
                property: entity.propertiesByName[element.name] ?? stranger,
                collationType: NSFetchIndexElementType(rawValue: element.type) ?? .rTree
            )
            made.isAscending = element.isAscending
            return made
        }
        let index = NSFetchIndexDescription(name: archived.name, elements: elements)
        index.partialIndexPredicate = archived.isPartial ? NSPredicate(value: true) : nil
        return index
    }

    private static let program = #"""
        import json, plistlib, sys, zlib
        archive = plistlib.loads(zlib.decompress(open(sys.argv[1], "rb").read(), -15))
        objects, UID = archive["$objects"], plistlib.UID

        def get(value):
            value = objects[value.data] if isinstance(value, UID) else value
            if value == "$null": return None
            if kind(value) == "NSMutableString": return get(value["NS.string"])
            return value

        def kind(value):
            return objects[value["$class"].data]["$classname"] if isinstance(value, dict) and "$class" in value else None

        def items(value): return [get(item) for item in (get(value) or {}).get("NS.objects", [])]

        def pairs(value):
            value = get(value)
            if value is None: return []
            if "searchMapping" in value:
                return list(zip(items(get(value["searchMapping"])["keys"]), items(value["values"])))
            return list(zip([get(key) for key in value["NS.keys"]], [get(item) for item in value["NS.objects"]]))

        def expression(value):
            value = get(value)
            if value is None: return ""
            if "NSKeyPath" in value: return get(value["NSKeyPath"])
            arguments = ", ".join(expression(a) for a in get(value["NSArguments"])["NS.objects"])
            selector = get(value["NSSelectorName"])
            return arguments if selector.startswith("valueForKey") else selector + "(" + arguments + ")"

        def prop(name, value):
            if kind(value) == "_NSPropertyDescriptionProxy": value = get(value["NSUnderlyingProperty"])
            derived = kind(value) == "NSDerivedAttributeDescription"
            return dict(
                kind=kind(value), name=name, isOptional=bool(value.get("NSIsOptional")), isTransient=bool(value.get("NSIsTransient")),
                modifier=get(value.get("NSVersionHashModifier")), type=value.get("NSAttributeType"), flags=value.get("NSFlagsKey"),
                destination=get(value.get("_NSDestinationEntityName")), inverse=get(value.get("_NSInverseRelationshipName")),
                maxCount=value.get("NSMaxCount"), minCount=value.get("NSMinCount"), isOrdered=bool(value.get("NSIsOrdered")),
                derivation=expression(value["NSDerivationExpression"]) if derived else None)

        def index(value):
            elements = [dict(name=get(e["NSPropertyName"]), isAscending=bool(e.get("NSAscending")), type=e["NSFetchIndexElementType"])
                        for e in items(value["NSIndexElements"])]
            return dict(name=get(value["NSIndexName"]), isPartial=get(value.get("NSPartialIndexPredicate")) is not None, elements=elements)

        def entity(name, value):
            parent = get(value["NSSuperentity"])
            inherited = set(key for key, _ in pairs(parent["NSProperties"])) if parent else set()
            return dict(
                name=name, parent=get(parent["NSEntityName"]) if parent else None, isAbstract=bool(value.get("NSIsAbstract")),
                modifier=get(value.get("NSVersionHashModifier")),
                constraints=[[get(n) for n in t["NS.objects"]] for t in items(value.get("NSUniqueTuples"))],
                properties=[prop(key, p) for key, p in pairs(value["NSProperties"]) if key not in inherited],
                allProperties=sorted(key for key, _ in pairs(value["NSProperties"])),
                indexes=[index(i) for i in items(value.get("NSFetchIndexDescriptions"))])

        keys = {}
        for value in objects:
            if kind(value): keys[kind(value)] = keys.get(kind(value), set(value)) & set(value)
        model = get(archive["$top"]["root"])
        json.dump(dict(
            entities=[entity(name, value) for name, value in pairs(model["NSEntities"])],
            versionIdentifiers=items(model["NSVersionIdentifiers"]),
            keys={name: sorted(found) for name, found in keys.items()}), sys.stdout)
        """#
}
