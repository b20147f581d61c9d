import CSQLite
import Foundation
import SQLiteDriver

/// The part of a change set that one store takes.
struct StoreChanges {
    /// The groups, with their places in the whole change set.
    var groups: [(index: Int, group: ChangeSet.Group)] = []
    var links: [ChangeSet.LinkChange] = []
    var positions: [ChangeSet.PositionChange] = []
    var appends: [ChangeSet.Append] = []
}

/// Writes one store's part of a save, inside a transaction that the caller ends.
///
/// Deletes come first, so that what they free can be used again; then updates, inserts, and what joins them.
final class SaveRun {
    private let store: SQLiteStore
    private let changes: StoreChanges
    private let connection: Connection
    private(set) var keys = KeyForwarding()
    /// For each group, in order.
    private(set) var insertedKeys: [ContiguousArray<Int64>] = []
    /// For each group, in order: the versions of its updated rows, 0 where only the store knows it.
    private var updatedVersions: [ContiguousArray<Int32>] = []
    private var conflicts: [RowConflict] = []
    private var published: [() -> Void] = []
    /// The rows that got a place at the end of an ordered relationship, and the slot of the place.
    private var placed: [(row: OwnRow, slot: Int)] = []

    init(_ store: SQLiteStore, _ changes: StoreChanges, _ connection: Connection) {
        self.store = store
        self.changes = changes
        self.connection = connection
    }

    private func statements(_ entity: NSEntityDescription) -> SaveStatements { store.saveStatements(entity) }

    /// Runs everything up to the commit.
    ///
    /// - Throws: `SaveConflicts`, `SQLiteError`, `CocoaError`; the transaction is to be rolled back then.
    func write() throws {
        try store.orderMarks.refresh(connection)
        try reserveKeys()
        let writer = StatementWriter(schema: store.schema, store: store.number, resolve: resolve)
        for (_, group) in changes.groups {
            try checkLocks(group)
            try delete(group)
        }
        for append in changes.appends {
            let entity = store.model.entitiesInIndexOrder[Int(append.member.entity)]
            try place(append.row.own, statements(entity))
        }
        for (_, group) in changes.groups { try update(group, writer) }
        if !conflicts.isEmpty { throw SaveConflicts(conflicts: conflicts) }
        for (offset, (_, group)) in changes.groups.enumerated() { try insert(group, insertedKeys[offset], writer) }
        try LinkWriter(store: store, connection: connection, resolve: resolve).write(changes)
        if let metadata = store.changedMetadata { try metadata.write(to: connection) }
    }

    private func resolve(_ reference: RowReference) throws -> RowReference {
        if reference.key < 0, let permanent = keys[reference.key] { return permanent }
        if reference.key > 0, reference.store == store.number || reference.store == 0 { return reference }
        throw CocoaError.coreData(
            .managedObjectExternalRelationship,
            "A relationship leads from store \(store.url?.lastPathComponent ?? "?") to an object of another store, or of none."
        )
    }
}

extension SaveRun {
    /// Whether any row of this save can hold a reference: only then must temporary keys be found again.
    private var refersToOthers: Bool {
        !changes.links.isEmpty || !changes.positions.isEmpty
            || changes.groups.contains { !$0.group.entity.shape.layout.referenceSlots.isEmpty }
    }

    /// Takes one block of keys for each root entity that gets new rows.
    private func reserveKeys() throws {
        var needed: [Int: Int] = [:]
        for (_, group) in changes.groups {
            needed[store.schema.entity(for: group.entity).rootNumber, default: 0] += group.inserts.indices.count(where: {
                group.inserts[$0].key <= 0
            })
        }
        var next: [Int: Int64] = [:]
        for (root, count) in needed.sorted(by: { $0.key < $1.key }) where count > 0 {
            next[root] = try store.reserveKeys(count, root: root, connection)
        }
        for (root, count) in store.keyPool.shortages {
            let first = try store.reserveKeys(count, root: root, connection)
            published.append { [store] in store.keyPool.put(first, count: count, root: root) }
        }
        for (_, group) in changes.groups {
            let root = store.schema.entity(for: group.entity).rootNumber
            var own = ContiguousArray<Int64>()
            own.reserveCapacity(group.inserts.count)
            var key = next[root] ?? 0
            let (isReferredTo, entity) = (refersToOthers, Int32(group.entity.index))
            for index in group.inserts.indices {
                let known = group.inserts[index].key
                if known > 0 {
                    own.append(known)
                    continue
                }
                own.append(key)
                if isReferredTo { keys.insert(RowReference(key: key, entity: entity, store: store.number), for: known) }
                key += 1
            }
            next[root] = key
            insertedKeys.append(own)
        }
    }

    private func insert(_ group: ChangeSet.Group, _ keys: ContiguousArray<Int64>, _ writer: StatementWriter) throws {
        guard !group.inserts.isEmpty else { return }
        let statements = statements(group.entity)
        var next = 0
        if group.inserts.count >= SaveStatements.rowsPerInsert {
            let many = try connection.cached(statements.insertMany)
            defer { many.resetAndClear() }
            while next + SaveStatements.rowsPerInsert <= group.inserts.count {
                let end = next + SaveStatements.rowsPerInsert
                do {
                    try insert(group, keys, next..<end, many, statements, writer)
                } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
                    // The rows before the one to blame are in: on its own, it fails again and is named.
                    next += connection.changes
                    break
                }
                next = end
            }
        }
        let one = try connection.cached(statements.insertOne)
        defer { one.resetAndClear() }
        while next < group.inserts.count {
            do {
                try insert(group, keys, next..<next + 1, one, statements, writer)
            } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
                throw constraintError(error, group, keys[next])
            }
            next += 1
        }
    }

    @inline(__always)
    private func insert(
        _ group: ChangeSet.Group,
        _ keys: ContiguousArray<Int64>,
        _ range: Range<Int>,
        _ statement: Statement,
        _ statements: SaveStatements,
        _ writer: StatementWriter
    ) throws {
        writer.begin()
        var parameter: Int32 = 1
        for index in range {
            if !statements.positions.isEmpty { try place(group.inserts[index].row.own, statements) }
            sqlite3_bind_int64(statement.handle, parameter, keys[index])
            parameter = try writer.bind(group.inserts[index].row.bytes, statements.steps, to: statement.handle, from: parameter + 1)
        }
        try statement.run()
    }

    /// Puts a member that has no place yet at the end of its ordered relationship.
    @inline(__always)
    private func place(_ row: OwnRow, _ statements: SaveStatements) throws {
        let bytes = row.bytes
        for position in statements.positions where !EntityLayout.isNull(bytes, position.reference) {
            if EntityLayout.isNull(bytes, position.slot) {
                let place = try position.mark.next(connection)
                OwnRow.placing.withLock { row.store(.integer(place), at: position.slot) }
                placed.append((row, position.slot))
            } else {
                position.mark.note(row.slot(position.slot).load(as: Int64.self))
            }
        }
    }

    private func constraintError(_ error: SQLiteError, _ group: ChangeSet.Group, _ key: Int64) -> CocoaError {
        .coreData(
            .managedObjectConstraintMerge,
            "Saving a \(group.entity.name ?? "?") would break a uniqueness constraint: \(error.message).",
            userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)]
        )
    }
}

extension SaveRun {
    private func update(_ group: ChangeSet.Group, _ writer: StatementWriter) throws {
        var versions = ContiguousArray<Int32>(repeating: 0, count: group.updates.count)
        defer { updatedVersions.append(versions) }
        guard !group.updates.isEmpty else { return }
        let statements = statements(group.entity)
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
            if known != 0, mayBeBehind, noteNewerCachedRow(group.updates[index], group, statements) { continue }
            guard let version = known != 0 ? known : versionsInStore[key] else {
                try noteStoreConflict(group, key, 0)
                continue
            }
            if current?.slots != group.updates[index].slots {
                current?.statement.resetAndClear()
                current = try PreparedUpdate(group.updates[index].slots, statements, connection)
            }
            // Set just above.
            try run(group, index, version, current.unsafelyUnwrapped, statements, writer)
            versions[index] = version + 1
        }
        current?.statement.resetAndClear()
        try touch(unread, group, statements)
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
        _ statements: SaveStatements,
        _ writer: StatementWriter
    ) throws {
        writer.begin()
        let (key, handle) = (group.updates[index].key, prepared.statement.handle)
        if !statements.positions.isEmpty { try place(group.updates[index].row.own, statements) }
        let next = try writer.bind(group.updates[index].row.bytes, prepared.steps, to: handle, from: 1)
        sqlite3_bind_int64(handle, next, Int64(version) + 1)
        sqlite3_bind_int64(handle, next + 1, key)
        sqlite3_bind_int64(handle, next + 2, Int64(version))
        do {
            try prepared.statement.run()
        } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
            throw constraintError(error, group, key)
        }
        if connection.changes == 0 { try noteStoreConflict(group, key, version) }
    }

    /// For changes to rows that a child context had saved before and that no store knows: there is nothing to measure them against.
    private func readVersions(unknownIn group: ChangeSet.Group) throws -> [Int64: Int32] {
        let keys = group.updates.lazy.filter { $0.base.map { $0.version == 0 } ?? false }.map(\.key)
        return try store.readVersions(Array(keys), group.entity, connection)
    }

    /// Advances the versions of objects of which only a to-many relationship changed, and whose rows nobody has read.
    private func touch(_ keys: [Int64], _ group: ChangeSet.Group, _ statements: SaveStatements) throws {
        guard !keys.isEmpty else { return }
        let statement = try connection.cached(statements.touch)
        defer { statement.resetAndClear() }
        try statement.bind([.keys(keys)])
        try statement.run()
        // One whose row is gone was changed here, and deleted in the store.
        if connection.changes < keys.count {
            let present = try store.readVersions(keys, group.entity, connection)
            for key in keys where present[key] == nil { try noteStoreConflict(group, key, 0) }
        }
        let (cache, root) = (store.cache, group.entity.rootEntity.index)
        published.append { for key in keys { cache.forget(root: root, key: key) } }
    }

    private func delete(_ group: ChangeSet.Group) throws {
        guard !group.deletes.isEmpty else { return }
        let statements = statements(group.entity)
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
            if mayBeBehind, noteNewerCachedRow(group.deletes[index], group, statements) { continue }
            if known != version || keys.count == SaveStatements.rowsPerDelete {
                try delete(keys, version, group, statements)
                keys.removeAll(keepingCapacity: true)
                version = known
            }
            keys.append(key)
        }
        try delete(keys, version, group, statements)
        try deleteUnread(unread, statements)
    }

    private func delete(_ keys: [Int64], _ version: Int32, _ group: ChangeSet.Group, _ statements: SaveStatements) throws {
        guard !keys.isEmpty else { return }
        let statement = try connection.cached(statements.delete(count: keys.count))
        sqlite3_bind_int64(statement.handle, 1, Int64(version))
        for (offset, key) in keys.enumerated() { sqlite3_bind_int64(statement.handle, Int32(offset) + 2, key) }
        try statement.run()
        guard connection.changes < keys.count else { return }
        // A row that is gone already is what was asked for; one with another version is a conflict.
        let present = try store.readVersions(keys, group.entity, connection)
        for key in keys where present[key] != nil { try noteStoreConflict(group, key, version) }
    }

    private func deleteUnread(_ keys: [Int64], _ statements: SaveStatements) throws {
        guard !keys.isEmpty else { return }
        let statement = try connection.cached(statements.deleteUnread)
        defer { statement.resetAndClear() }
        try statement.bind([.keys(keys)])
        try statement.run()
    }
}

extension SaveRun {
    /// Notes a conflict where the cache has a newer row than the change is measured against.
    private func noteNewerCachedRow(_ change: some MeasuredChange, _ group: ChangeSet.Group, _ statements: SaveStatements) -> Bool {
        guard let base = change.base, let cached = store.cache.row(root: statements.root, key: change.key), cached.version > base.version
        else { return false }
        note(group, change.key, cached, base.version, isStoreAhead: false)
        return true
    }

    private func checkLocks(_ group: ChangeSet.Group) throws {
        let versions = try store.readVersions(group.locks.map(\.key), group.entity, connection)
        for lock in group.locks {
            guard let base = lock.base, base.version != 0, versions[lock.key] != base.version else { continue }
            try noteStoreConflict(group, lock.key, base.version)
        }
    }

    private func noteStoreConflict(_ group: ChangeSet.Group, _ key: Int64, _ version: Int32) throws {
        store.cache.forget(root: group.entity.rootEntity.index, key: key)
        let current = try store.readRow(key, group.entity, connection)
        note(group, key, current, version, isStoreAhead: true)
    }

    private func note(_ group: ChangeSet.Group, _ key: Int64, _ current: Row?, _ version: Int32, isStoreAhead: Bool) {
        conflicts.append(
            RowConflict(
                reference: RowReference(key: key, entity: Int32(group.entity.index), store: store.number),
                current: current,
                currentVersion: current?.version ?? 0,
                baseVersion: version,
                isStoreAhead: isStoreAhead
            )
        )
    }

    /// Nothing was written: the rows are as they were, so that places are given anew by the next save.
    func takeBack() {
        OwnRow.placing.withLock { for (row, slot) in placed { row.store(.null, at: slot) } }
    }

    /// The transaction is committed: rows get their references, and the cache the rows. Nobody else may be reading the rows.
    func publish() {
        for (_, group) in changes.groups {
            let layout = group.entity.shape.layout
            guard !layout.referenceSlots.isEmpty else { continue }
            for index in group.inserts.indices { completeReferences(group.inserts[index].row, layout) }
            for index in group.updates.indices { completeReferences(group.updates[index].row, layout) }
        }
        for (index, (_, group)) in changes.groups.enumerated() {
            let root = group.entity.rootEntity.index
            store.cache.publish(inserts: group.inserts, keys: insertedKeys[index], root: root)
            store.cache.publish(updates: group.updates, versions: updatedVersions[index], root: root)
            store.cache.forget(root: root, deletes: group.deletes)
        }
        for publish in published { publish() }
        store.didWriteMetadata()
    }

    /// Temporary keys in the rows become the permanent ones.
    @inline(__always) private func completeReferences(_ row: Row, _ layout: EntityLayout) {
        guard row.isOwn else { return }
        for slot in layout.referenceSlots {
            let place = row.bytes + Int(layout.ownOffsets[slot])
            let key = place.load(as: Int64.self)
            if key < 0, let permanent = keys[key] { place.storeBytes(of: permanent, as: RowReference.self) }
        }
    }
}
