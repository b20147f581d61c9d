import ModelCompiler
import ModelFormat

/// What is odd about entities and relationships.
extension EntityFamily {
    func warnings(about entity: Model.Entity) -> [ModelWarning] {
        let childless = entity.isAbstract && !parents.contains(entity.name) ? ["is abstract, and no entity inherits from it"] : []
        let constraints = entity.uniquenessConstraints.flatMap { $0 }.compactMap { problem(ofConstraint: $0, entity.name) }
        let indexes = entity.indexes.flatMap { index in
            index.elements.filter { $0.expression == nil }.compactMap(\.property).filter { !has($0, entity.name) }
                .map { "has an index \(index.name) of \($0), which it has not" }
        }
        return place(entity.name, childless) + place(entity.name, constraints + indexes, areErrors: true)
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
        guard relationship.destination != nil else { return [] }
        let alone = relationship.inverse == nil ? ["has no inverse: Core Data cannot keep both ends together"] : []
        return alone + countWarnings(relationship)
            + (relationship.deleteRule == .noAction ? ["has the delete rule No Action, which leaves references to deleted objects"] : [])
            + (SwiftNames.reserved.contains(relationship.name) ? ["has the name of something that all managed objects have"] : [])
    }

    func errors(about relationship: Model.Relationship, of entity: Model.Entity) -> [ModelWarning] {
        place("\(entity.name).\(relationship.name)", [endProblem(of: relationship)].compactMap { $0 }, areErrors: true)
    }

    /// No other end, or one that does not lead back.
    private func endProblem(of relationship: Model.Relationship) -> String? {
        guard let destination = relationship.destination else { return "has no destination" }
        guard let name = relationship.inverse, let inverse = self.relationship(name, of: destination) else { return nil }
        if inverse.inverse == relationship.name { return nil }
        return "has the inverse \(destination).\(name), whose inverse is \(inverse.inverse ?? "none")"
    }

    private func countWarnings(_ relationship: Model.Relationship) -> [String] {
        guard relationship.isToMany, relationship.maxCount > 0, relationship.minCount > relationship.maxCount else { return [] }
        return ["wants at least \(relationship.minCount) objects and allows \(relationship.maxCount)"]
    }
}
