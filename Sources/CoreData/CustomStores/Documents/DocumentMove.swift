import Foundation

/// Documents that are copied as a whole, from one form to the other too.
extension StoreClass {
    func move(_ store: any RowStore, _ opening: StoreOpening, commit: @escaping (any RowStore) -> Void) throws {
        guard let form = storeClass as? DocumentStore.Type, let url = opening.url else {
            throw Self.cannotMove(store.type, to: opening.type)
        }
        try opening.requireUnused(nil, url)
        guard let source = store as? DocumentStore else { return try write(store, form, opening, url, commit) }
        try source.hooks.withLock {
            // What others have done to its file meanwhile is none of this store's.
            var document = try source.document(source.writtenMetadata)
            document.metadata[NSStoreTypeKey] = form.storeType
            try AtomicFile.write(document.data(form.format), to: url) { if $0 != nil { throw Self.exists(url) } }
            do {
                var opening = opening
                opening.replaced = source
                // Contexts go on with rows of these versions.
                source.noteRows()
                let fresh = try open(opening)
                if source.hasUnwrittenMetadata { fresh.metadata = source.metadata }
                commit(fresh)
                source.close()
            } catch {
                try? FileManager.default.removeItem(at: url)
                throw error
            }
        }
    }

    /// What is no document becomes one: another store, with keys as the numbers of its objects.
    private func write(
        _ store: any RowStore,
        _ form: DocumentStore.Type,
        _ opening: StoreOpening,
        _ url: URL,
        _ commit: @escaping (any RowStore) -> Void
    ) throws {
        let fresh = StoreMetadata(model: opening.model, configuration: opening.configurationName, type: form.storeType)
        let metadata = (store.metadata ?? [:]).merging(fresh.dictionary) { $1 }.filter { $0.key != "_NSAutoVacuumLevel" }
        try DatabaseMove.throughMemory(store, to: opening.type) { rows in
            let document = try DocumentWriting(rows, opening.model).document(metadata)
            try AtomicFile.write(document.data(form.format), to: url) { if $0 != nil { throw Self.exists(url) } }
            do { try commit(open(opening)) } catch {
                try? FileManager.default.removeItem(at: url)
                throw error
            }
        }
    }

    func replace(_ destination: StoreLocator, with source: StoreLocator, releasing release: () throws -> Void) throws {
        guard storeClass is DocumentStore.Type else {
            throw CocoaError.coreData(
                .coreData,
                "Stores of class \(storeClass) cannot be replaced: the class knows its files, and nobody else."
            )
        }
        _ = try storeClass.metadataForPersistentStore(with: source.url)
        guard source.url.resolvingSymlinksInPath() != destination.url.resolvingSymlinksInPath() else { return }
        let data = try Data(contentsOf: source.url)
        try release()
        try AtomicFile.write(data, to: destination.url) { _ in }
    }

    private static func exists(_ url: URL) -> CocoaError {
        .coreData(
            .fileWriteFileExists,
            "There is a file at \(url.path) already: destroyPersistentStore(at:ofType:) removes it, if it may go.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }
}
