import Foundation

/// The versions that a store has behind it: of an older program, which knows nothing of the newer one, the newer one's data have to be safe.
extension StoreMetadata {
    /// The checksums of the versions that migrations have led away from, the oldest first.
    static let formerVersionsKey = "CoreDataFormerVersions"

    /// Whether migrations have led the store from that version to where it is.
    func wasOnce(_ model: NSManagedObjectModel, _ configuration: String?) -> Bool {
        Self.formerVersions(values).contains(Self.checksum(model, configuration))
    }

    /// What the metadata of a store say of its former versions once it is of another one. A version that it comes back to it has never left.
    static func formerVersions(_ values: [String: Any], leavingFor model: NSManagedObjectModel, _ configuration: String?) -> [String] {
        let left = values[NSStoreModelVersionHashesKey] as? [String: Data]
        let versions = formerVersions(values) + [left.map(VersionHash.checksum)].compactMap { $0 }
        let next = checksum(model, configuration)
        return Array(versions.prefix { $0 != next })
    }

    private static func formerVersions(_ values: [String: Any]) -> [String] { values[formerVersionsKey] as? [String] ?? [] }

    private static func checksum(_ model: NSManagedObjectModel, _ configuration: String?) -> String {
        VersionHash.checksum(of: model.versionHashes(forConfigurationName: configuration) ?? [:])
    }
}
