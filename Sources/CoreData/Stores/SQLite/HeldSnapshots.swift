import Foundation
import Logging

/// The snapshots of one store that somebody reads.
final class HeldSnapshots: Sendable {
    private struct Held {
        weak var store: SQLiteStore?
        let begin: DispatchTime
        var isReported = false
    }

    /// How many there may be at a time: each has a connection, with its memory and its file descriptors.
    static let limit = 64
    /// How large a write-ahead log may become before somebody is told who keeps it from being taken into the file: ten times what SQLite
    /// lets it grow to.
    static let usualLogLimit: Int64 = 40 << 20

    private let held = Lock<[Held]>([])
    private let logLimit = Lock(usualLogLimit)

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

    /// Something was written: logs who keeps the write-ahead log from being taken into the file, where it has become large; each once.
    func noteSave(of store: SQLiteStore) {
        guard held.withLock({ !$0.isEmpty }), let path = store.url?.path else { return }
        for warning in overdue(path, logSize: Self.size(of: path + "-wal")) { Logger(label: "CoreData").warning("\(warning)") }
    }

    /// What is to be said of a log of that size.
    func overdue(_ path: String, logSize: Int64) -> [String] {
        guard logSize >= logLimit.withLock({ $0 }) else { return [] }
        return held.withLock { held in
            held.indices.compactMap { index in
                guard held[index].store != nil, !held[index].isReported else { return nil }
                held[index].isReported = true
                let seconds = (DispatchTime.now().uptimeNanoseconds - held[index].begin.uptimeNanoseconds) / 1_000_000_000
                return """
                    A query generation that is pinned since \(seconds) s keeps the write-ahead log of \(path) from being taken into the file: it has \
                    \(logSize) bytes. Move the context on (save, mergeChanges, reset, setQueryGenerationFrom), or unpin it.
                    """
            }
        }
    }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}
