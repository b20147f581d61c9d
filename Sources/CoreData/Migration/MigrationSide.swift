import Foundation

/// A store that is not open yet.
struct StoreSite {
    var url: URL
    let type: String
    var options: [AnyHashable: Any]?
    var configuration: String?

    /// Whether it is a file, or a document, that can be moved as a whole.
    var isMovable: Bool {
        url.isFileURL && MemoryDatabase.name(in: url) == nil && [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType].contains(type)
    }
    var isDatabase: Bool { type == NSSQLiteStoreType && isMovable }
}

/// One end of a migration: a store, open on a coordinator and in a context of its own.
///
/// NB: Apple's says "It uses a copy of the source and destination models in which the validation rules are disabled and the class of all entities is
/// changed to NSManagedObject". Here saves do not validate.
struct MigrationSide {
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let store: NSPersistentStore
    /// Whether a save costs what was changed, and not the whole store.
    let savesInParts: Bool

    init(_ site: StoreSite, _ model: NSManagedObjectModel) throws {
        self.model = model.withoutClasses()
        coordinator = NSPersistentStoreCoordinator(unclaimed: self.model)
        store = try coordinator.addPersistentStore(
            ofType: site.type,
            configurationName: site.configuration,
            at: site.url,
            options: site.options
        )
        savesInParts = ![NSBinaryStoreType, NSXMLStoreType].contains(site.type)
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    func close() {
        context.reset()
        for store in coordinator.persistentStores {
            // Whatever a store says that is closed: nothing is left to be written.
            try? coordinator.remove(store)
        }
    }
}

extension NSManagedObjectModel {
    /// A copy whose entities have no classes of their own.
    fileprivate func withoutClasses() -> NSManagedObjectModel {
        // copy() makes a model.
        let copy = self.copy() as! NSManagedObjectModel
        for entity in copy.entities { entity.managedObjectClassName = "NSManagedObject" }
        copy.freeze()
        return copy
    }
}
