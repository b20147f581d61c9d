import SQLiteDriver

extension SQLiteStore {
    /// Drops one table that a migration has left; false where there is none.
    func finishDeferredTask() throws -> Bool {
        guard metadata?[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil else { return false }
        try requireWritable()
        try reporting("finish a migration") {
            try pool.write { connection in
                try connection.transaction(.immediate) {
                    try requireFile(of: connection)
                    let tables = try MigrationScript.parkedTables(connection)
                    if let first = tables.first { try connection.execute("DROP TABLE \(first)") }
                    guard tables.count <= 1 else { return }
                    // NB: where others have destroyed the store there is neither a table nor metadata.
                    if var metadata = try StoreMetadata.read(from: connection) {
                        metadata.values[NSPersistentStoreDeferredLightweightMigrationOptionKey] = nil
                        try metadata.write(to: connection)
                    }
                    state.withLock { $0.metadata.values[NSPersistentStoreDeferredLightweightMigrationOptionKey] = nil }
                }
            }
        }
        return true
    }
}
