import ModelCompiler
import ModelFormat

/// Two versions of a model, and what of the one becomes what of the other.
struct ModelTransition {
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    let pairing: ModelPairing

    /// The models are frozen by this.
    init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        source.freeze()
        destination.freeze()
        (self.source, self.destination) = (source, destination)
        pairing = ModelPairing(Model(source), Model(destination))
    }

    /// The entity of the source that an entity of the destination comes from.
    func origin(of entity: NSEntityDescription) -> NSEntityDescription? {
        pairing.origin(of: entity.name ?? "").flatMap { source.entitiesByName[$0] }
    }

    /// The entity of the destination that an entity of the source becomes.
    func successor(of entity: NSEntityDescription) -> NSEntityDescription? {
        pairing.successor(of: entity.name ?? "").flatMap { destination.entitiesByName[$0] }
    }

    /// What a property of an entity of the destination, its own or inherited, is in the objects that become that entity's.
    func origin(of property: NSPropertyDescription, in entity: NSEntityDescription) -> NSPropertyDescription? {
        pairing.origin(of: property.name, in: entity.name ?? "").flatMap { origin(of: entity)?.propertiesByName[$0] }
    }

    /// All that a relationship of the destination is in objects of the source: several, where entities below had one each.
    func origins(of relationship: NSRelationshipDescription) -> [NSRelationshipDescription] {
        var seen: Set<ObjectIdentifier> = []
        return ([relationship.entity] + relationship.entity.allSubentities).compactMap {
            origin(of: relationship, in: $0) as? NSRelationshipDescription
        }.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// - Parameter configuration: of the store: what is in the way of entities that it does not hold is no matter.
    /// - Throws: `CocoaError` 134190 that names entity, property and reason, where no mapping can be inferred.
    func requireInferable(configuration: String? = nil) throws {
        let held = heldEntities(configuration)
        let obstacles = pairing.difference.obstacles.filter { held.contains(String($0.place.prefix { $0 != "." })) }
        guard let first = obstacles.first else { return }
        let names = first.place.split(separator: ".", maxSplits: 1).map(String.init)
        throw CocoaError.coreData(
            .inferredMappingModel,
            "No mapping can be inferred: \(obstacles.map(\.sentence).joined(separator: "; ")).",
            userInfo: [
                "reason": first.text, "entity": names[0], "property": names.count > 1 ? names[1] : "", "reasons": obstacles.map(\.sentence),
            ]
        )
    }

    /// The names of the destination's entities that a store can have objects of, and of those that they inherit from.
    private func heldEntities(_ configuration: String?) -> Set<String> {
        let entities = destination.entities(forConfigurationName: configuration) ?? destination.entities
        return Set(entities.flatMap(\.inheritanceChain).compactMap(\.name))
    }

    /// Whether a store loses nothing on the way: its objects have all their values and members afterwards, in the order that they had, and these mean
    /// what they did.
    ///
    /// - Parameter configurations: those that the store has been and will be opened with.
    func keepsAll(_ configurations: (from: String?, to: String?)) -> Bool {
        let entities = source.entities(forConfigurationName: configurations.from) ?? source.entities
        return (try? requireInferable(configuration: configurations.to)) != nil && entities.allSatisfy(keepsAll(of:))
    }

    private func keepsAll(of entity: NSEntityDescription) -> Bool {
        guard let successor = successor(of: entity), entity.versionHashModifier == successor.versionHashModifier else { return false }
        let kept = successor.propertiesByName.values.compactMap { property in
            origin(of: property, in: successor).flatMap { property.holdsAll(of: $0) ? $0.name : nil }
        }
        return entity.propertiesByName.values.filter(\.isInStores).allSatisfy { kept.contains($0.name) }
    }
}

extension NSPropertyDescription {
    fileprivate var isInStores: Bool { !isTransient && !(self is NSFetchedPropertyDescription) }

    /// Whether every value of an older property, for which a mapping is inferred, can be told from this one's.
    fileprivate func holdsAll(of older: NSPropertyDescription) -> Bool {
        guard versionHashModifier == older.versionHashModifier, isOptional || !older.isOptional else { return false }
        if older is NSCompositeAttributeDescription { return versionHash == older.versionHash }
        guard let relationship = self as? NSRelationshipDescription, let before = older as? NSRelationshipDescription else { return true }
        return (relationship.isOrdered || !before.isOrdered) && (relationship.inverse == nil) == (before.inverse == nil)
    }
}
