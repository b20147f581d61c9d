import Foundation

/// Asks an incremental store's class for objects, checks what it says, and makes rows of it.
struct NodeReading {
    let store: NSIncrementalStore
    let coordinator: NSPersistentStoreCoordinator
    let cache: RowCache

    init(_ store: NSIncrementalStore, _ coordinator: NSPersistentStoreCoordinator, _ cache: RowCache) {
        (self.store, self.coordinator, self.cache) = (store, coordinator, cache)
    }

    private var entities: [NSEntityDescription] { coordinator.managedObjectModel.entitiesInIndexOrder }
    func entity(_ reference: RowReference) -> NSEntityDescription { entities[Int(reference.entity)] }
    func id(_ reference: RowReference) -> NSManagedObjectID { coordinator.id(of: reference.key, entity(reference), in: store) }

    func broken(_ method: String, _ what: String) -> CocoaError { store.broken(method, what) }

    /// The row that is at hand. One of another entity is let go of: an ID had named the object as one of that, and the class had an answer.
    private func rowAtHand(_ reference: RowReference) -> Row? {
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
        guard let node = try node(reference, context) else { return nil }
        let values = try values(of: node, entity, context)
        batch.append(key: reference.key, version: Self.version(node.version), values: values)
        // NB: kept by who uses it alone: what nobody has any more is asked for anew, since the class may know better by then.
        let known = cache.publish(batch, root: entity.rootEntity.index, readAt: moment)
        return RowRun(batch: batch, range: 0..<1, entity: entity, store: store.number, known: known)
    }

    /// A version is above 0, where it is known.
    private static func version(_ version: UInt64) -> Int32 { Int32(truncatingIfNeeded: version & 0x3fff_ffff) + 1 }

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

    private func values(of node: NSIncrementalStoreNode, _ entity: NSEntityDescription, _ context: NSManagedObjectContext) throws
        -> [SlotValue]
    {
        let method = "newValuesForObject(with:with:)"
        let known = entity.shape.properties
        if let key = node.values.keys.sorted().first(where: { known[$0] == nil }) {
            throw broken(method, "has returned a value for \"\(key)\", which entity \(entity.name ?? "?") has not")
        }
        let shape = entity.shape
        return try shape.layout.slots.indices.map { slot in
            if let attribute = shape.attributes[slot] {
                guard let value = node.value(for: attribute), !(value is NSNull) else { return .null }
                guard let stored = SlotValue(given: value, for: attribute) else {
                    throw broken(
                        method,
                        "has returned \(type(of: value)) for \(entity.name ?? "?").\(attribute.name), which is of another type, or does not fit"
                    )
                }
                return stored
            }
            // What is neither an attribute nor a to-one is a position in an order, which goes by the order of IDs.
            guard let relationship = shape.toOnes[slot] else { return .null }
            return try value(of: relationship, node, context)
        }
    }

    private func value(
        of relationship: NSRelationshipDescription,
        _ node: NSIncrementalStoreNode,
        _ context: NSManagedObjectContext
    ) throws -> SlotValue {
        var method = "newValuesForObject(with:with:)"
        var value = node.value(for: relationship)
        if value == nil {
            method = "newValue(forRelationship:forObjectWith:with:)"
            value = try ends(of: relationship, node.objectID, context)
        }
        switch value {
        case nil, is NSNull: return .null
        case let id as NSManagedObjectID: return .reference(try end(id, relationship, method))
        default:
            throw broken(method, "has returned \(value ?? "nil") for the to-one relationship \(relationship.name), not an ID or NSNull")
        }
    }

    /// What the class says; nothing for an object that is gone from the store.
    private func ends(
        of relationship: NSRelationshipDescription,
        _ id: NSManagedObjectID,
        _ context: NSManagedObjectContext
    ) throws -> Any {
        do {
            return try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
        } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity {
            return NSNull()
        }
    }

    private func end(_ id: NSManagedObjectID, _ relationship: NSRelationshipDescription, _ method: String) throws -> RowReference {
        let reference = try own(id, method)
        if let destination = relationship.destinationEntity, !entity(reference).isKindOf(entity: destination) {
            throw broken(method, "has returned \(id) for \(relationship.name), which leads to \(destination.name ?? "?")")
        }
        return reference
    }

    func relatedRows(_ relationship: NSRelationshipDescription, of owner: RowReference) throws -> [RelatedRow] {
        let method = "newValue(forRelationship:forObjectWith:with:)"
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
