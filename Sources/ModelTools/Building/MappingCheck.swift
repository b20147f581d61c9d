import ModelCompiler
import ModelFormat

/// Whether a mapping model is of the two models that it names. A program does not find one that is not: its stores migrate by what can be inferred, and
/// what the mapping would have kept is lost.
struct MappingCheck {
    private let mapping: MappingModel
    private let source, destination: EntityFamily

    init(_ mapping: MappingModel, from source: Model, to destination: Model) {
        self.mapping = mapping
        (self.source, self.destination) = (EntityFamily(source), EntityFamily(destination))
    }

    /// Names that the models do not have.
    var errors: [String] { mapping.entityMappings.flatMap(problems) }

    /// Entities with objects that are left out.
    var warnings: [String] {
        let mappings = mapping.entityMappings
        return [
            warning(about: source, "source", named: mappings.compactMap(\.sourceEntity)),
            warning(about: destination, "destination", named: mappings.compactMap(\.destinationEntity)),
        ].compactMap { $0 }
    }

    private func warning(about family: EntityFamily, _ side: String, named: [String]) -> String? {
        let concrete = family.entities.values.filter { !$0.isAbstract }.map(\.name)
        let left = Set(concrete).subtracting(named).sorted()
        if left.isEmpty { return nil }
        return
            "no entity mapping names \(left.joined(separator: ", ")) of the \(side): stores are not migrated by this mapping model when they are "
            + "opened, but by what can be inferred"
    }

    private func problems(of entity: MappingModel.EntityMapping) -> [String] {
        let ends = [(entity.sourceEntity, source, "source"), (entity.destinationEntity, destination, "destination")]
        let unknown = ends.compactMap { name, family, side in
            name.flatMap { problem($0, "entity", of: "the \(side)", among: family.entities.keys.sorted()) }
        }
        return (unknown + propertyProblems(of: entity)).map { "entity mapping \(entity.name): \($0)" }
    }

    private func propertyProblems(of entity: MappingModel.EntityMapping) -> [String] {
        guard let name = entity.destinationEntity, destination.entities[name] != nil else { return [] }
        let names = destination.propertyNames(of: name)
        return (entity.attributeMappings + entity.relationshipMappings).compactMap { problem($0.name, "property", of: name, among: names) }
    }

    private func problem(_ name: String, _ kind: String, of owner: String, among names: [String]) -> String? {
        if names.contains(name) { return nil }
        return "\(owner) has no \(kind) \(name)" + (nearest(to: name, among: names).map { ": is \($0) meant?" } ?? "")
    }
}
