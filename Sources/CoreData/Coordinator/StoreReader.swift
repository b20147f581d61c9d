import Foundation

/// What reads the rows of stores: a coordinator, whose stores are as they are at the moment, or a query generation, whose stores are as they were.
protocol StoreReader: GraphParent {
    /// In the order in which they were added.
    func storesToRead() throws -> [any RowStore]
    /// The store of a number; nil where the reader does not know of it.
    ///
    /// - Throws: where it was removed from its coordinator.
    func storeToRead(numbered number: Int32) throws -> (any RowStore)?
}

extension StoreReader {
    var isStoreSide: Bool { true }

    func unsavedRows(of entities: Set<Int>) -> [UnsavedRow] { [] }

    /// The stores that a query asks.
    ///
    /// - Throws: `CocoaError` 134070 where there are none at all, or one that was named is not here any more.
    func stores(for query: FetchQuery) throws -> [any RowStore] {
        let all = try storesToRead()
        guard !all.isEmpty else {
            throw CocoaError.coreData(.persistentStoreOperation, "The coordinator has no stores: nothing can be fetched. Add one first.")
        }
        if all.count == 1, query.stores == nil, all[0].holds(query.entity) { return all }
        if let stores = query.stores, !stores.isSubset(of: all.map(\.number)) {
            throw CocoaError.coreData(
                .persistentStoreOperation,
                "A fetch asks for a store that is not one of the coordinator's: with affectedStores = nil it asks all that are."
            )
        }
        return all.filter { store in
            guard query.stores?.contains(store.number) ?? true else { return false }
            return store.holds(query.entity) || query.includesSubentities && query.entity.allSubentities.contains(where: store.holds)
        }
    }

    /// Asks the stores that are found. Where the only one was closed, and another has taken its place since it was found, that one is asked.
    func asking<Answer>(_ find: () throws -> [any RowStore], _ ask: ([any RowStore]) throws -> Answer) throws -> Answer {
        var stores = try find()
        while true {
            do {
                return try ask(stores)
            } catch let error as CocoaError where error.isOfRemovedStore {
                let others = try find()
                guard stores.count == 1, others.count == 1, stores[0] !== others[0] else { throw error }
                stores = others
            }
        }
    }

    func fetch(_ query: FetchQuery, _ body: (RowRun) throws -> Void) throws -> FetchResidue? {
        try asking({ try stores(for: query) }) { try fetch(query, $0, body) }
    }

    private func fetch(_ query: FetchQuery, _ stores: [any RowStore], _ body: (RowRun) throws -> Void) throws -> FetchResidue? {
        if stores.count == 1 { return try stores[0].fetch(query, body) }
        var part = query
        (part.limit, part.offset) = (query.rowsUpToLimit, 0)
        var residue = FetchResidue(merges: !query.sortDescriptors.isEmpty, windows: true)
        for store in stores {
            guard let rest = try store.fetch(part, body) else { continue }
            residue.predicates.merge(rest.predicates) { $1 }
            if rest.sorts { (residue.sorts, residue.merges) = (true, false) }
        }
        return residue
    }

    func references(_ query: FetchQuery) throws -> [RowReference]? { try asking({ try stores(for: query) }) { try references(query, $0) } }

    private func references(_ query: FetchQuery, _ stores: [any RowStore]) throws -> [RowReference]? {
        guard stores.count <= 1 || (query.sortDescriptors.isEmpty && query.limit == 0 && query.offset == 0) else { return nil }
        var references: [RowReference] = []
        for store in stores {
            guard let part = try store.references(query) else { return nil }
            references += part
        }
        return references
    }

    func count(_ query: FetchQuery) throws -> Int? { try asking({ try stores(for: query) }) { try count(query, $0) } }

    private func count(_ query: FetchQuery, _ stores: [any RowStore]) throws -> Int? {
        guard stores.count <= 1 || (query.limit == 0 && query.offset == 0) else { return nil }
        var count = 0
        for store in stores {
            guard let part = try store.count(query) else { return nil }
            count += part
        }
        return count
    }

    func row(for reference: RowReference) throws -> Row? {
        guard reference.key > 0 else { return nil }
        return try storeToRead(numbered: reference.store)?.row(for: reference)
    }

    func cachedRow(for reference: RowReference) -> Row? {
        // Whoever reads then is told why that cannot be.
        (try? storeToRead(numbered: reference.store))?.cachedRow(root: root(of: reference), key: reference.key)
    }

    func root(of reference: RowReference) -> Int {
        managedObjectModel.entitiesInIndexOrder[Int(reference.entity)].rootEntity.index
    }

    func rows(for references: [RowReference]) throws -> [Row?] {
        var rows = references.map(cachedRow)
        let missing = references.indices.filter { rows[$0] == nil && references[$0].key > 0 }
        for (number, indexes) in Dictionary(grouping: missing, by: { references[$0].store }).sorted(by: { $0.key < $1.key }) {
            let found = try storeToRead(numbered: number)?.rows(
                for: indexes.map { references[$0] },
                root: managedObjectModel.entitiesInIndexOrder[root(of: references[indexes[0]])]
            )
            guard let found else { continue }
            for index in indexes { rows[index] = found[references[index].key] }
        }
        return rows
    }

    func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow] {
        if let first = owners.first, owners.allSatisfy({ $0.key > 0 && $0.store == first.store }) {
            return try storeToRead(numbered: first.store)?.relatedRows(relationship, owners: owners) ?? []
        }
        return try Dictionary(grouping: owners.lazy.filter { $0.key > 0 }, by: \.store).sorted { $0.key < $1.key }.flatMap {
            number,
            owners in
            try storeToRead(numbered: number)?.relatedRows(relationship, owners: owners) ?? []
        }
    }
}
