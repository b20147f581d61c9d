extension NSManagedObjectModel {
    /// A model with copies of all entities of some models; nil for nil.
    ///
    /// An entity that several models define in the same way is taken once.
    ///
    /// - Precondition: entities of the same name have the same version hash.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        guard let models else { return nil }
        if let name = Self.disagreement(of: models) {
            misuse("Two of the models define entity \(name) differently: merge only models that agree on it.")
        }
        self.init()
        takeState(of: models, copies: EntityCopies(mergingByName: models.flatMap(\.entities)))
    }

    /// The name of an entity that some of the models define differently.
    static func disagreement(of models: [NSManagedObjectModel]) -> String? {
        var hashes: [String: Data] = [:]
        for entity in models.flatMap(\.entities) {
            let name = entity.name ?? ""
            if let known = hashes[name], known != entity.versionHash { return name }
            hashes[name] = entity.versionHash
        }
        return nil
    }

    /// A model with copies of exactly the entities that a store was written with; nil if one of them is in none of the models.
    ///
    /// Of the first model alone that has just these entities, where there is one: else of all that have any of them, and with the identifiers,
    /// templates and configurations of all.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return nil }
        let whole = models.first { $0.entityVersionHashesByName == hashes }.map { [$0] }
        let matching = (whole ?? models).flatMap(\.entities).filter { hashes[$0.name ?? ""] == $0.versionHash }
        guard Set(matching.map(\.name)).count == hashes.count else { return nil }
        self.init()
        takeState(of: whole ?? models, copies: EntityCopies(mergingByName: matching))
    }

    /// Takes copies of the models' entities, and what refers to them.
    func takeState(of models: [NSManagedObjectModel], copies: EntityCopies) {
        entities = Self.distinct(models.flatMap(\.entities).compactMap { copies[$0] })
        for model in models {
            for (name, members) in model.entitiesByConfiguration {
                let known = entitiesByConfiguration[name] ?? []
                entitiesByConfiguration[name] = Self.distinct(known + members.compactMap { copies[$0] })
            }
            versionIdentifiers.formUnion(model.versionIdentifiers)
            versionBundles += model.versionBundles.filter { !versionBundles.contains($0) }
            fetchTemplates.merge(model.fetchTemplates) { first, _ in first }
            if let localized = model.localizationDictionary {
                localizationDictionary = (localizationDictionary ?? [:]).merging(localized) { $1 }
            }
        }
    }

    /// The entities without repetitions, in the order of their first places.
    private static func distinct(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        var seen: Set<ObjectIdentifier> = []
        return entities.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
