import Foundation
import Logging

extension NSPersistentStoreCoordinator {
    /// Copies a store to another place, in another form where `storeType` says so, and goes on with the copy: “Save As”.
    ///
    /// The copy has everything: objects, the program's metadata, history, and data that are in files of their own, which become parts of the rows
    /// in memory. Keys and identifier stay, so that IDs are what they were, and contexts go on with their objects. (Apple's gives new IDs.) Two
    /// copies have one identifier: no coordinator takes both. The old store is removed from the coordinator, and its file stays as it is.
    ///
    /// A document that becomes a database, or the other way round, gets a new identifier and new keys; contexts then have objects of a store that
    /// is gone. An incremental store of the program's cannot be moved, and nothing becomes a store of a program's own class.
    ///
    /// The copy is whole or not there: a process that is killed leaves an empty file at most, and the old store. Saves in this process wait, and go
    /// to the copy; one that began to wait before is refused, with its changes pending. `StoresWillChange` names what will be removed,
    /// `StoresDidChange` both.
    ///
    /// - Parameters:
    ///   - store: one of this coordinator's.
    ///   - URL: where its copy will be; no store's place yet.
    ///   - options: those of the new store.
    ///   - storeType: the type of the new store.
    /// - Throws: a `CocoaError`: 134060 where the store is not one of this coordinator's, or cannot become one of that type; 134080 where the place is
    ///   that of one of the coordinator's stores; 516 where there is a database already, which `destroyPersistentStore(at:ofType:)` would empty;
    ///   others as adding it. All is as it was then.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore,
        to URL: URL,
        options: [AnyHashable: Any]? = nil,
        withType storeType: String
    ) throws -> NSPersistentStore {
        try FailureLog.noting("The store at \(store.url?.path ?? "no place") was not moved to \(URL.path)") {
            let old = try own(store)
            let kind = try StoreTypes.kind(of: storeType)
            let opening = opening(storeType, old.explicitConfigurationName, URL, options)
            announce(.NSPersistentStoreCoordinatorStoresWillChange, [NSRemovedPersistentStoresKey: [old]])
            var moved: (any RowStore)?
            // NB: classes are asked while nobody may save.
            try hooks.withLock {
                try kind.move(old, opening) { [self] fresh in
                    take(fresh, for: old)
                    moved = fresh
                }
            }
            guard let moved else { throw CocoaError.coreData(.coreData, "Nothing was moved.") }
            finishExchange(of: old, moved)
            return moved
        }
    }

    /// As `migratePersistentStore(_:to:options:withType:)`.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore,
        to storeURL: URL,
        options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    /// Puts a copy of one store in the place of another, which need not be there yet: a backup that comes back.
    ///
    /// In one transaction of the file: other processes, and coordinators, that have it open see all of the old contents or all of the new ones,
    /// also after a crash. A store of this coordinator at that place is removed first; others find out, throw 134070 from then on, as what they
    /// remember of rows is no longer true, and are to be removed and added anew. The source stays as it is, and may be open. Replacing a store with
    /// itself does nothing.
    ///
    /// - Parameters:
    ///   - destinationURL: the place; what is there is overwritten.
    ///   - destinationOptions: how long to wait for others, and with `NSPersistentStoreForceDestroyOption` whether what is replaced may be no
    ///     database.
    ///   - sourceURL: the store to copy.
    ///   - sourceOptions: how the source is opened.
    ///   - storeType: the type of both.
    /// - Throws: a `CocoaError`: 260 where there is no source, 134020 where it is no store, and others by their cause. The contents of both are what
    ///   they were then.
    public func replacePersistentStore(
        at destinationURL: URL,
        destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil,
        ofType storeType: String
    ) throws {
        try FailureLog.noting("The store at \(destinationURL.path) was not replaced by the one at \(sourceURL.path)") {
            let kind = try StoreTypes.kind(of: storeType)
            let destination = StoreLocator(url: destinationURL, options: destinationOptions)
            try kind.replace(destination, with: StoreLocator(url: sourceURL, options: sourceOptions)) {
                if let store = persistentStore(for: destinationURL) { try remove(store) }
            }
        }
    }

    /// As `replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)`.
    public func replacePersistentStore(
        at destinationURL: URL,
        destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil,
        type sourceType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL,
            destinationOptions: destinationOptions,
            withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions,
            ofType: sourceType.rawValue
        )
    }

    /// Tells a store that it is somewhere else now.
    ///
    /// An SQLite store goes on with the file of that name, which must be the one that it has open: one that was moved or linked. A document is
    /// written there by its next save. Answers no, says why in the log, and changes nothing, for a store that is not one of this coordinator's, one in
    /// memory, and another file.
    public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        do {
            try own(store).relocate(to: url)
            return true
        } catch {
            Logger(label: "CoreData").error("setURL(_:for:): \(error.localizedDescription)")
            return false
        }
    }

    func own(_ store: NSPersistentStore) throws -> any RowStore {
        if let own = allStores.first(where: { $0 === store }) { return own }
        throw CocoaError.coreData(.coreData, "The store is not one of this coordinator's.")
    }
}
