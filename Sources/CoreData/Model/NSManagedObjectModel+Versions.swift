extension NSManagedObjectModel {
    public var entityVersionHashesByName: [String: Data] {
        facts?.versionHashes ?? entitiesByName.mapValues(\.versionHash)
    }

    /// One text for all entity hashes: Base64 of 32 bytes.
    public var versionChecksum: String { VersionHash.checksum(of: entityVersionHashesByName) }

    /// The version hashes of a configuration's entities; nil for a name that is unknown.
    func versionHashes(forConfigurationName configuration: String?) -> [String: Data]? {
        guard let entities = entities(forConfigurationName: configuration) else { return nil }
        return Dictionary(entities.map { ($0.name ?? "", $0.versionHash) }) { $1 }
    }

    /// Whether a store with this metadata can be opened with the configuration as it is, without migration.
    public func isConfiguration(withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        guard let expected = versionHashes(forConfigurationName: configuration) else { return false }
        return metadata[NSStoreModelVersionHashesKey] as? [String: Data] == expected
    }
}
