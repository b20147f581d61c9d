import CSQLite

extension Connection {
    /// Puts everything that is in this connection's database in the place of what is in another's.
    ///
    /// It is one transaction of the other database: whoever has that open, and whoever opens it after a crash, finds what was there or all of
    /// this one. What others write into this one meanwhile waits or is not copied.
    ///
    /// - Precondition: neither connection is in a transaction.
    /// - Throws: `SQLiteError`; the other database is as it was then.
    public func copyDatabase(to other: Connection) throws {
        guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
            throw SQLiteError(sqlite3_errcode(other.handle), on: other.handle)
        }
        let code = sqlite3_backup_step(backup, -1)
        // NB: what made a step fail is the connection's error only once the copy has ended.
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw SQLiteError(code, on: other.handle) }
        guard end == SQLITE_OK else { throw SQLiteError(end, on: other.handle) }
    }

    /// Writes a copy without gaps into a file, or with a URI into a database of another kind, that has nothing in it. It has no write-ahead log.
    ///
    /// NB: a copy that is interrupted is no database.
    ///
    /// - Throws: `SQLiteError`, also where there is something already.
    public func vacuum(into place: String) throws { try run("VACUUM INTO ?1", [.text(place)]) }
}
