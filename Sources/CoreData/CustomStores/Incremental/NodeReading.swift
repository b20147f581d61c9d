import Foundation

/// Asks an incremental store's class for objects, checks what it says, and makes rows of it.
struct NodeReading {
    let store: NSIncrementalStore
    let coordinator: NSPersistentStoreCoordinator
    let cache: RowCache
    private let call: HookCall

    init(_ call: HookCall) { (store, coordinator, cache, self.call) = (call.store, call.coordinator, call.cache, call) }

    private var entities: [NSEntityDescription] { coordinator.managedObjectModel.entitiesInIndexOrder }
    func entity(_ reference: RowReference) -> NSEntityDescription { entities[Int(reference.entity)] }
    func id(_ reference: RowReference) -> NSManagedObjectID { coordinator.id(of: reference.key, entity(reference), in: store) }

    func broken(_ method: String, _ what: String) -> CocoaError { store.broken(method, what) }

    /// The row that is at hand. One of another entity is let go of: an ID had named the object as one of that, and the class had an answer.
    private func rowAtHand(_ reference: RowReference) -> Row? {
        if let row = Self.unfinished(reference, store) { return row }
        let entity = entity(reference)
        guard let row = cache.row(root: entity.rootEntity.index, key: reference.key) else { return nil }
        if row.layout === entity.shape.layout { return row }
        cache.forget(root: entity.rootEntity.index, key: reference.key)
        return nil
    }

    func row(for reference: RowReference) throws -> Row? {
        if let row = rowAtHand(reference) { return row }
        return try run(of: reference).map { $0.known.first.flatMap { $0 } ?? Row($0.batch, 0) }
    }

    /// The row of one object, as a run; nil where the store has none.
    func run(of reference: RowReference) throws -> RowRun? {
        let (entity, moment) = (entity(reference), cache.nextMoment())
        let batch = RowBatch(layout: entity.shape.layout, capacity: 1)
        if let row = rowAtHand(reference) {
            batch.append(key: reference.key, version: row.version, values: entity.shape.layout.slots.map { _ in .null })
            return RowRun(batch: batch, range: 0..<1, entity: entity, store: store.number, known: [row])
        }
        let context = StagedObjects(coordinator).context
        // In one call: what the node has may be the class's own.
        let isThere = try store.hooks.withLock {
            guard let node = try node(reference, context) else { return false }
            try fill(batch, from: node, reference, at: moment, context)
            return true
        }
        guard isThere else { return nil }
        // NB: kept by who uses it alone: what nobody has any more is asked for anew, since the class may know better by then.
        let known = cache.publish(batch, root: entity.rootEntity.index, readAt: moment)
        return RowRun(batch: batch, range: 0..<1, entity: entity, store: store.number, known: known)
    }

    private func node(_ reference: RowReference, _ context: NSManagedObjectContext) throws -> NSIncrementalStoreNode? {
        let id = id(reference)
        do {
            let node = try store.newValuesForObject(with: id, with: context)
            guard node.objectID == id else {
                throw broken("newValuesForObject(with:with:)", "has returned the node of \(node.objectID) for \(id)")
            }
            return node
        } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity {
            return nil
        }
    }

    func relatedRows(_ relationship: NSRelationshipDescription, of owner: RowReference) throws -> [RelatedRow] {
        let method = Self.ofEnds
        let answer = try ends(of: relationship, id(owner), StagedObjects(coordinator).context)
        let members: [Any]
        switch answer {
        case is NSNull: members = []
        case let list as [Any]: members = list
        case let list as NSOrderedSet: members = list.array
        case let set as NSSet: members = set.allObjects
        case let set as Set<NSManagedObjectID>: members = Array(set)
        default:
            throw broken(method, "has returned \(type(of: answer)) for the to-many relationship \(relationship.name), not an array of IDs")
        }
        return try members.enumerated().map { index, member in
            guard let id = member as? NSManagedObjectID else {
                throw broken(method, "has returned \(member) among the IDs of the to-many relationship \(relationship.name)")
            }
            let reference = try end(id, relationship, method)
            return RelatedRow(
                owner: owner.key,
                row: rowAtHand(reference),
                reference: reference,
                position: relationship.isOrdered ? Int64(index) : nil
            )
        }
    }
}
