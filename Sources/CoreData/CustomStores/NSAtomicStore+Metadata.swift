import Foundation

/// The metadata of a store whose class leaves them to the framework, as on a Mac.
extension NSAtomicStore {
    final func setDefaultMetadata() throws {
        let given = metadata ?? [:]
        guard given[NSStoreUUIDKey] == nil, let model = persistentStoreCoordinator?.managedObjectModel else { return }
        let fresh = StoreMetadata(model: model, configuration: explicitConfigurationName, type: type)
        let known = try knownMetadata() ?? fresh.values.filter { $0.key != "_NSAutoVacuumLevel" }
        metadata = [NSStoreUUIDKey: fresh.uuid, NSStoreTypeKey: type].merging(known) { $1 }.merging(given) { $1 }
        // What a class says itself that identifies its store.
        if let own = identifier, metadata[NSStoreUUIDKey] as? String == fresh.uuid { metadata[NSStoreUUIDKey] = own }
        isUnnamed = metadata[NSStoreUUIDKey] as? String == fresh.uuid
    }

    /// What the class says of the data that are there; nil where there are none, or it does not say.
    private func knownMetadata() throws -> [String: Any]? {
        guard let url, url.isFileURL, let stamp = FileStamp(url), !stamp.isEmpty else { return nil }
        do {
            return try Swift.type(of: self).metadataForPersistentStore(with: url)
        } catch let error as CocoaError where error.code == .coreData {
            return nil
        }
    }

    /// - Throws: what `load()` throws; `CocoaError` 134080 for an identifier that it has read and another store has, or that cannot be one.
    final func loadIdentified() throws {
        let isUnnamed = isUnnamed
        defer { (self.isUnnamed, refusal) = (false, nil) }
        try load()
        if let refusal { throw refusal }
        // What was read is written already.
        if isUnnamed { didWriteMetadata(metadataEdit) }
    }

    /// `load()` has read the identifier in place of which one was made up.
    final func takeIdentifier(_ values: [String: Any]?) {
        guard isUnnamed, home != nil, let madeUp = knownIdentifier, let coordinator = persistentStoreCoordinator,
            let read = values?[NSStoreUUIDKey] as? String, read != madeUp
        else { return }
        isUnnamed = false
        do {
            try requireIdentifier(read, "load()")
            beIdentified(by: read)
            try coordinator.identify(self, for: nil)
            references?.releasePromises()
        } catch {
            // IDs can be made until the class has come to its end.
            beIdentified(by: madeUp)
            refusal = error
        }
    }
}
