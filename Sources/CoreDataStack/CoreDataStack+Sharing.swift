import CoreData
import Foundation

/// An option of a stack's store: the name under which this program shares the store with other processes.
///
/// The store keeps a history then (`NSPersistentHistoryTrackingKey`, `NSPersistentStoreRemoteChangeNotificationPostOptionKey`), what others commit is
/// merged into root and main within about a second, and what all programs that share it have seen is deleted. All of them need the option,
/// each with a name of its own.
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

    /// For another coordinator with a store that has a history: it goes on with it.
    func tracking(as store: NSPersistentStore) -> PersistentStoreOptions { keeping([NSPersistentHistoryTrackingKey], of: store) }

    /// For a store that takes the place of one.
    func sharing(as store: NSPersistentStore) -> PersistentStoreOptions {
        keeping(
            [NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey, CoreDataStackSharingNameOption],
            of: store
        )
    }

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
        try core.follow(HistoryFollower(name: name, coordinator: core.coordinator))
    }
}

/// What a stack needs to follow a history, until it ends.
// Sendable: the observer is only given back, once.
final class HistoryFollowing: @unchecked Sendable {
    private let observer: any NSObjectProtocol

    init(_ coordinator: NSPersistentStoreCoordinator, _ body: @escaping @Sendable () -> Void) {
        observer = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) { _ in
            body()
        }
    }

    deinit { NotificationCenter.default.removeObserver(observer) }
}

extension StackCore {
    private static let transactionsPerNote = 1000

    /// How far a stack has come, which it notes in the store now and then, so that what everybody has seen can go.
    private struct Progress {
        var token: NSPersistentHistoryToken?
        var unnoted = 0
    }

    /// The contexts have read nothing yet: what there is, they will read.
    func follow(_ follower: HistoryFollower) throws {
        try follower.beginNow()
        let progress = Guarded(Progress(token: try follower.token))
        keep(
            HistoryFollowing(coordinator) { [weak self] in
                guard let self else { return }
                do {
                    try mergeNews(follower, progress)
                } catch let error as CocoaError where error.errorCode == NSPersistentHistoryTokenExpiredError {
                    readAnew(follower, progress)
                } catch {
                    errors.report(error)
                }
            }
        )
    }

    /// - Precondition: on the queue of the notifications, which come one by one.
    private func mergeNews(_ follower: HistoryFollower, _ progress: Guarded<Progress>) throws {
        let news = try follower.news(after: progress.with(\.token))
        guard let token = news.token else { return }
        if !news.transactions.isEmpty { merge(news.changes) }
        let unnoted = progress.with { progress in
            progress.token = token
            progress.unnoted += max(news.transactions.count, 1)
            return progress.unnoted
        }
        guard unnoted >= Self.transactionsPerNote else { return }
        try follower.didSee(token)
        try follower.deleteSeenHistory()
        progress.with { $0.unnoted = 0 }
    }

    /// Root first, whose row cache main reads.
    private func merge(_ changes: [AnyHashable: Any]) {
        guard let root, let main else { return }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [root])
        // Sendable: IDs in sets, which nobody changes.
        nonisolated(unsafe) let changes = changes
        main.perform { NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [main]) }
    }

    /// Somebody has deleted what was to be merged.
    private func readAnew(_ follower: HistoryFollower, _ progress: Guarded<Progress>) {
        do {
            try follower.beginNow()
            let token = try follower.token
            progress.with { $0.token = token }
        } catch {
            errors.report(error)
        }
        for context in [root, main] { context?.perform { context?.refreshAllObjects() } }
    }
}
