import Foundation
import Logging

/// The snapshots of one store that somebody reads.
final class HeldSnapshots: Sendable {
    private struct Held {
        weak var store: SQLiteStore?
        let begin: DispatchTime
    }

    private struct Large {
        /// Since when somebody was told, if the log has not been emptied since.
        var isReported = false
        var nextAttempt = DispatchTime(uptimeNanoseconds: 0)
    }

    /// How many there may be at a time: each has a connection, with its memory and its file descriptors.
    static let limit = 64
    /// How large a write-ahead log may become before somebody is told who keeps it from being taken into the file: ten times what SQLite
    /// lets it grow to.
    static let usualLogLimit: Int64 = 40 << 20

    private let held = Lock<[Held]>([])
    private let logLimit = Lock(usualLogLimit)
    private let large = Lock(Large())
    private static let (pause, longPause, patience) = (
        DispatchTimeInterval.seconds(1), DispatchTimeInterval.seconds(10), UInt64(1_000_000_000)
    )

    /// How many are held.
    var count: Int { held.withLock { $0.count { $0.store != nil } } }

    /// For tests: a limit that is reached soon.
    func setLogLimit(_ bytes: Int64) { logLimit.withLock { $0 = bytes } }

    /// - Throws: `CocoaError` 134070 where there are as many as there may be.
    func requireRoom(_ url: URL?) throws {
        guard count >= Self.limit else { return }
        throw CocoaError.coreData(
            .persistentStoreOperation,
            """
            \(Self.limit) query generations of the store at \(url?.path ?? "?") are in use, and no more are kept at a time: share a token between \
            contexts, or unpin contexts that you do not need.
            """
        )
    }

    func note(_ store: SQLiteStore) {
        held.withLock {
            $0.removeAll { $0.store == nil }
            $0.append(Held(store: store, begin: .now()))
        }
    }

    /// The store is closed: nobody reads from its snapshots any more, once those are done who do.
    func end() {
        let stores = held.withLock { held in
            defer { held = [] }
            return held.compactMap(\.store)
        }
        stores.forEach { $0.close() }
    }

    /// Something was written: where the write-ahead log has become large, it is taken into the file, for which those who read for a moment are waited
    /// for. Where somebody keeps it from that for longer, the log says who, once for each time that it becomes large.
    func noteSave(of store: SQLiteStore) {
        guard held.withLock({ !$0.isEmpty }), let path = store.url?.resolvingSymlinksInPath().path,
            Self.size(of: path + "-wal") >= logLimit.withLock({ $0 }), mayAttempt
        else { return }
        guard let used = store.emptyLog() else { return large.withLock { $0 = Large(nextAttempt: .now() + Self.pause) } }
        large.withLock { $0.nextAttempt = .now() + Self.longPause }
        if let warning = overdue(path, logSize: used) { Logger(label: "CoreData").warning("\(warning)") }
    }

    private var mayAttempt: Bool { large.withLock { $0.nextAttempt <= .now() } }

    /// What is to be said of a log of which so many bytes are in use; nil where nobody is to blame, or it was said.
    func overdue(_ path: String, logSize: Int64, at time: DispatchTime = .now()) -> String? {
        guard logSize >= logLimit.withLock({ $0 }), let oldest = held.withLock({ $0.first { $0.store != nil } }),
            time.uptimeNanoseconds >= oldest.begin.uptimeNanoseconds + Self.patience,
            large.withLock({ large in
                defer { large.isReported = true }
                return !large.isReported
            })
        else { return nil }
        return """
            A query generation that is pinned since \((time.uptimeNanoseconds - oldest.begin.uptimeNanoseconds) / 1_000_000_000) s keeps the \
            write-ahead log of \(path) from being taken into the file: \(logSize) bytes of it are in use. Move the context on (save, \
            mergeChanges, reset, setQueryGenerationFrom), or unpin it.
            """
    }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}

extension SQLiteStore {
    /// Takes the write-ahead log into the file and empties it, where that can be done nearly at once.
    ///
    /// - Returns: how many bytes of it are in use otherwise.
    fileprivate func emptyLog() -> Int64? {
        // Where that fails, the next save tries again.
        let answer = try? pool.write { connection in
            try connection.waiting(atMost: 0.1) {
                try connection.unobserved {
                    try (connection.rows("PRAGMA wal_checkpoint(TRUNCATE)").first, connection.rows("PRAGMA page_size").first?.first)
                }
            }
        }
        guard let row = answer?.0, row[0] != .integer(0), case .integer(let pages) = row[1], case .integer(let size)? = answer?.1 else {
            return nil
        }
        return pages * size
    }
}
