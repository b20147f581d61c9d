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
        let following = HistoryFollowing(HistoryFollower(name: name, coordinator: core.coordinator), core)
        try following.begin()
        core.keep(following)
    }
}

/// A stack follows what others commit, and merges it into root and main.
final class HistoryFollowing: Sendable {
    private static let transactionsPerNote = 1000

    /// How far the stack has come. It is noted in the store now and then, so that what everybody has seen can go.
    private struct Progress {
        var token: NSPersistentHistoryToken?
        var unnoted = 0
        /// Whether something was not merged: then all is to be read anew.
        var hasGap = false
        /// Whether the store, which others have made another one, is being opened anew.
        var isReopening = false
    }

    private let follower: HistoryFollower
    private weak let core: StackCore?
    private let progress = Guarded(Progress())
    private let observer = Guarded<(any NSObjectProtocol)?>(nil)

    init(_ follower: HistoryFollower, _ core: StackCore) { (self.follower, self.core) = (follower, core) }

    deinit { if let observer = observer.with({ $0 }) { NotificationCenter.default.removeObserver(observer) } }

    /// The contexts have read nothing yet: what there is, they will read.
    func begin() throws {
        try noteAll()
        let made = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange,
            object: core?.coordinator,
            queue: nil
        ) { [weak self] _ in self?.follow() }
        observer.with { $0 = made }
    }

    /// Nobody has anything in memory that may be older than what there is.
    func noteAll() throws {
        guard let coordinator = core?.coordinator else { return }
        if canNote { try follower.beginNow() }
        let token = canNote ? try follower.token : coordinator.currentPersistentHistoryToken(fromStores: nil)
        progress.with { $0 = Progress(token: token) }
        if canNote { try follower.deleteSeenHistory() }
    }

    /// Who only reads is in no list of those who follow.
    private var canNote: Bool { core?.coordinator.persistentStores.contains(where: \.isReadOnly) == false }

    /// The store is another one, or empty, and the contexts forget what they have read of it.
    func beginAnew() { do { try noteAll() } catch { keepGap(error) } }

    /// - Precondition: on the queue of the notifications, which come one by one.
    private func follow() {
        do {
            if progress.with(\.hasGap) { return try readAnew() }
            do {
                try mergeNews()
            } catch let error as CocoaError where error.errorCode == NSPersistentHistoryTokenExpiredError {
                try readAnew()
            }
        } catch let error as CocoaError where error.errorCode == NSPersistentStoreOperationError {
            reopen(error)
        } catch {
            report(error)
        }
    }

    /// Another process has emptied the store, or has put another in its place: as after a reset of one's own.
    private func reopen(_ cause: any Error) {
        let isFirst = progress.with { progress in
            defer { progress.isReopening = true }
            return !progress.isReopening
        }
        guard isFirst, let core else { return }
        Task.detached { [self] in
            do {
                try await core.exchangeStore { [core] in
                    for store in core.coordinator.persistentStores { try core.coordinator.reopenPersistentStore(store) }
                }
                core.errors.report(
                    CoreDataStack.Error.storeWasReset,
                    about: "Others have emptied the store, or replaced it; its contexts begin anew:"
                )
            } catch CoreDataStack.Error.storeWasReset, CoreDataStack.Error.stackWasClosed {
                // A reset of one's own takes the store anew, too.
            } catch {
                report(error)
            }
            progress.with { $0.isReopening = false }
        }
    }

    private func mergeNews() throws {
        let news = try follower.news(after: progress.with(\.token))
        guard let token = news.token else { return }
        if !news.transactions.isEmpty { merge(news.changes) }
        let unnoted = progress.with { progress in
            progress.token = token
            progress.unnoted += max(news.transactions.count, 1)
            return progress.unnoted
        }
        guard unnoted >= Self.transactionsPerNote, canNote else { return }
        try follower.didSee(token)
        try follower.deleteSeenHistory()
        progress.with { $0.unnoted = 0 }
    }

    /// Root first, whose row cache main reads.
    private func merge(_ changes: [AnyHashable: Any]) {
        guard let root = core?.root, let main = core?.main else { return }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [root])
        // Sendable: IDs in sets, which nobody changes.
        nonisolated(unsafe) let changes = changes
        main.perform { NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [main]) }
    }

    /// Somebody has deleted what was to be merged. What fails here, the next notification tries again.
    private func readAnew() throws {
        guard let root = core?.root, let main = core?.main else { return }
        progress.with { $0.hasGap = true }
        try noteAll()
        do { try root.performAndWait { try root.readAnew() } } catch { return keepGap(error) }
        main.perform { do { try main.readAnew() } catch { self.keepGap(error) } }
    }

    private func keepGap(_ error: any Error) {
        progress.with { $0.hasGap = true }
        report(error)
    }

    private func report(_ error: any Error) { core?.errors.report(error, about: "What others have saved could not be merged:") }
}
