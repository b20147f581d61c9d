import SQLiteDriver

/// Collects the rows of one save that are not what their changes were measured against.
final class ConflictDetection {
    private let store: SQLiteStore
    private let connection: Connection
    private(set) var conflicts: [RowConflict] = []

    init(_ store: SQLiteStore, _ connection: Connection) {
        self.store = store
        self.connection = connection
    }

    func throwIfAny() throws {
        if !conflicts.isEmpty { throw SaveConflicts(conflicts: conflicts) }
    }

    /// Notes a conflict where the cache has a newer row than the change is measured against, or another one of the same version.
    func noteNewerCachedRow(_ change: some MeasuredChange, _ group: ChangeSet.Group, _ statements: SaveStatements) -> Bool {
        guard let base = change.base, let cached = store.cache.row(root: statements.root, key: change.key), cached !== base,
            cached.version > base.version
                || (cached.version == base.version && !cached.agrees(with: base, besides: group.entity.shape.derivedSlots))
        else { return false }
        note(group, change.key, cached, base.version, isStoreAhead: false)
        return true
    }

    /// Notes conflicts for objects that did not change but must be as they were read.
    func checkLocks(of group: ChangeSet.Group) throws {
        let versions = try store.readVersions(group.locks.map(\.key), group.entity, connection)
        for lock in group.locks {
            guard let base = lock.base, base.version != 0, versions[lock.key].map({ EntityLayout.version(ofStored: $0) }) != base.version
            else { continue }
            try noteStoredRow(group, lock.key, base.version)
        }
    }

    /// Notes conflicts for changes whose rows have another version by now, though nothing has been written yet: one statement for each kind.
    func checkVersions(of group: ChangeSet.Group) throws {
        try checkLocks(of: group)
        try checkVersions(of: group.updates, group, whenMissing: true)
        try checkVersions(of: group.deletes, group, whenMissing: false)
    }

    private func checkVersions(
        of changes: ContiguousArray<some MeasuredChange>,
        _ group: ChangeSet.Group,
        whenMissing isConflict: Bool
    ) throws {
        let versions = try store.readVersions(changes.map(\.key), group.entity, connection)
        let statements = store.saveStatements(group.entity)
        for change in changes {
            guard let base = change.base, base.version != 0, versions[change.key].map({ $0 != Int64(base.version) }) ?? isConflict
            else { continue }
            if !noteNewerCachedRow(change, group, statements) { try noteStoredRow(group, change.key, base.version) }
        }
    }

    /// Notes that the store has another version of a row, or has it no more.
    ///
    /// The store is ahead of the cache where that has an older row. Where it has none the newer row was written here, and nobody holds it: what a change
    /// is measured against is listed until then.
    func noteStoredRow(_ group: ChangeSet.Group, _ key: Int64, _ version: Int32) throws {
        let cached = store.cache.row(root: group.entity.rootEntity.index, key: key)
        store.cache.forget(root: group.entity.rootEntity.index, key: key)
        let current = try store.readRow(key, group.entity, connection)
        note(group, key, current, version, isStoreAhead: cached.map { $0.version != current?.version } ?? false)
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
}
