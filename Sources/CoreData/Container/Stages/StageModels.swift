import Foundation

/// The models of the versions in a chain: those that stages refer to, the coordinator's, and what the program carries.
struct StageModels {
    private let chain: StageChain
    private let destination: NSManagedObjectModel
    private let configuration: String?

    init(_ chain: StageChain, destination: NSManagedObjectModel, configuration: String?) {
        (self.chain, self.destination, self.configuration) = (chain, destination, configuration)
    }

    /// The checksum of the version that a store is of.
    static func checksum(of metadata: [String: Any]) -> String {
        metadata[NSPersistentStoreModelVersionChecksumKey] as? String
            ?? VersionHash.checksum(of: metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:])
    }

    func isDestination(_ metadata: [String: Any]) -> Bool {
        destination.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
    }

    /// The place of the version that a store is of. A store of one configuration has not the checksum of its model: that is compared by entities, and
    /// where these are the same in several versions, it is the one that the store has come to.
    func place(of metadata: [String: Any]) -> Int? {
        if let place = chain.place(of: Self.checksum(of: metadata)) { return place }
        guard configuration != nil else { return nil }
        let noted = (metadata[DatabaseOptions.stagedVersionKey] as? String).flatMap(chain.place)
        return ([noted].compactMap { $0 } + chain.versions.indices).first { place in
            let model = (try? model(at: place, isRequired: false)) ?? nil
            return model?.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) ?? false
        }
    }

    /// The model at a place of the chain; nil where nobody has it, and it is not required.
    ///
    /// - Throws: `CocoaError` 134504.
    func model(at place: Int, isRequired: Bool) throws -> NSManagedObjectModel? {
        let checksum = chain.versions[place]
        if checksum == destination.versionChecksum { return destination }
        if let reference = chain.references[checksum] { return try reference.resolve() }
        let registered = NSManagedObjectModel.allRegistered
        if let model = registered.first(where: { $0.versionChecksum == checksum }) { return model }
        let places = ModelPlaces([.main] + Bundle.allBundles)
        // A file that is of no use here may still be in the folder.
        let carried = places.all.lazy.flatMap { (try? NSManagedObjectModel.versions(at: $0)) ?? [] }
        if let model = carried.first(where: { $0.versionChecksum == checksum }) { return model }
        guard isRequired else { return nil }
        throw CocoaError.coreData(
            CocoaError.Code(rawValue: NSManagedObjectModelReferenceNotFoundError),
            "There is no model with the version checksum \(checksum)."
        )
    }
}
