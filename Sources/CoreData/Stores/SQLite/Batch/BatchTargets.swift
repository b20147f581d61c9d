import SQLiteDriver

/// The objects that a batch request lets rows lead to.
struct BatchTargets {
    let store: SQLiteStore
    let connection: Connection

    /// - Throws: a `CocoaError` that names entity and key, where one of them is in another store, or in none any more. One statement for those of
    ///   an entity.
    func require(_ targets: Set<RowReference>, for value: BatchValue) throws {
        for (index, references) in Dictionary(grouping: targets, by: \.entity) {
            guard references.allSatisfy({ $0.store == store.number }) else {
                throw value.error(.managedObjectExternalRelationship, "was set to an object of another store")
            }
            let entity = store.schema.entity(for: store.model.entitiesInIndexOrder[Int(index)])
            // NB: NOT IN would read the whole table.
            let isThere = "SELECT 1 FROM \(entity.table) t WHERE t.\(SQLNames.key) = j.value AND t.\(SQLNames.entity) = ?2"
            let gone = "SELECT j.value FROM \(SQLDialect.firstListTable) j WHERE NOT EXISTS (\(isThere)) LIMIT 1"
            let rows = try connection.rows(gone, [.keys(references.map(\.key)), .integer(Int64(entity.number))])
            if case .integer(let key)? = rows.first?.first {
                let name = entity.description.name ?? "?"
                throw value.error(.managedObjectReferentialIntegrity, "was set to \(name)/p\(key), which is not in the store")
            }
        }
    }
}
