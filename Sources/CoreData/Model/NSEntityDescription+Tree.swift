extension NSEntityDescription {
    /// The model that the entity belongs to. The entity does not keep it alive.
    ///
    /// - Precondition: the entity is in a model, and that model still exists.
    public var managedObjectModel: NSManagedObjectModel {
        guard let model else {
            misuse("Entity \(name ?? "") belongs to no model, or to one that is gone: keep the model as long as its entities.")
        }
        return model
    }

    /// The entity that this one inherits from.
    public var superentity: NSEntityDescription? { parent }

    /// The entities that inherit directly from this one. Setting it makes this entity the superentity of each.
    ///
    /// - Precondition: for setting, no entity becomes its own ancestor.
    public var subentities: [NSEntityDescription] {
        get { ownSubentities }
        set {
            newValue.forEach(checkIsNoAncestor)
            ownSubentities.forEach { $0.parent = nil }
            for entity in newValue {
                if let old = entity.parent, old !== self { old.ownSubentities.removeAll { $0 === entity } }
                entity.parent = self
            }
            ownSubentities = newValue
        }
    }

    private func checkIsNoAncestor(_ entity: NSEntityDescription) {
        if isKindOf(entity: entity) {
            misuse("Entity \(entity.name ?? "") would inherit from itself: take it out of the subentities of \(name ?? "").")
        }
    }

    /// The direct subentities by name.
    public var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(ownSubentities.map { ($0.name ?? "", $0) }) { $1 }
    }

    /// Whether this is `entity` or inherits from it.
    ///
    /// - Complexity: O(1) in a frozen model, else O(depth of the tree).
    public func isKindOf(entity: NSEntityDescription) -> Bool {
        if self === entity { return true }
        if let facts, let other = entity.facts, facts.root === other.root { return other.subtree.contains(facts.index) }
        return superentity?.isKindOf(entity: entity) ?? false
    }

    /// Subentities, their subentities and so on, each before its own.
    var subentitiesOfAllLevels: [NSEntityDescription] {
        ownSubentities.flatMap { [$0] + $0.subentitiesOfAllLevels }
    }

    /// Identifies the stored form of the entity's objects, inherited properties included: equal hashes need no migration.
    ///
    /// The 32 bytes that Apple's Core Data computes, and writes into every store.
    public var versionHash: Data { facts?.versionHash ?? Data(hashBytes) }

    private var hashBytes: [UInt8] { VersionHash.entity(self, superentityHash: superentity?.hashBytes) }
}
