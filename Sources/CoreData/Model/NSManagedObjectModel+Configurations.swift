extension NSManagedObjectModel {
    /// The names of the configurations that were set.
    public var configurations: [String] { entitiesByConfiguration.keys.sorted(by: binaryOrder) }

    /// The entities of a configuration; all entities for nil; nil for a name that is unknown.
    public func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
        return entitiesByConfiguration[configuration]
    }

    /// Makes `entities` the members of a configuration.
    ///
    /// - Precondition: they are entities of this model.
    public func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        for entity in entities where entity.model !== self {
            misuse("Entity \(entity.name ?? "") is not in the model: add it to `entities` before putting it into \(configuration).")
        }
        entitiesByConfiguration[configuration] = entities
    }

    /// - Throws: `CocoaError` 134080 for a configuration that there is not, naming those that there are.
    func requireConfiguration(_ name: String?) throws {
        guard let name, entities(forConfigurationName: name) == nil else { return }
        let known = configurations.map { "“\($0)”" }.joined(separator: ", ")
        throw CocoaError.coreData(
            .persistentStoreOpen,
            "The model has no configuration “\(name)”. It has \(known.isEmpty ? "none" : known), and nil stands for all entities."
        )
    }

    /// The name under which Apple's tools know the configuration of all entities.
    private static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"
}
