import CoreData
import Foundation
import ModelFormat
import ModelTools

/// What there is in a store.
struct BrowserOverview: Encodable, Sendable {
    let name, path, identifier: String
    let hasHistory: Bool
    let entities: [Entity]

    struct Entity: Encodable, Sendable {
        let name: String
        let parent: String?
        let isAbstract: Bool
        /// With those of subentities.
        let count: Int
        let attributes: [Attribute]
        let relationships: [Relationship]
    }

    struct Attribute: Encodable, Sendable {
        let name, type: String
        let isSortable: Bool
    }

    struct Relationship: Encodable, Sendable {
        let name, type: String
        let isToMany: Bool
    }
}

extension StoreBrowser {
    func overview() throws -> BrowserOverview {
        let counts = try inspector.objectCounts()
        let roots = model.entities.filter { $0.superentity == nil }.sorted { ($0.name ?? "") < ($1.name ?? "") }
        return BrowserOverview(
            name: inspector.url.lastPathComponent,
            path: inspector.url.path,
            identifier: inspector.uuid,
            hasHistory: try inspector.hasHistory(),
            entities: roots.flatMap(family).map { BrowserOverview.Entity($0, counts) }
        )
    }

    /// An entity, then those that inherit from it, each before its own.
    private func family(_ entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity] + entity.subentities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap(family)
    }
}

extension BrowserOverview.Entity {
    fileprivate init(_ entity: NSEntityDescription, _ counts: [String: Int64?]) {
        name = entity.name ?? ""
        parent = entity.superentity?.name
        isAbstract = entity.isAbstract
        count = Self.count(entity, counts)
        attributes = entity.attributesByName.values.filter { !$0.isTransient }.map(BrowserOverview.Attribute.init).sorted {
            $0.name < $1.name
        }
        relationships = entity.relationshipsByName.values.filter { !$0.isTransient }.map(BrowserOverview.Relationship.init)
            .sorted { $0.name < $1.name }
    }

    private static func count(_ entity: NSEntityDescription, _ counts: [String: Int64?]) -> Int {
        let own = Int((counts[entity.name ?? ""] ?? nil) ?? 0)
        return entity.subentities.reduce(own) { $0 + count($1, counts) }
    }
}

extension BrowserOverview.Attribute {
    fileprivate init(_ attribute: NSAttributeDescription) {
        name = attribute.name
        let type = Model.ValueType(rawValue: Int(attribute.attributeType.rawValue)) ?? .undefined
        self.type = type.name + (attribute.isOptional ? "?" : "")
        isSortable = attribute.isSortable
    }
}

extension BrowserOverview.Relationship {
    fileprivate init(_ relationship: NSRelationshipDescription) {
        let target = relationship.destinationEntity?.name ?? "?"
        (name, isToMany) = (relationship.name, relationship.isToMany)
        type = !isToMany ? target + (relationship.isOptional ? "?" : "") : relationship.isOrdered ? "[\(target)]" : "Set<\(target)>"
    }
}

extension NSAttributeDescription {
    /// Whether the store can put rows in the order of its values.
    var isSortable: Bool {
        let others: [NSAttributeType] = [
            .transformableAttributeType, .binaryDataAttributeType, .undefinedAttributeType, .compositeAttributeType,
        ]
        return !isTransient && !others.contains(attributeType)
    }
}
