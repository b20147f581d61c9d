import Foundation
import ModelFormat
import class Predicates.NSExpression

extension ModelBundle {
    /// The bundle with the version hashes and the checksum of each version, as a compiled bundle lists them.
    package func withVersionHashes() -> ModelBundle {
        var bundle = self
        for (name, model) in versions {
            let hashes = model.versionHashes
            bundle.versionHashes[name] = hashes
            bundle.versionChecksums[name] = VersionHash.checksum(of: hashes)
        }
        return bundle
    }
}

extension Model {
    /// The version hashes of the entities, by name: those of a model made of this one.
    package var versionHashes: [String: Data] {
        var hasher = ModelHasher(self)
        return Dictionary(entities.map { ($0.name, Data(hasher.hash(of: $0))) }) { $1 }
    }
}

/// Version hashes of the entities of a model that is free of problems: without circles of parents.
private struct ModelHasher {
    private let entities: [String: Model.Entity]
    private var known: [String: [UInt8]] = [:]

    init(_ model: Model) { entities = Dictionary(model.entities.map { ($0.name, $0) }) { first, _ in first } }

    mutating func hash(of entity: Model.Entity) -> [UInt8] {
        if let hash = known[entity.name] { return hash }
        let parent = entity.parent.flatMap { entities[$0] }
        let hash = VersionHash.entity(
            entity.name,
            isAbstract: entity.isAbstract,
            parent: parent.map { self.hash(of: $0) },
            properties: properties(of: entity).sorted { VersionHash.precedes($0.name, $1.name) }.map(\.hash),
            modifier: entity.versionHashModifier,
            constraints: entity.uniquenessConstraints
        )
        known[entity.name] = hash
        return hash
    }

    private func properties(of entity: Model.Entity) -> [(name: String, hash: [UInt8])] {
        (entity.parent.flatMap { entities[$0] }.map(properties) ?? [])
            + entity.attributes.filter { !$0.isTransient }.map { ($0.name, hash(of: $0)) }
            + entity.relationships.filter { !$0.isTransient }.map { ($0.name, hash(of: $0, in: entity)) }
    }

    private func hash(of attribute: Model.Attribute) -> [UInt8] {
        if let derivation = attribute.derivation { return VersionHash.derivedAttribute(derivation.normalFormat) }
        return VersionHash.attribute(
            VersionHash.base(
                name: attribute.name,
                isOptional: attribute.isOptional,
                isTransient: attribute.isTransient,
                modifier: attribute.versionHashModifier
            ),
            type: attribute.type.rawValue,
            isExternal: attribute.allowsExternalBinaryDataStorage,
            isPreserved: attribute.preservesValueInHistoryOnDeletion
        )
    }

    private func hash(of relationship: Model.Relationship, in entity: Model.Entity) -> [UInt8] {
        VersionHash.relationship(
            VersionHash.base(
                name: relationship.name,
                isOptional: relationship.isOptional,
                isTransient: relationship.isTransient,
                modifier: relationship.versionHashModifier
            ),
            destination: relationship.destination ?? "",
            inverse: inverseName(of: relationship, in: entity),
            counts: (relationship.minCount, relationship.maxCount),
            isOrdered: relationship.isOrdered
        )
    }

    /// Empty for a relationship without one, or that is its own.
    private func inverseName(of relationship: Model.Relationship, in entity: Model.Entity) -> String {
        guard let name = relationship.inverse else { return "" }
        var next = relationship.destination.flatMap { entities[$0] }
        while let candidate = next, !candidate.relationships.contains(where: { $0.name == name }) {
            next = candidate.parent.flatMap { entities[$0] }
        }
        guard let home = next, home.name != entity.name || name != relationship.name else { return "" }
        return name
    }
}

extension Model.Expression {
    /// The text that `NSExpression` has for it; its own for one that only a derivation understands.
    fileprivate var normalFormat: String { (try? NSExpression.make(self).description) ?? format }
}
