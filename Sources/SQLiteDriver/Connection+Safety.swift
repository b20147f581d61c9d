import CSQLite
import Glibc

extension Connection {
    /// Keeps statements from writing past SQLite's own rules, and triggers and views of the file from calling functions that are not meant for
    /// them. To be called before the first statement.
    public func harden() {
        cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    }

    /// Lets triggers and views use virtual tables, where there are some: triggers keep R-Trees up to date.
    ///
    /// NB: "unsafe use of virtual table" is what SQLite answers otherwise: an R-Tree is not marked as innocuous.
    public func trustSchemaWithVirtualTables() throws {
        let names = try rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%' LIMIT 1")
        if !names.isEmpty { cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1) }
    }

    /// Runs `body` while no trigger fires.
    public func withoutTriggers<Result>(_ body: () throws -> Result) rethrows -> Result {
        cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        defer { cd_sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1) }
        return try body()
    }

    /// Whether the file is one with a write-ahead log. Nothing but its header is read, and no file beside it is made or touched.
    public var isInLogMode: Bool {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let read = file.pointee.pMethods?.pointee.xRead
        else { return false }
        // "File format read version. 1 for legacy; 2 for WAL", at offset 19: https://sqlite.org/fileformat.html
        var version: UInt8 = 0
        return read(file, &version, 1, 19) == SQLITE_OK && version == 2
    }

    /// Whether what this connection writes into the write-ahead log is found by others: the log at its place is the one that is open, and the file
    /// has its first page still, without which whoever opens it takes the log away. To be asked in a transaction that writes.
    ///
    /// NB: nobody who keeps to SQLite's rules removes a log that is open, and SQLite goes on writing into one that was removed. It does not tell which
    /// one it has open but for its size, which only this connection changes meanwhile.
    public var isLogInPlace: Bool {
        guard let name = sqlite3_db_filename(handle, "main"), let path = sqlite3_filename_wal(name) else { return false }
        var status = stat()
        return stat(path, &status) == 0 && size(of: SQLITE_FCNTL_JOURNAL_POINTER) == Int64(status.st_size)
            && size(of: SQLITE_FCNTL_FILE_POINTER) != 0
    }

    /// The size of a file that is open, by the code that asks for it.
    private func size(of pointer: Int32) -> Int64? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", pointer, &file) == SQLITE_OK, let file,
            let read = file.pointee.pMethods?.pointee.xFileSize
        else { return nil }
        var size: sqlite3_int64 = 0
        return read(file, &size) == SQLITE_OK ? size : nil
    }

    /// Refuses from now on whatever changes something: this database, another one, or the connection.
    public func allowOnlyReading() throws {
        try execute("PRAGMA query_only = 1")
        sqlite3_set_authorizer(handle, authorizeReading, nil)
    }
}

/// Pragmas that only tell, without an argument.
private let shownPragmas: Set = [
    "application_id", "auto_vacuum", "collation_list", "compile_options", "data_version", "database_list", "encoding", "freelist_count",
    "function_list", "journal_mode", "module_list", "page_count", "page_size", "pragma_list", "schema_version", "table_list",
    "user_version",
]
/// Pragmas that only read, with an argument too.
private let readingPragmas: Set = [
    "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo", "integrity_check", "quick_check", "table_info",
    "table_list", "table_xinfo",
]

// NB: what `query_only` lets pass is named here. VACUUM INTO begins with an ATTACH.
private func authorizeReading(
    _: UnsafeMutableRawPointer?,
    _ action: Int32,
    _ name: UnsafePointer<CChar>?,
    _ argument: UnsafePointer<CChar>?,
    _: UnsafePointer<CChar>?,
    _: UnsafePointer<CChar>?
) -> Int32 {
    switch action {
    case SQLITE_ATTACH, SQLITE_DETACH: return SQLITE_DENY
    case SQLITE_PRAGMA:
        let pragma = name.map { String(cString: $0).lowercased() } ?? ""
        return readingPragmas.contains(pragma) || argument == nil && shownPragmas.contains(pragma) ? SQLITE_OK : SQLITE_DENY
    default: return SQLITE_OK
    }
}
