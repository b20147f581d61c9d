import CSQLite
import SQLiteDriver

/// Deletes rows, each only where its version is the one that was read.
struct DeleteWriter {
    let store: SQLiteStore
    let connection: Connection
    let conflicts: ConflictDetection

    func write(_ group: ChangeSet.Group) throws {
        guard !group.deletes.isEmpty else { return }
        let statements = store.saveStatements(group.entity)
        var unread: [Int64] = []
        // Keys whose rows were read in one version: mostly all of them.
        var (keys, version): ([Int64], Int32) = ([], 0)
        let mayBeBehind = !store.cache.knowsNothingNewer(than: group.deletes, root: statements.root)
        for index in group.deletes.indices {
            let key = group.deletes[index].key
            guard let known = group.deletes[index].base?.version, known != 0 else {
                unread.append(key)
                continue
            }
            if mayBeBehind, conflicts.noteNewerCachedRow(group.deletes[index], group, statements) { continue }
            if known != version || keys.count == SaveStatements.rowsPerDelete {
                try delete(keys, version, group, statements)
                keys.removeAll(keepingCapacity: true)
                version = known
            }
            keys.append(key)
        }
        try delete(keys, version, group, statements)
        try deleteUnread(unread, group, statements)
    }

    private func delete(_ keys: [Int64], _ version: Int32, _ group: ChangeSet.Group, _ statements: SaveStatements) throws {
        guard !keys.isEmpty else { return }
        try connection.withCached(statements.delete(count: keys.count)) { statement in
            var code = sqlite3_bind_int64(statement.handle, 1, Int64(version))
            for (offset, key) in keys.enumerated() { code |= sqlite3_bind_int64(statement.handle, Int32(offset) + 2, key) }
            try statement.requireBound(code)
            try statement.run()
        }
        guard connection.changes < keys.count else { return }
        // A row that is gone already is what was asked for; one with another version is a conflict.
        let present = try store.readVersions(keys, group.entity, connection)
        // One that is the same only as a number is no integer.
        try deleteUnread(keys.filter { present[$0] == Int64(version) }, group, statements)
        for key in keys where present[key].map({ $0 != Int64(version) }) ?? false { try conflicts.noteStoredRow(group, key, version) }
    }

    private func deleteUnread(_ keys: [Int64], _ group: ChangeSet.Group, _ statements: SaveStatements) throws {
        if keys.isEmpty { return }
        try connection.run(statements.deleteUnread, [.keys(keys)])
        // Others may have deleted them already.
        guard connection.changes < keys.count else { return }
        let left = try store.readVersions(keys, group.entity, connection).count
        if left > 0 { throw IgnoredRows.error("\(left) deletes", group.entity) }
    }
}
