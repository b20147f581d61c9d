import Foundation

extension NSPersistentStoreCoordinator: StoreReader {
    func persistentStore(numbered number: Int32) -> NSPersistentStore? { store(numbered: number) }

    func storesToRead() -> [any RowStore] { allStores }
    func storeToRead(numbered number: Int32) throws -> (any RowStore)? { try requiredStore(number) }

    func requiredStore(_ number: Int32) throws -> any RowStore {
        guard let store = store(numbered: number) else {
            throw CocoaError.removedStore("The object's store was removed from its coordinator.")
        }
        return store
    }

    func forgetRows(_ references: [RowReference]) {
        for reference in references {
            store(numbered: reference.store)?.forgetRow(root: root(of: reference), key: reference.key)
        }
    }

    // A store finds out while it writes.
    func requireUnsaved(_ updates: [UnsavedUpdate]) {}

    func pooledKeys(for entity: NSEntityDescription, count: Int, store: Int32) -> (store: Int32, first: Int64)? {
        guard let store = try? storeForInserts(of: entity, chosen: store), let first = store.pooledKeys(count, for: entity) else {
            return nil
        }
        return (store.number, first)
    }

    func permanentKeys(for entity: NSEntityDescription, rows: [Row], store: Int32) throws -> (store: Int32, keys: [Int64]) {
        let store = try storeForInserts(of: entity, chosen: store)
        return (store.number, try store.reserveKeys(for: rows, of: entity))
    }

    /// The store that new objects of an entity go to: the chosen one, else the first that can be written and holds the entity.
    func storeForInserts(of entity: NSEntityDescription, chosen: Int32) throws -> any RowStore {
        if chosen != 0 { return try writable(requiredStore(chosen)) }
        let candidates = allStores.filter { $0.holds(entity) }
        if let store = candidates.first(where: { !$0.isReadOnly }) { return store }
        if let store = candidates.first { return try writable(store) }
        let configurations = Set(allStores.map(\.configurationName)).sorted().joined(separator: ", ")
        let reason =
            allStores.isEmpty
            ? "The coordinator has no stores: nothing can be saved. Add one first."
            : "No store of the coordinator takes objects of entity \(entity.name ?? "?"): their configurations are \(configurations)."
        throw CocoaError.coreData(.persistentStoreSave, reason)
    }

    func writable(_ store: any RowStore) throws -> any RowStore {
        guard store.isReadOnly else { return store }
        throw CocoaError.coreData(
            .persistentStoreSave,
            "The store at \(store.url?.path ?? "?") was opened read-only.",
            userInfo: [NSAffectedStoresErrorKey: [store]]
        )
    }

    func save(_ changes: ChangeSet, willCommit: () -> Void) throws -> SaveReceipt {
        var receipt = SaveReceipt(groups: changes.groups.map { SaveReceipt.Group(store: $0.store) })
        var parts = try route(changes, &receipt)
        for index in parts.indices {
            parts[index].changes.origin = changes.origin
            parts[index].changes.turn = try parts[index].store.turnToSave()
        }
        let taken = try counting("The changes were saved") { try withHooks(for: parts) { try save(parts[...], willCommit) } }
        receipt.publish = { for part in taken { part.publish() } }
        for (part, taken) in zip(parts, taken) {
            for ((index, _), keys) in zip(part.changes.groups, taken.insertedKeys) { receipt.groups[index].insertedKeys = keys }
        }
        return receipt
    }

    private typealias Part = (store: any RowStore, changes: StoreChanges)

    /// Who asks a class of the program has the hooks before the turn at any database, since a hook that reads may wait for one.
    private func withHooks(for parts: [Part], _ save: () throws -> [StoreReceipt]) throws -> [StoreReceipt] {
        guard parts.contains(where: { $0.store.capabilities.contains(.ownReferences) }) else { return try save() }
        return try hooks.withLock(save)
    }

    /// Counts what was written, all of it or a part.
    ///
    /// - Throws: `CocoaError` 134040 for a part.
    func counting<Receipts>(_ what: String, _ change: () throws -> Receipts) throws -> Receipts {
        do {
            let receipts = try change()
            noteSave()
            return receipts
        } catch let change as IncompleteChange {
            noteSave()
            throw change.error(what)
        }
    }

    /// Every store's transaction is open, and all its statements have run, before the first is committed: a failure in one leaves all as
    /// they were. Only a commit that fails after another store's cannot take that one back.
    ///
    /// - Throws: `IncompleteChange` for such a commit.
    private func save(_ parts: ArraySlice<Part>, _ willCommit: () -> Void) throws -> [StoreReceipt] {
        guard let part = parts.first else {
            willCommit()
            return []
        }
        var rest: [StoreReceipt] = []
        do {
            let receipt = try part.store.save(part.changes) { rest = try save(parts.dropFirst(), willCommit) }
            return [receipt] + rest
        } catch  where !rest.isEmpty {
            for receipt in rest { receipt.publish() }
            throw IncompleteChange(missing: part.store, error)
        } catch let change as IncompleteChange {
            throw change.with(missing: part.store)
        }
    }

    /// Sorts the changes by store; notes the store of each group.
    private func route(_ changes: ChangeSet, _ receipt: inout SaveReceipt) throws -> [Part] {
        var parts: [Int32: StoreChanges] = [:]
        for (index, group) in changes.groups.enumerated() where !group.isEmpty {
            let store = try group.store == 0 ? storeForInserts(of: group.entity, chosen: 0) : writable(requiredStore(group.store))
            receipt.groups[index].store = store.number
            parts[store.number, default: StoreChanges()].groups.append((index, group))
        }
        let homes = Self.homes(of: changes, receipt)
        for link in changes.links { parts[Self.store(of: link.owner, homes), default: StoreChanges()].links.append(link) }
        for order in changes.orders { parts[Self.store(of: order.owner, homes), default: StoreChanges()].orders.append(order) }
        for change in changes.positions { parts[Self.store(of: change.owner, homes), default: StoreChanges()].positions.append(change) }
        for change in changes.rowPositions {
            parts[Self.store(of: change.owner, homes), default: StoreChanges()].rowPositions.append(change)
        }
        for change in changes.changedToManys { parts[change.owner.store]?.changedToManys[change.owner] = change.relationships }
        for append in changes.appends { parts[Self.store(of: append.member, homes), default: StoreChanges()].appends.append(append) }
        for store in allStores where store.hasUnwrittenMetadata && !store.isReadOnly {
            parts[store.number, default: StoreChanges()] = parts[store.number] ?? StoreChanges()
        }
        // In the same order whichever coordinator saves: each store is waited for while those before it are held.
        return try parts.map { (try requiredStore($0.key), $0.value) }.sorted { $0.0.location < $1.0.location }
    }

    /// The stores that new objects go to, for owners that are new themselves. Empty where no link needs it.
    private static func homes(of changes: ChangeSet, _ receipt: SaveReceipt) -> Homes {
        guard
            changes.links.contains(where: { $0.owner.key < 0 }) || changes.positions.contains(where: { $0.owner.key < 0 })
                || changes.orders.contains(where: { $0.owner.key < 0 })
                || changes.rowPositions.contains(where: { $0.owner.key < 0 }) || changes.appends.contains(where: { $0.member.key < 0 })
        else { return Homes() }
        let stores = Set(receipt.groups.map(\.store))
        // Mostly there is one.
        if stores.count == 1, let only = stores.first { return Homes(only: only) }
        var homes: [Int64: Int32] = [:]
        for (group, receipt) in zip(changes.groups, receipt.groups) {
            for insert in group.inserts { homes[insert.key] = receipt.store }
        }
        return Homes(byKey: homes)
    }

    /// The stores of new objects.
    private struct Homes {
        var only: Int32 = 0
        var byKey: [Int64: Int32] = [:]
    }

    private static func store(of owner: RowReference, _ homes: Homes) -> Int32 {
        owner.store != 0 ? owner.store : homes.byKey[owner.key] ?? homes.only
    }
}

extension ChangeSet.Group {
    var isEmpty: Bool { inserts.isEmpty && updates.isEmpty && deletes.isEmpty && locks.isEmpty }
}
