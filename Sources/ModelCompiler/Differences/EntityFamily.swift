import ModelFormat

/// The entities of a model with what they inherit.
package struct EntityFamily: Sendable {
    package let entities: [String: Model.Entity]
    package let parents: Set<String>

    package init(_ model: Model) {
        entities = Dictionary(model.entities.map { ($0.name, $0) }) { first, _ in first }
        parents = Set(model.entities.compactMap(\.parent))
    }

    /// An entity and those above it. A model that has been read has no circles.
    package func lineage(of name: String?) -> [Model.Entity] {
        var (found, next): ([Model.Entity], String?) = ([], name)
        while let entity = next.flatMap({ entities[$0] }), found.count < entities.count {
            found.append(entity)
            next = entity.parent
        }
        return found
    }

    package func attribute(_ name: String, of entity: String) -> Model.Attribute? {
        lineage(of: entity).lazy.flatMap(\.attributes).first { $0.name == name }
    }

    package func relationship(_ name: String, of entity: String) -> Model.Relationship? {
        lineage(of: entity).lazy.flatMap(\.relationships).first { $0.name == name }
    }

    /// What an entity has and inherits, sorted.
    package func propertyNames(of entity: String) -> [String] {
        lineage(of: entity).flatMap(\.propertyNames).sorted()
    }
}

extension Model.Entity {
    /// What is declared here.
    package var propertyNames: [String] {
        let names: [String] = attributes.map(\.name) + relationships.map(\.name)
        return names + fetchedProperties.map(\.name)
    }
}
