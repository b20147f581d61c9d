import CoreData
import Foundation

/// A stack follows what others commit, and merges it into root and main.
final class HistoryFollowing: Sendable {
    private static let transactionsPerNote = 1000
    private static let changesAtOnce = 10_000

    /// How far the stack has come. It is noted in the store now and then, so that what everybody has seen can go.
    private struct Progress {
        var token: NSPersistentHistoryToken?
        var unnoted = 0
        /// Whether something was not merged: then all is to be read anew.
        var hasGap = false
        /// Whether the store, which others have made another one, is being opened anew.
        var isReopening = false
        /// How often in a row something has failed.
        var failures = 0
        /// Whether it is tried again by itself.
        var isRetrying = false
    }

    private let follower: HistoryFollower
    private weak let core: StackCore?
    private let progress = Guarded(Progress())
    private let turns = MergeTurns()
    private let queue = DispatchQueue(label: "CoreDataStack.HistoryFollowing", qos: .utility)
    private let observer = Guarded<(any NSObjectProtocol)?>(nil)

    init(_ follower: HistoryFollower, _ core: StackCore) { (self.follower, self.core) = (follower, core) }

    deinit { if let observer = observer.with({ $0 }) { NotificationCenter.default.removeObserver(observer) } }

    /// The contexts have read nothing yet: what there is, they will read.
    func begin() throws {
        while try !noteAllOfSameStore() { try core?.reopenStores() }
        let made = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange,
            object: core?.coordinator,
            queue: nil
        ) { [weak self] _ in self?.look() }
        observer.with { $0 = made }
    }

    /// False where others have made another store of it since it was opened.
    private func noteAllOfSameStore() throws -> Bool {
        do {
            try noteAll()
            return true
        } catch let error as CocoaError where error.isOfReplacedStore {
            return false
        }
    }

    /// Nobody has anything in memory that may be older than what there is.
    func noteAll() throws {
        guard let coordinator = core?.coordinator else { return }
        if canNote { try follower.beginNow() }
        let token = canNote ? try follower.token : coordinator.currentPersistentHistoryToken(fromStores: nil)
        progress.with { ($0.token, $0.unnoted, $0.hasGap) = (token, 0, false) }
        if canNote { try follower.deleteSeenHistory() }
    }

    /// Who only reads is in no list of those who follow.
    private var canNote: Bool { core?.coordinator.persistentStores.contains(where: \.isReadOnly) == false }

    /// The store is another one, or empty, and the contexts forget what they have read of it.
    func beginAnew() {
        turns.forget()
        do { try noteAll() } catch { keepGap(error) }
    }

    /// Merges what there is by now, on a queue of its own.
    func look() { queue.async { [weak self] in self?.follow() } }

    /// - Precondition: on the queue.
    private func follow() {
        // Whoever exchanges the store has this look afterwards.
        guard let core, core.following === self, !core.gate.isShut, !progress.with(\.isReopening) else { return }
        do {
            try progress.with(\.hasGap) ? readAnew() : mergeNewsOrAll()
            progress.with { if !$0.hasGap { $0.failures = 0 } }
        } catch let error as CocoaError where error.isOfReplacedStore {
            reopen()
        } catch {
            fail(error)
        }
    }

    private func mergeNewsOrAll() throws {
        do {
            try mergeNews()
        } catch let error as CocoaError where error.errorCode == NSPersistentHistoryTokenExpiredError {
            try readAnew()
        }
    }

    /// Another process has emptied the store, or has put another in its place: as after a reset of one's own.
    private func reopen() {
        progress.with { $0.isReopening = true }
        Task.detached { [self] in
            let outcome = await exchange()
            progress.with { $0.isReopening = false }
            switch outcome {
            // Others may have done the same again meanwhile, and that is not told twice.
            case .success, .failure(CoreDataStack.Error.storeWasReset): look()
            case .failure(CoreDataStack.Error.stackWasClosed): lookLater()
            case .failure(let error): fail(error)
            }
        }
    }

    private func exchange() async -> Result<Void, any Error> {
        guard let core else { return .success(()) }
        do {
            try await core.exchangeStore(by: { [core] in try core.reopenStores() })
        } catch {
            return .failure(error)
        }
        core.errors.report(
            CoreDataStack.Error.storeWasReset,
            about: "Others have emptied the store, or replaced it; its contexts begin anew:"
        )
        return .success(())
    }

    private func mergeNews() throws {
        let news = try follower.nextNews(after: progress.with(\.token))
        guard let token = news.token else { return }
        merge(news)
        if news.hasMore { look() }
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

    /// Root first, whose row cache main reads; then main, in turns that leave the main queue time for others. Root does not wait for main.
    private func merge(_ news: HistoryFollower.News) {
        guard let root = core?.root, let main = core?.main else { return }
        for part in news.parts(of: Self.changesAtOnce) {
            root.performAndWait { BatchSave(part).merge(intoRoot: root) }
        }
        turns.add(news.parts(of: BatchContext.insertsPerTurn), to: main)
    }

    /// Somebody has deleted what was to be merged. What fails here is tried again.
    private func readAnew() throws {
        guard let root = core?.root, let main = core?.main else { return }
        progress.with { $0.hasGap = true }
        try noteAll()
        do { try root.performAndWait { try root.readAnew() } } catch { return keepGap(error) }
        main.perform { do { try main.readAnew() } catch { self.keepGap(error) } }
    }

    private func keepGap(_ error: any Error) {
        progress.with { $0.hasGap = true }
        fail(error)
    }

    private func fail(_ error: any Error) {
        guard let core, core.following === self else { return }
        core.errors.report(error, about: "What others have saved could not be merged:")
        lookLater()
    }

    /// After a second, and more where it fails again: nobody may tell once more of what there is to be seen.
    private func lookLater() {
        let delay: Int? = progress.with { progress in
            if progress.isRetrying { return nil }
            (progress.isRetrying, progress.failures) = (true, progress.failures + 1)
            return 1 << min(progress.failures - 1, 6)
        }
        guard let delay else { return }
        queue.asyncAfter(deadline: .now() + .seconds(delay)) { [weak self] in
            self?.progress.with { $0.isRetrying = false }
            self?.follow()
        }
    }
}
