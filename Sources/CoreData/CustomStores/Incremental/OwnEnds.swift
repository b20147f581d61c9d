/// The objects that a save leads to from an incremental store, whose class could say nothing of those that are in another.
struct OwnEnds {
    private let store: NSIncrementalStore

    init(_ store: NSIncrementalStore) { self.store = store }

    /// - Throws: `CocoaError` 133010 for an object of another store, or of none.
    func require(_ changes: StoreChanges) throws {
        let new = Set(changes.groups.lazy.flatMap { $0.group.inserts.lazy.map(\.key) })
        for (_, group) in changes.groups {
            let slots = group.entity.shape.layout.referenceSlots
            guard !slots.isEmpty else { continue }
            for insert in group.inserts { for slot in slots { try require(insert.row.reference(slot), new) } }
            for update in group.updates {
                for slot in slots where update.slots.contains(slot) { try require(update.row.reference(slot), new) }
            }
        }
        for link in changes.links { for member in link.added { try require(member, new) } }
    }

    private func require(_ reference: RowReference?, _ new: Set<Int64>) throws {
        guard let reference else { return }
        let isOwn = reference.key > 0 ? reference.store == store.number || reference.store == 0 : new.contains(reference.key)
        guard !isOwn else { return }
        let entities = store.persistentStoreCoordinator?.managedObjectModel.entitiesInIndexOrder
        throw CocoaError.externalRelationship(from: store, to: entities?[Int(reference.entity)])
    }
}
