/// Stores are told apart by their UUIDs. The numbers that stand for them in rows mean something under one coordinator only, where a store keeps
/// its number when it is removed and added again.
extension NSPersistentStoreCoordinator {
    /// What a row that somebody names is here.
    func identify(_ identity: RowIdentity) -> Identification {
        guard let home = identity.space.home, let entity = identity.space.entity(in: managedObjectModel),
            let known = known(home), store(numbered: known.number)?.holds(entity) == true
        else { return .foreign }
        let reference = RowReference(key: identity.key, entity: Int32(entity.index), store: known.number)
        return known === home ? .own(reference) : .translated(reference)
    }

    /// The same for a row of a store that was here, and may be or not.
    func formerReference(of identity: RowIdentity) -> RowReference? {
        guard let home = identity.space.home, let entity = identity.space.entity(in: managedObjectModel), let known = known(home) else {
            return nil
        }
        return RowReference(key: identity.key, entity: Int32(entity.index), store: known.number)
    }

    /// The numbers of stores that a request names; nil where it names none. One that was never here has number 0, which is no store's: its own
    /// number may be that of another store here.
    func numbers(of stores: [NSPersistentStore]?) -> Set<Int32>? {
        stores.map { Set($0.map { $0.home.flatMap(known)?.number ?? 0 }) }
    }

    private func known(_ home: StoreIdentity) -> StoreIdentity? {
        stores.withLock { stores in
            let index = Int(home.number) - 1
            if stores.identities.indices.contains(index), stores.identities[index] === home { return home }
            return stores.identities.first { $0.identifier == home.identifier }
        }
    }

    /// What the IDs of one entity's objects in a store have in common: one for all contexts.
    func ids(of entity: NSEntityDescription, inStoreNumbered number: Int32) -> IDSpace {
        stores.withLock { stores in
            let index = Int(number) - 1
            guard stores.identities.indices.contains(index) else { return IDSpace(entity, home: nil) }
            if let known = stores.spaces[index][entity.index] { return known }
            let made = IDSpace(entity, home: stores.identities[index])
            // Of a store that is removed, those who have IDs keep it.
            if stores.identities[index].store != nil { stores.spaces[index][entity.index] = made }
            return made
        }
    }

    /// Grows whenever IDs that meant nothing here may mean something.
    var storeGeneration: Int { stores.withLock(\.additions) }
}

extension NSPersistentStoreCoordinator.Stores {
    /// The store gets the number that its UUID had here before, or a new one.
    mutating func identify(_ store: NSPersistentStore) {
        additions += 1
        let identity = identities.first { $0.identifier == store.knownIdentifier } ?? addIdentity(store)
        identity.store = store
        store.home = identity
    }

    /// The store is removed. What its IDs have in common stays with those that there are, and with the contexts that have had objects of it.
    mutating func forgetSpaces(of store: NSPersistentStore) { if store.references != nil { spaces[Int(store.number) - 1] = [:] } }

    private mutating func addIdentity(_ store: NSPersistentStore) -> StoreIdentity {
        let (number, hasReferences) = (Int32(identities.count) + 1, store.references != nil)
        let made = StoreIdentity(store.knownIdentifier ?? "", number: number, choosesReferences: hasReferences)
        identities.append(made)
        spaces.append([:])
        return made
    }
}
