import CSQLite
import Foundation
import SQLiteDriver

/// Writes the changed rows of a save, each only where its version is the one that was read.
struct UpdateWriter {
    let store: SQLiteStore
    let connection: Connection
    let writer: StatementWriter
    let positions: PositionAssignment
    let conflicts: ConflictDetection

    /// What the rows of a group are once it is written.
    struct Written {
        /// The new versions, in order; 0 where only the store knows it, or no row has room for it.
        var versions: ContiguousArray<Int32> = []
        /// The keys of those rows.
        var unlisted: [Int64] = []
    }

    func write(_ group: ChangeSet.Group) throws -> Written {
        guard !group.updates.isEmpty else { return Written() }
        var written = Written(versions: ContiguousArray(repeating: 0, count: group.updates.count))
        let statements = store.saveStatements(group.entity)
        let mayBeBehind = !store.cache.knowsNothingNewer(than: group.updates, root: statements.root)
        let versionsInStore = try readVersions(unknownIn: group)
        var index = 0
        do {
            while index < group.updates.count {
                let slots = group.updates[index].slots
                let update = statements.update(slots)
                try connection.withCached(update.sql) { statement in
                    while index < group.updates.count, group.updates[index].slots == slots {
                        defer { index += 1 }
                        let key = group.updates[index].key
                        guard let known = group.updates[index].base?.version else {
                            written.unlisted.append(key)
                            continue
                        }
                        if known != 0, mayBeBehind, conflicts.noteNewerCachedRow(group.updates[index], group, statements) { continue }
                        guard let version = known != 0 ? Int64(known) : versionsInStore[key] else {
                            try conflicts.noteStoredRow(group, key, 0)
                            continue
                        }
                        written.versions[index] = try run(group, index, version, statement, update.steps, statements)
                        if connection.changes == 0 { try runWithAnyVersion(group, index, version, update, statements) }
                    }
                }
            }
        } catch let refused as RefusedValue {
            throw refused.error(group.entity, url: store.url)
        }
        try advance(written.unlisted, group, statements)
        noteUnknownVersions(group, &written)
        return written
    }

    /// Rows that were written and have versions beyond those that a row can say.
    private func noteUnknownVersions(_ group: ChangeSet.Group, _ written: inout Written) {
        for index in group.updates.indices where written.versions[index] == 0 && group.updates[index].base != nil {
            written.unlisted.append(group.updates[index].key)
        }
    }

    /// Writes one row; its new version.
    @inline(__always)
    private func run(
        _ group: ChangeSet.Group,
        _ index: Int,
        _ version: Int64,
        _ statement: Statement,
        _ steps: ContiguousArray<StatementWriter.Step>,
        _ statements: SaveStatements
    ) throws -> Int32 {
        writer.begin()
        let (key, handle) = (group.updates[index].key, statement.handle)
        // As SQL has it in `SQLDialect.advanceVersion`.
        let newVersion = version < .max ? version + 1 : 1
        if !statements.positions.isEmpty { try positions.assign(to: group.updates[index].row.own, statements) }
        let next = try writer.bind(group.updates[index].row.bytes, steps, to: handle, from: 1)
        let code =
            sqlite3_bind_int64(handle, next, newVersion) | sqlite3_bind_int64(handle, next + 1, key)
            | sqlite3_bind_int64(handle, next + 2, version)
        try statement.requireBound(code)
        do {
            try statement.run()
        } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
            throw BrokenUniqueIndex.error(for: error, group.entity)
        }
        return EntityLayout.version(ofStored: newVersion)
    }

    /// The row has another version, or one that is no integer: what others write may have none at all.
    private func runWithAnyVersion(
        _ group: ChangeSet.Group,
        _ index: Int,
        _ version: Int64,
        _ update: SaveStatements.Update,
        _ statements: SaveStatements
    ) throws {
        try connection.withCached(update.sqlOfAnyVersion) { _ = try run(group, index, version, $0, update.steps, statements) }
        guard connection.changes == 0 else { return }
        let key = group.updates[index].key
        if try store.readVersions([key], group.entity, connection)[key] == version { throw IgnoredRows.error("a change", group.entity) }
        try conflicts.noteStoredRow(group, key, EntityLayout.version(ofStored: version))
    }

    /// Takes away the values under constraints that updates are about to replace: one may take what another gives up.
    func freeValues(of group: ChangeSet.Group) throws {
        guard !group.updates.isEmpty else { return }
        let entity = store.schema.entity(for: group.entity)
        var freed: Set<String> = []
        for constraint in TableConstraint.all(ofTreeOf: group.entity, store.schema) {
            guard let slots = constraint.slots(in: entity) else { continue }
            for (slot, column) in zip(slots, constraint.columns) where freed.insert(column).inserted {
                try free(column, of: group.updates.lazy.filter { $0.slots.contains(slot) }.map(\.key), entity.table)
            }
        }
    }

    private func free(_ column: String, of keys: some Sequence<Int64>, _ table: String) throws {
        // NB: NULL is distinct from every other NULL in a unique index.
        try connection.run("UPDATE \(table) SET \(column) = NULL WHERE \(SQLNames.key) IN \(SQLDialect.list)", [.keys(keys)])
    }

    /// For changes to rows that a child context had saved before and that no store knows, or whose versions no row can say: there is nothing
    /// to measure them against.
    private func readVersions(unknownIn group: ChangeSet.Group) throws -> [Int64: Int64] {
        let keys = group.updates.lazy.filter { $0.base.map { $0.version == 0 } ?? false }.map(\.key)
        return try store.readVersions(Array(keys), group.entity, connection)
    }

    /// Advances the versions of objects of which only a to-many relationship changed, and whose rows nobody has read.
    private func advance(_ keys: [Int64], _ group: ChangeSet.Group, _ statements: SaveStatements) throws {
        guard !keys.isEmpty else { return }
        try connection.run(statements.touch, [.keys(keys)])
        // One whose row is gone was changed here, and deleted in the store.
        guard connection.changes < keys.count else { return }
        let present = try store.readVersions(keys, group.entity, connection)
        for key in keys where present[key] == nil { try conflicts.noteStoredRow(group, key, 0) }
    }
}
