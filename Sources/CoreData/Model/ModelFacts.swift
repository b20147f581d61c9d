/// What follows from a frozen model, computed once.
final class ModelFacts {
    let entitiesByName: [String: NSEntityDescription]
    let entitiesInIndexOrder: [NSEntityDescription]
    let versionHashes: [String: Data]

    /// Freezes the entities of `model`, which must be valid.
    init(freezing model: NSManagedObjectModel) {
        entitiesByName = model.entitiesByName
        entitiesInIndexOrder = Self.storeOrder(model.entities.filter { $0.superentity == nil })
        for (index, entity) in entitiesInIndexOrder.enumerated() {
            let subtree = index..<index + 1 + entity.subentitiesOfAllLevels.count
            // The order puts a superentity first, so that its facts are there.
            entity.freeze(EntityFacts(of: entity, index: index, subtree: subtree, inherited: entity.superentity?.facts))
        }
        versionHashes = entitiesByName.mapValues(\.versionHash)
    }

    /// Siblings by name regardless of case, each followed by its subentities.
    private static func storeOrder(_ siblings: [NSEntityDescription]) -> [NSEntityDescription] {
        let sorted = siblings.map { (key: ($0.name ?? "").lowercased(), entity: $0) }.sorted {
            $0.key == $1.key ? binaryOrder($0.entity.name ?? "", $1.entity.name ?? "") : binaryOrder($0.key, $1.key)
        }
        return sorted.flatMap { [$0.entity] + storeOrder($0.entity.subentities) }
    }
}

extension NSManagedObjectModel {
    /// All entities by `index`. The model must be frozen.
    var entitiesInIndexOrder: [NSEntityDescription] {
        guard let facts else { misuse("The model is not in use yet: add it to a coordinator first.") }
        return facts.entitiesInIndexOrder
    }
}
