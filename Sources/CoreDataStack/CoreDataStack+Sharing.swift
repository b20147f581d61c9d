import CoreData
import Foundation

/// An option of a stack's store: the name under which this program shares the store with other processes.
///
/// The store keeps a history then (`NSPersistentHistoryTrackingKey`, `NSPersistentStoreRemoteChangeNotificationPostOptionKey`), what others commit is
/// merged into root and main within about a second, and what all programs that share it have seen is deleted. All of them need the option,
/// each with a name of its own: a `String`, or else nothing is shared. Who opens the store read-only
/// sees what the others save, and is waited for by nobody.
///
/// ```swift
/// var options = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
/// options[CoreDataStackSharingNameOption] = "app"
/// ```
public let CoreDataStackSharingNameOption = "CoreDataStackSharingNameOption"

extension PersistentStoreOptions {
    /// With what a shared store needs.
    var sharing: PersistentStoreOptions {
        guard var values, values[CoreDataStackSharingNameOption] is String else { return self }
        values[NSPersistentHistoryTrackingKey] = true
        values[NSPersistentStoreRemoteChangeNotificationPostOptionKey] = true
        return PersistentStoreOptions(values)
    }

    /// For another coordinator on a store: it goes on with its history, and with the journal that it has, and writes only where the stack may.
    func tracking(as store: NSPersistentStore) -> PersistentStoreOptions {
        let all = keeping([NSPersistentHistoryTrackingKey], of: store).keepingJournal(of: store).values ?? [:]
        return PersistentStoreOptions(store.isReadOnly ? all.merging([NSReadOnlyPersistentStoreOption: true]) { $1 } : all)
    }

    /// For a store that takes the place of one.
    func sharing(as store: NSPersistentStore) -> PersistentStoreOptions {
        keeping(
            [NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey, CoreDataStackSharingNameOption],
            of: store
        )
        .keepingJournal(of: store)
    }

    /// The journal is the file's: who has it open, or opens it later as before, could not go on with another.
    private func keepingJournal(of store: NSPersistentStore) -> PersistentStoreOptions {
        let stored = store.options?[NSSQLitePragmasOption] as? [String: String] ?? [:]
        var all = values ?? [:]
        // What is no list of pragmas is refused when the store is opened.
        guard let pragmas = all[NSSQLitePragmasOption, default: [String: String]()] as? [String: String] else { return self }
        all[NSSQLitePragmasOption] = pragmas.filter { !Self.isJournal($0.key) }.merging(stored.filter { Self.isJournal($0.key) }) { $1 }
        return PersistentStoreOptions(all)
    }

    private static func isJournal(_ pragma: String) -> Bool { pragma.lowercased() == "journal_mode" }

    private func keeping(_ keys: [String], of store: NSPersistentStore) -> PersistentStoreOptions {
        var all = values ?? [:]
        for key in keys where all[key] == nil { all[key] = store.options?[key] }
        return PersistentStoreOptions(all)
    }
}

extension CoreDataStack {
    /// Begins to follow what others commit, where the store's options have a name for that.
    func share(_ options: PersistentStoreOptions) throws {
        guard let name = options.values?[CoreDataStackSharingNameOption] as? String else { return }
        privateQueueContext.transactionAuthor = name
        let following = HistoryFollowing(HistoryFollower(name: name, coordinator: core.coordinator), core)
        core.keep(following)
        try following.begin()
    }
}
