import Foundation
import Logging

/// A document of another version of the model becomes one of this: its objects are read with the older model into memory, migrated there as a
/// database is, and written back as a whole.
struct DocumentMigration {
    let form: DocumentStore.Type
    let opening: StoreOpening
    let url: URL

    /// Several may open the document at once: one migrates it, the others find it done.
    ///
    /// - Throws: `CocoaError` 134130, 134140 or 134110, as for a database; the file is what it was. `MappingModelWanted` where there is a mapping model.
    func runIfAsked() throws {
        while isAskedFor, let stamp = FileStamp(url), !stamp.isEmpty {
            do { return try run(stamp) } catch {
                // What was read may be of two states.
                if FileStamp(url) == stamp { throw error }
            }
        }
    }

    private func run(_ stamp: FileStamp) throws {
        let document = try Document(contentsOf: url)
        guard document.metadata[NSStoreModelVersionHashesKey] != nil,
            !opening.model.isConfiguration(withName: opening.configurationName, compatibleWithStoreMetadata: document.metadata)
        else { return }
        let source = try MemoryMigration.source(of: document.metadata, opening, url)
        if opening.hasMappingModel(source.model, opening.model) {
            throw MappingModelWanted(source: source)
        }
        let migrated = try migrated(from: source.model, source.configuration, document.metadata)
        do {
            try AtomicFile.write(migrated.data(form.format), to: url) { current in
                if current != stamp { throw Document.corrupt(url, "was changed by others while it was migrated") }
            }
        } catch {
            throw CocoaError.notMigrated(url, error)
        }
        Logger(label: "CoreData").notice("The store at \(url.path) was migrated.")
    }

    private var isAskedFor: Bool {
        DatabaseOptions.flag(opening.options?[NSMigratePersistentStoresAutomaticallyOption])
            && !DatabaseOptions.flag(opening.options?[NSReadOnlyPersistentStoreOption])
            && !DatabaseOptions.flag(opening.options?[NSIgnorePersistentStoreVersioningOption])
    }

    private func migrated(from model: NSManagedObjectModel, _ configuration: String?, _ metadata: [String: Any]) throws -> Document {
        model.freeze()
        let old = NSPersistentStoreCoordinator(unclaimed: model)
        let options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
        let store = try old.addPersistentStore(ofType: form.storeType, configurationName: configuration, at: url, options: options)
        defer { try? old.remove(store) }
        let transition = ModelTransition(from: model, to: opening.model)
        let references = store.references
        let stamped = StoreMetadata(model: opening.model, configuration: opening.configurationName, type: form.storeType).values
        var kept = metadata.merging(stamped) { $1 }.filter { $0.key != "_NSAutoVacuumLevel" }
        // A database that the document becomes has a copy of its model.
        kept[StoreMetadata.formerVersionsKey] = StoreMetadata.formerVersions(metadata, leavingFor: opening.model, opening.configurationName)
        if let mark = opening.options?[DatabaseOptions.stageKey] { kept[DatabaseOptions.stageKey] = mark }
        return try MemoryMigration.run(store, opening) { rows in
            let writing = DocumentWriting(rows, opening.model) { key, root in
                let former = transition.destination.entitiesByName[root].flatMap { transition.formerRoot(of: $0) }?.name ?? root
                return (references?.reference(of: key, root: former)?.value as? NSNumber)?.int64Value ?? key
            }
            return try writing.document(kept)
        }
    }
}

extension ModelTransition {
    /// The root that the objects below a root had.
    fileprivate func formerRoot(of root: NSEntityDescription) -> NSEntityDescription? {
        ([root] + root.allSubentities).lazy.compactMap(origin).first?.rootEntity
    }
}
