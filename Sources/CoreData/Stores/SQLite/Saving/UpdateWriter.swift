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

    /// The new versions of a group's updates, in order, 0 where only the store knows it; and the keys of those rows.
    func write(_ group: ChangeSet.Group) throws -> (versions: ContiguousArray<Int32>, unread: [Int64]) {
        var versions = ContiguousArray<Int32>(repeating: 0, count: group.updates.count)
        guard !group.updates.isEmpty else { return (versions, []) }
        let statements = store.saveStatements(group.entity)
        let mayBeBehind = !store.cache.knowsNothingNewer(than: group.updates, root: statements.root)
        let versionsInStore = try readVersions(unknownIn: group)
        var current: PreparedUpdate?
        var unread: [Int64] = []
        for index in group.updates.indices {
            let key = group.updates[index].key
            guard let known = group.updates[index].base?.version else {
                unread.append(key)
                continue
            }
            if known != 0, mayBeBehind, conflicts.noteNewerCachedRow(group.updates[index], group, statements) { continue }
            guard let version = known != 0 ? known : versionsInStore[key] else {
                try conflicts.noteStoredRow(group, key, 0)
                continue
            }
            if current?.slots != group.updates[index].slots {
                current?.statement.resetAndClear()
                current = try PreparedUpdate(group.updates[index].slots, statements, connection)
            }
            // Set just above.
            try run(group, index, version, current.unsafelyUnwrapped, statements)
            versions[index] = version + 1
        }
        current?.statement.resetAndClear()
        try advance(unread, group, statements)
        return (versions, unread)
    }

    /// The statement that writes some slots of one row.
    private final class PreparedUpdate {
        let slots: SlotMask
        let statement: Statement
        let steps: ContiguousArray<StatementWriter.Step>

        init(_ slots: SlotMask, _ statements: SaveStatements, _ connection: Connection) throws {
            let (sql, steps) = statements.update(slots)
            (self.slots, self.steps) = (slots, steps)
            statement = try connection.cached(sql)
        }
    }

    @inline(__always)
    private func run(
        _ group: ChangeSet.Group,
        _ index: Int,
        _ version: Int32,
        _ prepared: PreparedUpdate,
        _ statements: SaveStatements
    ) throws {
        writer.begin()
        let (key, handle) = (group.updates[index].key, prepared.statement.handle)
        if !statements.positions.isEmpty { try positions.assign(to: group.updates[index].row.own, statements) }
        let next = try writer.bind(group.updates[index].row.bytes, prepared.steps, to: handle, from: 1)
        sqlite3_bind_int64(handle, next, Int64(version) + 1)
        sqlite3_bind_int64(handle, next + 1, key)
        sqlite3_bind_int64(handle, next + 2, Int64(version))
        do {
            try prepared.statement.run()
        } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
            throw BrokenUniqueIndex.error(for: error, group.entity)
        }
        if connection.changes == 0 { try conflicts.noteStoredRow(group, key, version) }
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
        let statement = try connection.cached("UPDATE \(table) SET \(column) = NULL WHERE Z_PK IN (SELECT value FROM json_each(?))")
        defer { statement.resetAndClear() }
        try statement.bind([.keys(keys)])
        try statement.run()
    }

    /// For changes to rows that a child context had saved before and that no store knows: there is nothing to measure them against.
    private func readVersions(unknownIn group: ChangeSet.Group) throws -> [Int64: Int32] {
        let keys = group.updates.lazy.filter { $0.base.map { $0.version == 0 } ?? false }.map(\.key)
        return try store.readVersions(Array(keys), group.entity, connection)
    }

    /// Advances the versions of objects of which only a to-many relationship changed, and whose rows nobody has read.
    private func advance(_ keys: [Int64], _ group: ChangeSet.Group, _ statements: SaveStatements) throws {
        guard !keys.isEmpty else { return }
        let statement = try connection.cached(statements.touch)
        defer { statement.resetAndClear() }
        try statement.bind([.keys(keys)])
        try statement.run()
        // One whose row is gone was changed here, and deleted in the store.
        guard connection.changes < keys.count else { return }
        let present = try store.readVersions(keys, group.entity, connection)
        for key in keys where present[key] == nil { try conflicts.noteStoredRow(group, key, 0) }
    }
}
