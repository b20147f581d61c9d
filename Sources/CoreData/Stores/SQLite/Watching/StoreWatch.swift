import Foundation
import Logging
import SQLiteDriver

/// Tells of commits into a store's database: of those of this process at once, of others' at most once a second.
///
/// What has happened, SQLite says, to a connection that nobody writes with: its `data_version`. When to ask, commits of this process say, and
/// the file system. A write to the log comes before the commit that it belongs to counts: so after the last one it is asked for some time
/// more, at growing intervals. As long as nothing happens, nothing runs.
final class StoreWatch: Sendable {
    private struct State {
        /// Nil once the watch has ended.
        var connection: Connection?
        var dataVersion: SQLiteValue?
        /// The number that was told last.
        var number: Int64 = 0
        /// The identifier that the database had last.
        var uuid: String?
        var events: FileEvents?
        var isWaking = false
        /// How often it is asked yet without an event.
        var repeats = 0
        /// How often it was asked.
        var asked = 0
    }
    private let state: Lock<State>
    private let queue = DispatchQueue(label: "CoreData.StoreWatch", qos: .utility)
    private let lock: StoreLock
    private let locksReaders: Bool
    private let hasHistory: Bool
    /// The identifier of the store that is watched.
    private let uuid: String
    private let tell: @Sendable (Int64?) -> Void

    /// - Parameter tell: is called on a queue of the watch's own, with the number of the latest transaction; with nil without history, and where what
    ///   was told before is true no more, as another store is there, or an older state of this one.
    init(_ store: SQLiteStore, _ tell: @escaping @Sendable (Int64?) -> Void) throws {
        (lock, locksReaders) = (store.lock, store.pool.locksReaders)
        (hasHistory, uuid, self.tell) = (store.history != nil, store.uuid, tell)
        state = Lock(State(connection: try store.pool.freshConnection(), uuid: uuid))
        _ = try news()
        // Whoever made another store of it before this one was watched is told of, too.
        state.withLock { if $0.uuid != uuid { ($0.uuid, $0.dataVersion) = (uuid, nil) } }
        if case .file = lock.identity, let url = store.url {
            let events = FileEvents(url, on: queue) { [weak self] in self?.meetEvent() }
            state.withLock { $0.events = events }
            if events == nil { pollInstead(url) }
        }
        lock.commits.add(self)
        // What was committed before anybody watched, no event tells of.
        wake()
    }

    deinit { stop() }

    /// How often the database was asked whether there is something new.
    var questions: Int { state.withLock(\.asked) }

    /// Ends it: its connection is closed when this returns. Whoever is being told is not waited for.
    func stop() {
        let events = state.withLock { state in
            defer { state.events = nil }
            state.connection?.close()
            state.connection = nil
            return state.events
        }
        if let events { queue.async { events.end() } }
    }

    /// Somebody of this process has committed something.
    func wake() {
        let isFirst = state.withLock { state in
            defer { state.isWaking = true }
            return !state.isWaking && state.connection != nil
        }
        guard isFirst else { return }
        queue.async { [weak self] in
            guard let self else { return }
            state.withLock { $0.isWaking = false }
            tellNews()
        }
    }

    // What follows is for the queue.

    private static let interval = DispatchTimeInterval.seconds(1)
    private static let maximumRepeats = 4

    private func meetEvent() {
        guard let events = state.withLock({ $0.events }) else { return }
        events.drain()
        events.pause()
        state.withLock { $0.repeats = Self.maximumRepeats }
        tellNews()
        queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in self?.goOn() }
    }

    /// A second has passed.
    private func goOn() {
        state.withLock { $0.events }?.resume()
        askAgain()
    }

    private func askAgain() {
        let (isWanted, count) = state.withLock { state in
            state.repeats -= 1
            return (state.repeats >= 0 && state.connection != nil, Self.maximumRepeats - state.repeats)
        }
        guard isWanted else { return }
        // NB: what an event has told of is there by now. At the event itself, news may be of the commit before.
        if tellNews() { state.withLock { $0.repeats = 0 } }
        queue.asyncAfter(deadline: .now() + .seconds(1 << count)) { [weak self] in self?.askAgain() }
    }

    private func pollInstead(_ url: URL) {
        Logger(label: "CoreData").warning("The system gives no notice of changes to \(url.path): it is asked for them once a second.")
        poll()
    }

    private func poll() {
        queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            guard let self, state.withLock({ $0.connection != nil }) else { return }
            tellNews()
            poll()
        }
    }

    /// Whether there were any.
    @discardableResult private func tellNews() -> Bool {
        do {
            guard let news = try news() else { return false }
            tell(news.number)
            return true
        } catch {
            // The next commit, or event, asks again.
            Logger(label: "CoreData").warning("A store could not be asked for news: \(error)")
            return false
        }
    }

    /// Something was committed.
    private struct News {
        /// The number of the latest transaction; nil where there is none to be told.
        let number: Int64?
    }

    /// What was committed since the last call that tells so.
    private func news() throws -> News? { try locksReaders ? lock.read(readNews) : readNews() }

    private func readNews() throws -> News? {
        try state.withLock { state in
            guard let connection = state.connection else { return nil }
            state.asked += 1
            return try connection.unobserved {
                let version = try connection.rows("PRAGMA data_version").first?.first
                guard version != state.dataVersion else { return nil }
                let (identifier, number) = try look(connection, state.number)
                state.dataVersion = version
                defer { (state.uuid, state.number) = (identifier, number) }
                // Of another store, nothing is told but that it is there.
                if identifier != uuid { return identifier == state.uuid ? nil : News(number: nil) }
                if identifier != state.uuid || number < state.number { return News(number: nil) }
                return number == state.number ? nil : News(number: hasHistory ? number : nil)
            }
        }
    }

    /// Whose database it is by now, and the number of its latest transaction: both of one moment.
    private func look(_ connection: Connection, _ known: Int64) throws -> (uuid: String?, number: Int64) {
        try connection.transaction(.deferred) {
            let identifier = try StoreMetadata.uuid(in: connection)
            guard identifier == uuid else { return (identifier, known) }
            return (identifier, try hasHistory ? HistoryCounter.transaction.last(connection) : known + 1)
        }
    }
}
