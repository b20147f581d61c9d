import Foundation
import Logging
import Predicates
import class Predicates.NSExpression

/// A mapping model that was found to fit two models: every name in it is one of theirs.
struct MappingPlan {
    let model: NSMappingModel
    let mappings: [PlannedMapping]

    /// - Parameters: the models whose objects are migrated: their entities have no classes of their own.
    /// - Throws: `CocoaError` 134110 that names mapping, entity, property and reason.
    init(_ model: NSMappingModel, from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws {
        self.model = model
        mappings = try (model.entityMappings ?? []).map { try PlannedMapping($0, source, destination) }
        var names: Set<String> = []
        if let twice = mappings.first(where: { !names.insert($0.name).inserted }) {
            throw CocoaError.migration("Two entity mappings are named \(twice.name).", mapping: twice.name)
        }
        for mapping in mappings { mapping.leaveOutImplied(mappings) }
        noteLeftOut(source)
    }

    private func noteLeftOut(_ source: NSManagedObjectModel) {
        let named = Set(mappings.compactMap(\.source?.name))
        let others = source.entities.filter { !$0.isAbstract }.compactMap(\.name).filter { !named.contains($0) }
        guard !others.isEmpty else { return }
        Logger(label: "CoreData").notice("No entity mapping names \(others.sorted().joined(separator: ", ")): these objects are left out.")
    }
}

/// An entity mapping with what its names stand for, and what became of its objects.
final class PlannedMapping {
    let mapping: NSEntityMapping
    let name: String
    let policy: NSEntityMigrationPolicy
    /// Whether the policy is a class of the program's.
    let hasOwnPolicy: Bool
    let source: NSEntityDescription?
    let destination: NSEntityDescription?
    let attributes: [PropertyAssignment]
    private(set) var relationships: [PropertyAssignment]
    /// Which pairs stand for objects that were copied as rows: all of the source entity. Nil where there is an object for each.
    private(set) var copied: Range<Int>?
    /// Of how many pairs the database was told.
    var notedCount = 0
    var associations = AssociationTable()

    init(_ mapping: NSEntityMapping, _ sourceModel: NSManagedObjectModel, _ destinationModel: NSManagedObjectModel) throws {
        let names = [mapping.sourceEntityName, mapping.destinationEntityName].compactMap { $0 }
        let name = mapping.name ?? names.joined(separator: "To")
        guard !names.isEmpty else {
            throw CocoaError.migration("Entity mapping \(name) has neither a source nor a destination.", mapping: name)
        }
        (self.mapping, self.name) = (mapping, name)
        let source = try Self.entity(mapping.sourceEntityName, mapping.sourceEntityVersionHash, in: sourceModel, "source", name)
        self.source = source
        destination = try Self.entity(
            mapping.destinationEntityName,
            mapping.destinationEntityVersionHash,
            in: destinationModel,
            "destination",
            name
        )
        hasOwnPolicy = mapping.entityMigrationPolicyClassName.map { $0 != "NSEntityMigrationPolicy" } ?? false
        policy = try hasOwnPolicy ? Self.policy(mapping, name, sourceModel) : NSEntityMigrationPolicy()
        let copies = mapping.mappingType == .copyEntityMappingType
        (attributes, relationships) =
            try destination.map { destination in
                let reader = AssignmentReader(mapping: name, source: source, destination: destination, copies: copies)
                return (
                    try reader.assignments(mapping.attributeMappings, of: NSAttributeDescription.self),
                    try reader.assignments(mapping.relationshipMappings, of: NSRelationshipDescription.self)
                )
            } ?? ([], [])
    }

    private static func entity(_ name: String?, _ hash: Data?, in model: NSManagedObjectModel, _ side: String, _ mapping: String) throws
        -> NSEntityDescription?
    {
        guard let name else { return nil }
        guard let entity = model.entitiesByName[name] else {
            throw CocoaError.migration(
                "Entity mapping \(mapping): the \(side) model has no entity \(name).",
                entity: name,
                mapping: mapping
            )
        }
        guard hash == nil || hash == entity.versionHash else {
            let reason = "Entity mapping \(mapping) is for another version of the \(side) entity \(name)."
            throw CocoaError.migration(reason, entity: name, mapping: mapping)
        }
        return entity
    }

    private static func policy(_ mapping: NSEntityMapping, _ name: String, _ model: NSManagedObjectModel) throws -> NSEntityMigrationPolicy
    {
        let className = mapping.entityMigrationPolicyClassName ?? ""
        if let found = PolicyClasses.policyClass(named: className, with: model) { return found.init() }
        let reason =
            "Entity mapping \(name): there is no policy class \(className). Call register() on it before, or use the name that NSStringFromClass gives."
        throw CocoaError.migration(reason, entity: mapping.sourceEntityName, mapping: name, under: .entityMigrationPolicy)
    }

    /// What becomes of all objects by values that stay what they are; nil where some have to be computed.
    var copiedEntity: CopiedEntity? {
        guard !hasOwnPolicy, mapping.sourceExpression == nil, let source, let destination, !destination.isAbstract else { return nil }
        let stored = attributes.filter { !$0.property.isTransient }
        let copied = stored.compactMap { $0.copiedAttribute }
        guard copied.count == stored.count else { return nil }
        return CopiedEntity(source: source, destination: destination, attributes: copied)
    }

    /// All objects were copied as rows. Policies of earlier mappings may have associated others before.
    func noteCopied(from count: Int) { copied = count..<associations.savedCount }

    /// These were set.
    func leaveOut(_ done: [NSPropertyDescription]) {
        relationships = relationships.filter { assignment in !done.contains { $0 === assignment.property } }
    }

    /// Takes out the relationships that are set from their other end: nothing would be left for them to do but to read all the members.
    func leaveOutImplied(_ all: [PlannedMapping]) {
        guard !hasOwnPolicy else { return }
        // NB: this mapping is one of all.
        relationships = relationships.filter { !$0.isImplied(all) }
    }
}

/// Where the value of one property comes from.
struct PropertyAssignment {
    let property: NSPropertyDescription
    let mapping: NSPropertyMapping
    let expression: NSExpression
    /// The property of the source that the expression is, if it is one.
    let copied: NSPropertyDescription?
    /// The relationship of the source whose targets' successors the expression is, if it is that.
    let followed: NSRelationshipDescription?
    /// The name of the mapping by which the targets became what is meant; nil for any.
    let throughMapping: String?

    /// The attribute and what it comes from, where the value is the same in both.
    fileprivate var copiedAttribute: (old: NSAttributeDescription, new: NSAttributeDescription)? {
        guard let before = copied as? NSAttributeDescription, let attribute = property as? NSAttributeDescription, !before.isTransient,
            attribute.hasValues(of: before)
        else { return nil }
        return (before, attribute)
    }

    /// Whether a relationship is what its inverse says, which is set for all objects that it can have: one without order to many, or one to the owner of
    /// an order, who has to say that.
    fileprivate func isImplied(_ all: [PlannedMapping]) -> Bool {
        guard let relationship = property as? NSRelationshipDescription, let inverse = relationship.inverse, let back = followed?.inverse,
            relationship.isToMany ? !relationship.isOrdered && !inverse.isToMany : inverse.isOrdered && back.isToMany
        else { return false }
        let others = all.filter { other in other.destination.map { $0.isKindOf(entity: inverse.entity) } ?? false }
        return !others.isEmpty
            && others.allSatisfy { other in
                !other.hasOwnPolicy && other.source.map { $0.isKindOf(entity: back.entity) } ?? false
                    && other.relationships.contains { $0.property.name == inverse.name && $0.followed?.name == back.name }
            } && Set(all.compactMap(\.source?.name)).count == all.filter { $0.source != nil }.count
    }
}
