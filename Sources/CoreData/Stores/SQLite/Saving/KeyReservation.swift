import SQLiteDriver

/// The permanent keys of a save's new rows.
struct ReservedKeys {
    /// By temporary key, where the save has rows that can refer to others.
    var forwarding = KeyForwarding()
    /// For each group, in order.
    var inserted: [ContiguousArray<Int64>] = []
    /// Blocks for the pool, which may have them once the save is committed.
    var pooled: [(root: Int, first: Int64, count: Int)] = []
}

/// Reserves keys for a save's new rows, in its transaction: one block for each root entity.
struct KeyReservation {
    let store: SQLiteStore
    let connection: Connection

    func keys(for changes: StoreChanges) throws -> ReservedKeys {
        var keys = ReservedKeys()
        var next = try reserveBlocks(for: changes)
        for (root, count) in store.keyPool.shortages {
            keys.pooled.append((root, try store.reserveKeys(count, root: root, connection), count))
        }
        let isReferredTo = changes.refersToOthers
        for (_, group) in changes.groups { assign(to: group, &next, isReferredTo, &keys) }
        return keys
    }

    private func root(_ group: ChangeSet.Group) -> Int { store.schema.entity(for: group.entity).rootNumber }

    /// The first key of each root entity's block.
    private func reserveBlocks(for changes: StoreChanges) throws -> [Int: Int64] {
        var needed: [Int: Int] = [:]
        var known: [Int: Int64] = [:]
        for (_, group) in changes.groups {
            var (count, highest) = (0, Int64(0))
            for index in group.inserts.indices {
                let key = group.inserts[index].key
                if key <= 0 { count += 1 } else { highest = max(highest, key) }
            }
            needed[root(group), default: 0] += count
            known[root(group), default: 0] = max(known[root(group)] ?? 0, highest)
        }
        for (root, key) in known.sorted(by: { $0.key < $1.key }) where key > 0 { try store.noteKeys(upTo: key, root: root, connection) }
        var first: [Int: Int64] = [:]
        for (root, count) in needed.sorted(by: { $0.key < $1.key }) where count > 0 {
            first[root] = try store.reserveKeys(count, root: root, connection)
        }
        return first
    }

    private func assign(to group: ChangeSet.Group, _ next: inout [Int: Int64], _ isReferredTo: Bool, _ keys: inout ReservedKeys) {
        var own = ContiguousArray<Int64>()
        own.reserveCapacity(group.inserts.count)
        var key = next[root(group)] ?? 0
        let entity = Int32(group.entity.index)
        for index in group.inserts.indices {
            let known = group.inserts[index].key
            if known > 0 {
                own.append(known)
                continue
            }
            own.append(key)
            if isReferredTo { keys.forwarding.insert(RowReference(key: key, entity: entity, store: store.number), for: known) }
            key += 1
        }
        next[root(group)] = key
        keys.inserted.append(own)
    }
}
