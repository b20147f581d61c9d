import CSQLite
import Foundation
import SQLiteDriver

extension StorePlace {
    /// A connection to the database.
    func connect(_ mode: Connection.Mode, timeout: TimeInterval) throws -> Connection {
        try Self.configured(database?.connect(mode) ?? Connection(path: url.path, mode: mode), timeout)
    }

    /// A connection that changes nothing: neither the database, nor what is beside its file once it is closed. It works where nothing can be
    /// written, too.
    ///
    /// - Parameter isAlone: whether it may keep others out as long as it is open, where nobody else has the file open now.
    func connectForReading(timeout: TimeInterval, isAlone: Bool = false) throws -> Connection {
        let connection = try connect(.readOnly, timeout: timeout)
        // Without a log, reading needs no file beside it.
        guard database == nil, connection.isInLogMode else { return connection }
        let log = LogState(of: url)
        if log == .none, let unchanging = try connectToUnchanging(timeout) { return unchanging }
        if log == .abandoned, isAlone, let alone = try? connectAlone() { return alone }
        return try connectToLog(log, timeout)
    }

    /// What every connection begins with, before its first statement.
    private static func configured(_ connection: Connection, _ timeout: TimeInterval) throws -> Connection {
        connection.setBusyTimeout(seconds: timeout)
        connection.harden()
        try SQLFunctions.register(on: connection)
        try connection.defineSink()
        try connection.execute("PRAGMA recursive_triggers = 1")
        return connection
    }

    /// NB: a connection that cannot write has to make a log and its index, too, and leaves them behind: only one that can write removes them, when it
    /// is the last to close.
    private func connectToLog(_ log: LogState, _ timeout: TimeInterval) throws -> Connection {
        let connection = try connect(.readWrite, timeout: timeout)
        connection.setCheckpointsOnClose(log == .none || log == .empty)
        try connection.execute("PRAGMA query_only = 1")
        return connection
    }

    /// NB: "if the locking mode is EXCLUSIVE when first entering WAL journal mode", the index of the log is in this process' own memory.
    private func connectAlone() throws -> Connection {
        let connection = try connectToLog(.abandoned, 0)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        _ = try connection.rows("PRAGMA schema_version")
        return connection
    }

    /// Where no log and no index of it can be made, and there is none, the file is read as one that nobody changes, which is what such a place
    /// promises, until it is seen to have changed; nil for other places.
    private func connectToUnchanging(_ timeout: TimeInterval) throws -> Connection? {
        guard access(url.deletingLastPathComponent().path, W_OK) != 0, let state = UnchangingFile(url),
            let path = url.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
        else { return nil }
        let file = try Connection(path: "file:\(path)?immutable=1", mode: .readOnly, isURI: true)
        let (connection, url) = (try Self.configured(file, timeout), url)
        connection.isCurrent = { UnchangingFile(url) == state }
        return connection
    }
}

/// What is beside a file with a write-ahead log.
enum LogState {
    /// No log at all.
    case none
    /// One with nothing in it.
    case empty
    /// One that somebody has open, or had when he was killed.
    case inUse
    /// One without its index: nobody has it open.
    case abandoned

    init(of url: URL) {
        var status = stat()
        if stat(url.path + "-wal", &status) != 0 {
            self = .none
        } else if status.st_size == 0 {
            self = .empty
        } else {
            self = FileManager.default.fileExists(atPath: url.path + "-shm") ? .inUse : .abandoned
        }
    }
}

/// What a file looks like from outside while nobody changes it.
private struct UnchangingFile: Equatable {
    private let identity: DatabaseIdentity
    private let size: Int
    private let (seconds, nanoseconds): (Int, Int)

    /// Nil where there is no file, or a log or a journal says that somebody may be changing it.
    init?(_ url: URL) {
        var status = stat()
        guard stat(url.path, &status) == 0, let identity = DatabaseIdentity(path: url.path),
            !["-wal", "-journal"].contains(where: { FileManager.default.fileExists(atPath: url.path + $0) })
        else { return nil }
        self.identity = identity
        size = Int(status.st_size)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
