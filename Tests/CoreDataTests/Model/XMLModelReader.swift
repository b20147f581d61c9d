import Foundation
import FoundationXML

@testable import CoreData

/// Builds models from the XML that Xcode writes: as much of it as these tests need.
final class XMLModelReader: NSObject, XMLParserDelegate {
    static func model(at url: URL) throws -> NSManagedObjectModel {
        let reader = XMLModelReader()
        let parser = XMLParser(data: try Data(contentsOf: url))
        parser.delegate = reader
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
        return reader.finished()
    }

    private var entities: [String: NSEntityDescription] = [:]
    private var order: [NSEntityDescription] = []
    private var parents: [(child: NSEntityDescription, parent: String)] = []
    private var links: [(NSRelationshipDescription, destination: String, inverse: String?)] = []
    private var indexes: [(NSEntityDescription, name: String, properties: [(name: String, isAscending: Bool)])] = []
    private var versionIdentifier: String?
    private var isInComposite = false

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes xml: [String: String]
    ) {
        switch element {
        case "model": versionIdentifier = xml["userDefinedModelVersionIdentifier"]
        case "composite": isInComposite = true
        case "entity": addEntity(xml)
        case "attribute" where !isInComposite: addAttribute(xml)
        case "relationship": addRelationship(xml)
        case "fetchIndex": indexes.append((order[order.count - 1], xml["name"] ?? "", []))
        case "fetchIndexElement":
            indexes[indexes.count - 1].properties.append((xml["property"] ?? "", xml["order"] != "descending"))
        case "compoundIndex": indexes.append((order[order.count - 1], "", []))
        case "index": indexes[indexes.count - 1].properties.append((xml["value"] ?? "", true))
        case "uniquenessConstraint": order[order.count - 1].constraintNames.append([])
        case "constraint":
            let entity = order[order.count - 1]
            entity.constraintNames[entity.constraintNames.count - 1].append(xml["value"] ?? "")
        default: break
        }
    }

    func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
        if element == "composite" { isInComposite = false }
    }

    private func addEntity(_ xml: [String: String]) {
        let entity = NSEntityDescription()
        entity.name = xml["name"]
        entity.managedObjectClassName = xml["representedClassName"]
        entity.isAbstract = xml["isAbstract"] == "YES"
        entity.versionHashModifier = xml["versionHashModifier"]
        entity.renamingIdentifier = xml["elementID"]
        if let parent = xml["parentEntity"] { parents.append((entity, parent)) }
        entities[xml["name"] ?? ""] = entity
        order.append(entity)
    }

    private func addAttribute(_ xml: [String: String]) {
        let attribute = NSAttributeDescription()
        attribute.type = Self.types[xml["attributeType"] ?? ""] ?? .undefined
        attribute.allowsExternalBinaryDataStorage = xml["allowsExternalBinaryDataStorage"] == "YES"
        attribute.preservesValueInHistoryOnDeletion = xml["preserveAfterDeletion"] == "YES"
        add(attribute, xml)
        if xml["indexed"] == "YES" { indexes.append((order[order.count - 1], attribute.name, [(attribute.name, true)])) }
    }

    private func addRelationship(_ xml: [String: String]) {
        let relationship = NSRelationshipDescription()
        relationship.maxCount = xml["maxCount"].flatMap { Int($0) } ?? (xml["toMany"] == "YES" ? 0 : 1)
        relationship.minCount = xml["minCount"].flatMap { Int($0) } ?? 0
        relationship.isOrdered = xml["ordered"] == "YES"
        add(relationship, xml)
        links.append((relationship, xml["destinationEntity"] ?? "", xml["inverseName"]))
    }

    private func add(_ property: NSPropertyDescription, _ xml: [String: String]) {
        property.name = xml["name"] ?? ""
        property.isOptional = xml["optional"] == "YES"
        property.isTransient = xml["transient"] == "YES"
        property.versionHashModifier = xml["versionHashModifier"]
        property.renamingIdentifier = xml["elementID"]
        order[order.count - 1].properties.append(property)
    }

    private func finished() -> NSManagedObjectModel {
        for (child, parent) in parents { entities[parent]?.subentities.append(child) }
        for (relationship, destination, inverse) in links {
            relationship.destinationEntity = entities[destination]
            relationship.inverseRelationship = inverse.flatMap { entities[destination]?.relationshipsByName[$0] }
        }
        for (entity, name, properties) in indexes {
            let elements = properties.compactMap { property in
                entity.propertiesByName[property.name].map {
                    let element = NSFetchIndexElementDescription(property: $0, collationType: .binary)
                    element.isAscending = property.isAscending
                    return element
                }
            }
            // An index of the old form has no name; the framework makes one of what it contains.
            let name = name.isEmpty ? properties.map(\.name).joined(separator: "_") : name
            entity.indexes.append(NSFetchIndexDescription(name: name, elements: elements))
        }
        let model = NSManagedObjectModel()
        model.entities = order
        model.versionIdentifiers = versionIdentifier.map { [$0] } ?? []
        return model
    }

    static let types: [String: NSAttributeDescription.AttributeType] = [
        "Integer 16": .integer16, "Integer 32": .integer32, "Integer 64": .integer64, "Decimal": .decimal, "Double": .double,
        "Float": .float, "String": .string, "Boolean": .boolean, "Date": .date, "Binary": .binaryData, "UUID": .uuid, "URI": .uri,
        "Transformable": .transformable, "Composite": .composite,
    ]
}
