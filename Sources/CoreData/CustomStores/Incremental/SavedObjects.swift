/// What was saved here of an incremental store: when, in moments of its row cache, and in which version.
///
/// A save that adds members leaves the values of a node as they were; who writes over it has not seen it all the same. And a class's versions are
/// its own: they need not count up by one, nor at all. Rows of what was saved have versions that do, so that contexts tell older from newer ones.
final class SavedObjects: Sendable {
    fileprivate struct Save {
        var moment: UInt32
        /// The version of the newest row; 0 where nobody had one to count from.
        var version: Int32
        /// The class's own version of it, once the class was asked.
        var own: UInt64?
    }

    fileprivate struct State {
        /// By root entity and key.
        var saves: [Int: [Int64: Save]] = [:]
        var swept: UInt32 = 0
    }
    private let state = Lock(State())
    /// Moments go round: of one that is longer past nobody could tell that it is.
    fileprivate static let age = UInt32(1) << 29

    /// The objects are about to be known as they were saved.
    ///
    /// - Parameter cached: the version of the newest row that is at hand; 0 where none is.
    /// - Returns: the versions of the updates; 0 for those that were measured against no row.
    func note(
        _ group: ChangeSet.Group,
        keys: ContiguousArray<Int64>,
        at moment: UInt32,
        cached: (Int64) -> Int32
    ) -> ContiguousArray<Int32> {
        let cached = group.updates.map { cached($0.key) }
        return state.withLock { state in
            state.sweep(moment)
            return state.note(group, keys, moment, cached)
        }
    }

    /// Whether an object was saved after the store had one of its rows.
    func isSaved(_ key: Int64, root: Int, after row: Row) -> Bool {
        guard let read = row.listing?.moment, let saved = state.withLock({ $0.saves[root]?[key]?.moment }) else { return false }
        return Self.span(from: read, to: saved) > 0
    }

    /// The version of a row that the class gives: that of the last save, unless the class says that there is another since.
    ///
    /// - Parameter moment: when the class was asked.
    func version(_ own: UInt64, of key: Int64, root: Int, readAt moment: UInt32) -> Int32 {
        // A version is above 0, where it is known.
        let plain = Int32(truncatingIfNeeded: own & 0x3fff_ffff) + 1
        return state.withLock { state in
            guard let save = state.saves[root]?[key] else { return plain }
            // It may be what was there before.
            guard Self.span(from: save.moment, to: moment) > 0 else { return max(save.version - 1, 1) }
            let known = save.read(own, plain)
            state.saves[root]?[key] = known
            return known.version
        }
    }

    private static func span(from: UInt32, to: UInt32) -> Int32 { Int32(bitPattern: to &- from) }
}

extension SavedObjects.Save {
    /// The class was asked once more.
    fileprivate func read(_ own: UInt64, _ plain: Int32) -> Self {
        let isOther = version == 0 || self.own.map { $0 != own } ?? false
        return Self(moment: moment, version: version == 0 ? plain + 1 : isOther ? version + 1 : version, own: own)
    }
}

extension SavedObjects.State {
    fileprivate mutating func note(
        _ group: ChangeSet.Group,
        _ keys: ContiguousArray<Int64>,
        _ moment: UInt32,
        _ cached: [Int32]
    ) -> ContiguousArray<Int32> {
        let root = group.entity.rootEntity.index
        var saves = self.saves.removeValue(forKey: root) ?? [:]
        defer { self.saves[root] = saves }
        for delete in group.deletes { saves[delete.key] = nil }
        for (insert, key) in zip(group.inserts, keys) {
            saves[key] = SavedObjects.Save(moment: moment, version: EntityLayout.versionOfInsert(insert.row.bytes))
        }
        return ContiguousArray(
            zip(group.updates, cached).map { update, cached in
                let known = max(update.base?.version ?? 0, cached, saves[update.key]?.version ?? 0)
                let version = known == 0 && update.base == nil ? 0 : known + 1
                saves[update.key] = SavedObjects.Save(moment: moment, version: version)
                return update.base == nil ? 0 : version
            }
        )
    }

    /// Saves that are long past are brought along.
    fileprivate mutating func sweep(_ moment: UInt32) {
        guard moment &- swept > SavedObjects.age else { return }
        for root in saves.keys {
            saves[root] = saves[root]?.mapValues { save in
                moment &- save.moment > SavedObjects.age
                    ? SavedObjects.Save(moment: moment &- SavedObjects.age, version: save.version, own: save.own) : save
            }
        }
        swept = moment
    }
}
