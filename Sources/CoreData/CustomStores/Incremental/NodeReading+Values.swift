import Foundation

/// The values of a node, as the class gives them, checked.
extension NodeReading {
    /// The rows of objects whose ends the class is being asked for. It may look at such an object to answer: that has its attributes then, and the
    /// ends that its node names.
    @TaskLocal private static var unfinished: [Unfinished] = []

    // Sendable: the row, which nobody changes, stands behind a lock; the store is only compared.
    private final class Unfinished: @unchecked Sendable {
        private let store: NSIncrementalStore
        private let reference: RowReference
        private let row: Lock<Row?>

        init(_ row: Row, _ reference: RowReference, _ store: NSIncrementalStore) {
            (self.row, self.reference, self.store) = (Lock(row), reference, store)
        }

        func row(_ reference: RowReference, _ store: NSIncrementalStore) -> Row? {
            reference == self.reference && store === self.store ? row.withLock { $0 } : nil
        }

        /// The class has answered. A task that it has begun goes on knowing of this.
        func end() { row.withLock { $0 = nil } }
    }

    static func unfinished(_ reference: RowReference, _ store: NSIncrementalStore) -> Row? {
        unfinished.lazy.compactMap { $0.row(reference, store) }.first
    }

    /// Makes the row of a node.
    ///
    /// - Parameter moment: when the class was asked for it.
    func fill(
        _ batch: RowBatch,
        from node: NSIncrementalStoreNode,
        _ reference: RowReference,
        at moment: UInt32,
        _ context: NSManagedObjectContext
    ) throws {
        let entity = entity(reference)
        let version = store.saved.version(node.version, of: reference.key, root: entity.rootEntity.index, readAt: moment)
        try requireKnownKeys(node, entity)
        var values = try values(of: node, entity)
        let unnamed = entity.shape.toOnes.indices.filter { slot in
            entity.shape.toOnes[slot].map { node.value(for: $0) == nil } ?? false
        }
        if !unnamed.isEmpty {
            let known = RowBatch(layout: entity.shape.layout, capacity: 1)
            known.append(key: reference.key, version: version, values: values)
            let unfinished = Unfinished(Row(known, 0), reference, store)
            defer { unfinished.end() }
            try Self.$unfinished.withValue(Self.unfinished + [unfinished]) {
                for slot in unnamed { values[slot] = try end(slot, entity, node.objectID, context) }
            }
        }
        batch.append(key: reference.key, version: version, values: values)
    }

    private func requireKnownKeys(_ node: NSIncrementalStoreNode, _ entity: NSEntityDescription) throws {
        guard let key = node.values.keys.sorted().first(where: { entity.shape.properties[$0] == nil }) else { return }
        throw broken(Self.ofNode, "has returned a value for \"\(key)\", which entity \(entity.name ?? "?") has not")
    }

    private static let ofNode = "newValuesForObject(with:with:)"
    static let ofEnds = "newValue(forRelationship:forObjectWith:with:)"

    /// What the node says itself.
    private func values(of node: NSIncrementalStoreNode, _ entity: NSEntityDescription) throws -> [SlotValue] {
        let shape = entity.shape
        return try shape.layout.slots.indices.map { slot in
            if let attribute = shape.attributes[slot] { return try value(node, attribute, entity) }
            // What is neither an attribute nor a to-one is a position in an order, which goes by the order of IDs.
            guard let relationship = shape.toOnes[slot], let value = node.value(for: relationship) else { return .null }
            return try end(value, relationship, Self.ofNode)
        }
    }

    private func value(_ node: NSIncrementalStoreNode, _ attribute: NSAttributeDescription, _ entity: NSEntityDescription) throws
        -> SlotValue
    {
        guard let value = node.value(for: attribute), !(value is NSNull) else { return .null }
        if let stored = SlotValue(given: value, for: attribute) { return stored }
        throw broken(
            Self.ofNode,
            "has returned \(type(of: value)) for \(entity.name ?? "?").\(attribute.name), which is of another type, or does not fit"
        )
    }

    /// The end of a to-one relationship that the node says nothing of.
    private func end(
        _ slot: Int,
        _ entity: NSEntityDescription,
        _ id: NSManagedObjectID,
        _ context: NSManagedObjectContext
    ) throws -> SlotValue {
        guard let relationship = entity.shape.toOnes[slot] else { return .null }
        return try end(ends(of: relationship, id, context), relationship, Self.ofEnds)
    }

    private func end(_ value: Any, _ relationship: NSRelationshipDescription, _ method: String) throws -> SlotValue {
        switch value {
        case is NSNull: .null
        case let id as NSManagedObjectID: .reference(try end(id, relationship, method))
        default: throw broken(method, "has returned \(value) for the to-one relationship \(relationship.name), not an ID or NSNull")
        }
    }

    /// What the class says; nothing for an object that is gone from the store, and for a nil in the `Any`, as of `ends["author"] as Any`.
    // NB: on a Mac that becomes NSNull where the answer is bridged to Objective-C.
    func ends(
        of relationship: NSRelationshipDescription,
        _ id: NSManagedObjectID,
        _ context: NSManagedObjectContext
    ) throws -> Any {
        do {
            return try store.hooks.withLock {
                unwrapped(try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)) ?? NSNull()
            }
        } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity {
            return NSNull()
        }
    }

    func end(_ id: NSManagedObjectID, _ relationship: NSRelationshipDescription, _ method: String) throws -> RowReference {
        let reference = try own(id, method)
        if let destination = relationship.destinationEntity, !entity(reference).isKindOf(entity: destination) {
            throw broken(method, "has returned \(id) for \(relationship.name), which leads to \(destination.name ?? "?")")
        }
        return reference
    }
}
