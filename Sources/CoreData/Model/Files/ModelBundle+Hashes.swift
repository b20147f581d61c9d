import ModelFormat

extension ModelBundle {
    /// The bundle with the version hashes and the checksum of each version, as a compiled bundle lists them.
    ///
    /// - Throws: what `NSManagedObjectModel.init(_:)` throws, for a version that cannot be used.
    package func withVersionHashes() throws -> ModelBundle {
        var bundle = self
        for (name, model) in versions {
            let made = try NSManagedObjectModel(model)
            bundle.versionHashes[name] = made.entityVersionHashesByName
            bundle.versionChecksums[name] = made.versionChecksum
        }
        return bundle
    }
}
