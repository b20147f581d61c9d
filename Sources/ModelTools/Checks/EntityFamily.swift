import ModelFormat

/// The entities of a model with what they inherit.
struct EntityFamily {
    let entities: [String: Model.Entity]
    private let parents: Set<String>

    init(_ model: Model) {
        entities = Dictionary(model.entities.map { ($0.name, $0) }) { first, _ in first }
        parents = Set(model.entities.compactMap(\.parent))
    }

    /// An entity and those above it. A model that has been read has no circles.
    func lineage(of name: String?) -> [Model.Entity] {
        var (found, next): ([Model.Entity], String?) = ([], name)
        while let entity = next.flatMap({ entities[$0] }), found.count < entities.count {
            found.append(entity)
            next = entity.parent
        }
        return found
    }

    func attribute(_ name: String, of entity: String) -> Model.Attribute? {
        lineage(of: entity).lazy.flatMap(\.attributes).first { $0.name == name }
    }

    func relationship(_ name: String, of entity: String) -> Model.Relationship? {
        lineage(of: entity).lazy.flatMap(\.relationships).first { $0.name == name }
    }

    /// What an entity has and inherits, sorted.
    func propertyNames(of entity: String) -> [String] {
        lineage(of: entity).flatMap(\.propertyNames).sorted()
    }

    func warnings(about entity: Model.Entity) -> [ModelWarning] {
        let childless = entity.isAbstract && !parents.contains(entity.name) ? ["is abstract, and no entity inherits from it"] : []
        let constraints = entity.uniquenessConstraints.flatMap { $0 }.compactMap { problem(ofConstraint: $0, entity.name) }
        let indexes = entity.indexes.flatMap { index in
            index.elements.filter { $0.expression == nil }.compactMap(\.property).filter { !has($0, entity.name) }
                .map { "has an index \(index.name) of \($0), which it has not" }
        }
        return place(entity.name, childless + constraints + indexes)
    }

    private func has(_ property: String, _ entity: String) -> Bool {
        attribute(property, of: entity) != nil || relationship(property, of: entity) != nil
    }

    private func problem(ofConstraint property: String, _ entity: String) -> String? {
        if !has(property, entity) { return "has a uniqueness constraint on \(property), which it has not" }
        let isTransient = attribute(property, of: entity)?.isTransient == true
        return isTransient ? "has a uniqueness constraint on \(property), which is transient and not in the store" : nil
    }

    func warnings(about relationship: Model.Relationship, of entity: Model.Entity) -> [String] {
        guard let destination = relationship.destination else { return ["has no destination"] }
        return inverseWarnings(relationship, destination, entity) + countWarnings(relationship)
            + (relationship.deleteRule == .noAction ? ["has the delete rule No Action, which leaves references to deleted objects"] : [])
            + (SwiftNames.reserved.contains(relationship.name) ? ["has the name of something that all managed objects have"] : [])
    }

    private func inverseWarnings(_ relationship: Model.Relationship, _ destination: String, _ entity: Model.Entity) -> [String] {
        guard let name = relationship.inverse else { return ["has no inverse: Core Data cannot keep both ends together"] }
        guard let inverse = self.relationship(name, of: destination), inverse.inverse != relationship.name else { return [] }
        return ["has the inverse \(destination).\(name), whose inverse is \(inverse.inverse ?? "none")"]
    }

    private func countWarnings(_ relationship: Model.Relationship) -> [String] {
        guard relationship.isToMany, relationship.maxCount > 0, relationship.minCount > relationship.maxCount else { return [] }
        return ["wants at least \(relationship.minCount) objects and allows \(relationship.maxCount)"]
    }
}

extension Model.Entity {
    /// What is declared here.
    var propertyNames: [String] {
        let names: [String] = attributes.map(\.name) + relationships.map(\.name)
        return names + fetchedProperties.map(\.name)
    }
}
