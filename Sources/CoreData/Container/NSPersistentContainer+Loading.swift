extension NSPersistentContainer {
    /// As `loadPersistentStores(completionHandler:)`, awaited, one store after the other and in the background. An addition to Apple's interface.
    ///
    /// - Throws: the error of the first store that failed. The others were tried all the same; the next call tries those again that have
    ///   failed.
    public func loadPersistentStores() async throws {
        var errors: [any Error] = []
        for description in takeUnloaded() {
            let error: (any Error)? = await withCheckedContinuation { continuation in
                load(description, isLater: true) { continuation.resume(returning: $0) }
            }
            if let error { errors.append(error) }
        }
        if let first = errors.first { throw first }
    }

    func takeUnloaded() -> [NSPersistentStoreDescription] { stores.withLock { $0.takeUnloaded(persistentStoreCoordinator) } }

    /// Adds the store of a description that was taken.
    func load(_ description: NSPersistentStoreDescription, isLater: Bool, _ completion: @escaping ((any Error)?) -> Void) {
        let folder = defaultFolder(of: description)
        let prepare = { [self] in
            try requireModel()
            if let folder { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        }
        persistentStoreCoordinator.addStore(description, isLater: isLater, preparing: prepare) { [self] result in
            stores.withLock { $0.end(description, result) }
            if case .failure(let error) = result { completion(error) } else { completion(nil) }
        }
    }

    /// The default folder, where that is the folder of the store.
    private func defaultFolder(of description: NSPersistentStoreDescription) -> URL? {
        let folder = type(of: self).defaultDirectoryURL()
        let place = description.url?.deletingLastPathComponent().standardizedFileURL.path
        return place == folder.standardizedFileURL.path ? folder : nil
    }
}
