import Foundation

/// Somebody with a name who follows the history of a coordinator's stores: what others have changed since he looked last.
///
/// How far he has come is kept in the stores, so that a program goes on where it ended, and the history can go once everybody has seen it. What
/// the context, or the contexts, with his name as `transactionAuthor` have saved is not told to him.
///
/// ```swift
/// let follower = HistoryFollower(name: "app", coordinator: container.persistentStoreCoordinator)
/// for try await transactions in follower { … }
/// ```
///
/// An addition to Apple's interface. One follower of a name at a time; programs that share a store have names of their own.
///
/// > Concurrency: any thread, one at a time.
public final class HistoryFollower: Sendable {
    public let name: String
    let coordinator: NSPersistentStoreCoordinator
    /// The stores with a history.
    private var stores: [any RowStore] { get throws { try coordinator.storesWithHistory(among: nil) } }

    /// - Parameters:
    ///   - name: by which the file keeps how far the follower has come, and the `transactionAuthor` of what it need not hear.
    ///   - coordinator: has stores with `NSPersistentHistoryTrackingKey`.
    public init(name: String, coordinator: NSPersistentStoreCoordinator) { (self.name, self.coordinator) = (name, coordinator) }

    /// How far the follower has come; nil before he began.
    ///
    /// - Throws: a `CocoaError`: 134091 where no store has a history, or one of reading.
    public var token: NSPersistentHistoryToken? {
        get throws {
            var numbers: [String: Int64] = [:]
            for store in try stores { numbers[store.identifier] = try store.position(ofFollower: name) }
            return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
        }
    }

    /// Begins, or begins anew, behind all that there is: who has just read the objects has seen that. Contexts that have some already are
    /// brought up to date by `readAnew()`, afterwards.
    ///
    /// - Throws: a `CocoaError`, also where a store cannot be written (134030).
    public func beginNow() throws {
        for store in try stores { try store.noteFollower(name, at: store.latestTransaction(), mayGoBack: true) }
    }

    /// What others have committed since; the first time everything that there is. It comes again until `didSee(_:)` says that it was seen.
    ///
    /// - Throws: as `token`; 134301 where it was deleted in part: call `beginNow()`, and then `readAnew()` of the contexts.
    public func news() throws -> News { try news(after: token) }

    /// What others have committed after a token, wherever the follower is.
    ///
    /// - Throws: as `news()`.
    public func news(after token: NSPersistentHistoryToken?) throws -> News {
        try news(after: token, changeLimit: nil)
    }

    /// The next part of the news: whole transactions, of not many more changes than go into memory easily.
    package func nextNews(after token: NSPersistentHistoryToken?) throws -> News { try news(after: token, changeLimit: Self.changesAtOnce) }

    private static let changesAtOnce = 10_000

    private func news(after token: NSPersistentHistoryToken?, changeLimit: Int?) throws -> News {
        let (all, isCut) = try HistoryExecution(.fetchHistory(after: token), coordinator, changeLimit: changeLimit).slice()
        return News(transactions: all.filter { $0.author != name }, token: Self.last(all, after: token), hasMore: isCut)
    }

    /// What a follower has not seen yet.
    public struct News: Sendable {
        /// Without the follower's own.
        public let transactions: [NSPersistentHistoryTransaction]
        /// The place behind them; nil where the follower has come as far already.
        public let token: NSPersistentHistoryToken?
        /// Whether more is there already, as just a part was asked for.
        package let hasMore: Bool
    }

    /// NB: the token of a transaction of one store says nothing of others.
    private static func last(_ all: [NSPersistentHistoryTransaction], after token: NSPersistentHistoryToken?) -> NSPersistentHistoryToken? {
        guard !all.isEmpty else { return nil }
        var numbers = token?.numbers ?? [:]
        for transaction in all { numbers[transaction.storeID] = transaction.transactionNumber }
        return NSPersistentHistoryToken(numbers)
    }

    /// Keeps in the stores how far the follower has come. A token of a place that lies behind him changes nothing: `beginNow()` begins anew.
    ///
    /// - Throws: a `CocoaError`, also where a store cannot be written (134030).
    public func didSee(_ token: NSPersistentHistoryToken) throws {
        for store in try stores {
            if let number = token.number(inStore: store.identifier) { try store.noteFollower(name, at: number, mayGoBack: false) }
        }
    }

    /// Merges what others have committed into contexts, each on its queue, and notes that it was seen. Much is read and merged in parts, of some ten
    /// thousand changes each.
    ///
    /// - Parameter contexts: of this coordinator, or children of such.
    /// - Throws: as `news()` and `didSee(_:)`. What was merged is merged; it comes again the next time.
    /// - Returns: the number of transactions.
    @discardableResult public func merge(into contexts: [NSManagedObjectContext]) throws -> Int {
        var (place, count, hasMore) = (try token, 0, true)
        while hasMore {
            let news = try nextNews(after: place)
            for part in news.parts(of: Self.changesAtOnce) {
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: part.changes, into: contexts)
            }
            if let token = news.token { try didSee(token) }
            (place, hasMore) = (news.token, news.hasMore)
            count += news.transactions.count
        }
        return count
    }

    /// Deletes what all followers of the stores have seen. Those who have not been seen for some time count no more: where something went that they
    /// have not seen, their next `news()` throws 134301.
    ///
    /// - Parameter time: in seconds; 30 days unless given.
    /// - Throws: a `CocoaError`, also where a store cannot be written (134030).
    /// - Returns: the number of transactions that went.
    @discardableResult public func deleteSeenHistory(forgettingAfter time: TimeInterval = 30 * 24 * 3600) throws -> Int {
        let date = Date(timeIntervalSinceNow: -time)
        return try stores.reduce(0) { try $0 + $1.deleteHistory(seenByFollowersSince: date) }
    }
}

extension HistoryFollower.News {
    /// All of them as one change, as `mergeChanges(fromRemoteContextSave:into:)` takes it. An object that was inserted and updated is among both, as
    /// is one whose row was deleted and came back under its key; one that was deleted last is just that.
    public var changes: [AnyHashable: Any] { HistoryPart(transactions).changes }

    /// The same in parts, one to be merged after the other.
    package func parts(of size: Int) -> [HistoryPart] { HistoryPart.parts(of: transactions, size: size) }
}

/// What others commit, as it comes: transactions in order, as many at a time as there are, but of some ten thousand changes at most unless one has
/// more.
///
/// The next element tells that the one before was seen: a program that ends in between gets it again. Ends with the task. The stores have
/// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: without, nobody would tell when to look.
extension HistoryFollower: AsyncSequence {
    public typealias Element = [NSPersistentHistoryTransaction]

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    public struct Iterator: AsyncIteratorProtocol {
        private let follower: HistoryFollower
        private var signals: AsyncStream<Void>.Iterator
        private var unseen: NSPersistentHistoryToken?

        init(_ follower: HistoryFollower) {
            self.follower = follower
            signals = follower.coordinator.remoteChanges.makeAsyncIterator()
        }

        /// - Throws: as `news()` and `didSee(_:)`; 134091 where a store posts no remote changes.
        public mutating func next() async throws -> [NSPersistentHistoryTransaction]? {
            try follower.coordinator.requireRemoteChanges()
            while !Task.isCancelled {
                if let token = unseen { try follower.didSee(token) }
                let news = try follower.nextNews(after: follower.token)
                unseen = news.token
                if !news.transactions.isEmpty { return news.transactions }
                if unseen == nil, await signals.next() == nil { return nil }
            }
            return nil
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// A signal for each notification of remote changes, and for several that nobody was waiting for one.
    fileprivate var remoteChanges: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            // Sendable: an observer is only given back.
            nonisolated(unsafe) let observer = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange,
                object: self,
                queue: nil
            ) { _ in continuation.yield() }
            continuation.onTermination = { _ in NotificationCenter.default.removeObserver(observer) }
        }
    }

    fileprivate func requireRemoteChanges() throws {
        guard let store = try storesWithHistory(among: nil).first(where: { !$0.postsRemoteChanges }) else { return }
        throw CocoaError.coreData(
            .persistentStoreUnsupportedRequestType,
            "The store at \(store.url?.path ?? "?") posts no changes by others: open it with \(NSPersistentStoreRemoteChangeNotificationPostOptionKey).",
            userInfo: [NSAffectedStoresErrorKey: [store]]
        )
    }
}
