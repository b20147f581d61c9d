import Foundation
import Logging

extension Notification.Name {
    /// Something was committed into a store, by whichever context, coordinator or process. Its object is the coordinator, its user info has the store's
    /// UUID (`NSStoreUUIDKey`) and URL (`NSPersistentStoreURLKey`), and with history the place behind it (`NSPersistentHistoryTokenKey`),
    /// which is missing where another store has taken this one's place.
    ///
    /// Posted on a queue of the coordinator's own for stores with `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: once for commits that
    /// follow each other quickly, and for those of other processes at most once a second.
    public static let NSPersistentStoreRemoteChange = Self("NSPersistentStoreRemoteChangeNotification")
}

extension NSPersistentStoreCoordinator {
    /// Begins to post what is committed into a store, where its options ask for it.
    func postRemoteChanges(of store: any RowStore) {
        guard store.postsRemoteChanges else { return }
        do {
            let place = store.number
            try store.watchCommits { [weak self] number in
                guard let self, let store = self.store(numbered: place) else { return }
                var change: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier ?? ""]
                change[NSPersistentStoreURLKey] = store.url
                change[NSPersistentHistoryTokenKey] = number.map { NSPersistentHistoryToken([store.identifier: $0]) }
                announce(.NSPersistentStoreRemoteChange, change)
            }
        } catch {
            Logger(label: "CoreData").error("Remote changes of \(store.url?.path ?? "a store") will not be posted: \(error)")
        }
    }
}

extension RowStore {
    /// Whether its options ask for notifications of commits.
    var postsRemoteChanges: Bool { DatabaseOptions.flag(options?[NSPersistentStoreRemoteChangeNotificationPostOptionKey]) }
}
