import Foundation
import SQLiteDriver

/// A database in the memory of this process. It has a name, under which any number of connections see it, and lasts as long as somebody
/// holds it here.
// Sendable: the connection is there to be open, and is not used after the initialiser.
final class MemoryDatabase: @unchecked Sendable {
    let url: URL
    let lock: StoreLock
    /// NB: SQLite frees such a database with its last connection.
    private let anchor: Connection

    private init(name: String) throws {
        // A UUID between fixed text makes a URL.
        url = URL(string: "file:///\(name)?vfs=memdb")!
        lock = StoreLock.of(.memory(name: name))
        anchor = try Connection(path: url.absoluteString, mode: .readWriteCreate, isURI: true)
        try anchor.liftSizeLimit()
    }

    func connect(_ mode: Connection.Mode) throws -> Connection {
        let connection = try Connection(path: url.absoluteString, mode: mode, isURI: true)
        try connection.limitPagesInMemory()
        return connection
    }
}

extension MemoryDatabase {
    private struct Weak {
        weak var database: MemoryDatabase?
    }
    private static let known = Lock<[String: Weak]>([:])

    /// An empty one that nobody else has.
    static func fresh() throws -> MemoryDatabase { try named(UUID().uuidString) }

    /// The one of a name; an empty one where nobody has it any more.
    static func named(_ name: String) throws -> MemoryDatabase {
        try known.withLock { known in
            if let database = known[name]?.database { return database }
            known = known.filter { $0.value.database != nil }
            let database = try MemoryDatabase(name: name)
            known[name] = Weak(database: database)
            return database
        }
    }

    /// The one of a name, if anybody has it.
    static func existing(_ name: String) -> MemoryDatabase? { known.withLock { $0[name]?.database } }

    /// The name in the URL of one; nil for any other URL.
    static func name(in url: URL) -> String? {
        guard url.isFileURL, url.query == "vfs=memdb" else { return nil }
        return UUID(uuidString: String(url.path.dropFirst()))?.uuidString
    }
}
