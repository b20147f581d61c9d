import Foundation

/// Rows made of the nodes that an atomic store has loaded.
struct NodeImport {
    private let store: NSAtomicStore
    private let model: NSManagedObjectModel
    private let nodes: [NSAtomicStoreCacheNode]
    private var rows: [RowIdentity: OwnRow] = [:]
    private var changes = StoreChanges()
    /// What the ends of many-to-many relationships name that do not write the links.
    private var named: [(relationship: NSRelationshipDescription, owner: RowReference, members: [RowReference])] = []
    /// The orders of relationships that are their own inverses.
    private var pairOrders: [ObjectIdentifier: PairOrder] = [:]
    /// What the store had when it was removed from the coordinator before.
    private let former: FormerRows?

    init(_ store: NSAtomicStore, _ model: NSManagedObjectModel) {
        (self.store, self.model) = (store, model)
        former = store.home?.formerRows.withLock { $0 }
        nodes = store.nodes.all.sorted { $0.identity.key < $1.identity.key }
    }

    /// - Throws: `CocoaError` 134080 for nodes that the model has no place for, naming the class.
    mutating func all() throws -> StoreChanges {
        for node in nodes { rows[node.identity] = try row(of: node) }
        for node in nodes { try relateToOnes(of: node) }
        for node in nodes { try relateToManys(of: node) }
        linkWhatOneEndNames()
        for order in pairOrders.values { changes.positions += order.changes }
        var groups: [Int: ChangeSet.Group] = [:]
        for node in nodes {
            guard let row = rows[node.identity], let entity = model.entitiesByName[node.entity.name ?? ""] else { continue }
            groups[entity.index, default: ChangeSet.Group(entity: entity, store: store.number)].inserts.append(
                ChangeSet.Insert(row: Row(row), key: node.identity.key)
            )
        }
        changes.groups = groups.sorted { $0.key < $1.key }.enumerated().map { ($0.offset, $0.element.value) }
        return changes
    }

    private func broken(_ node: NSAtomicStoreCacheNode, _ what: String) -> CocoaError {
        store.broken("load()", "has made a node of \(node.objectID.uriRepresentation().absoluteString) \(what)", .persistentStoreOpen)
    }

    private func row(of node: NSAtomicStoreCacheNode) throws -> OwnRow {
        let id = node.identity
        guard id.space.home === store.home, let entity = model.entitiesByName[node.entity.name ?? ""], !entity.isAbstract,
            store.holds(entity)
        else { throw broken(node, "which is no object of this store: make IDs by objectID(for:withReferenceObject:)") }
        if let key = node.unknownKey(of: entity) { throw broken(node, "with a value for \"\(key)\", which the entity has not") }
        let shape = entity.shape
        let row = OwnRow.empty(shape.layout)
        row.bytes.storeBytes(of: id.key, as: Int64.self)
        if let former { EntityLayout.setVersion(row.bytes, former.version(of: node)) }
        for case let (slot, attribute?) in shape.attributes.enumerated() {
            guard let value = node.attributeValue(attribute.name) else { continue }
            guard let stored = SlotValue(given: value, for: attribute) else {
                throw broken(node, "whose value for \"\(attribute.name)\" is not of the attribute's type, or does not fit")
            }
            row.store(stored, at: slot)
        }
        return row
    }

    private func targets(_ node: NSAtomicStoreCacheNode, _ relationship: NSRelationshipDescription) throws -> [NSManagedObjectID] {
        guard let ids = node.related(relationship.name) else {
            throw broken(node, "whose value for \"\(relationship.name)\" is neither a node nor a collection of nodes")
        }
        if let stranger = ids.first(where: { rows[$0.identity] == nil }) {
            throw broken(node, "whose \"\(relationship.name)\" leads to \(stranger), for which there is no node")
        }
        if let destination = relationship.destinationEntity, let stranger = ids.first(where: { !isKind($0, of: destination) }) {
            throw broken(node, "whose \"\(relationship.name)\" leads to \(stranger), which is no \(destination.name ?? "?")")
        }
        return ids
    }

    private func isKind(_ id: NSManagedObjectID, of destination: NSEntityDescription) -> Bool {
        let name = (store.nodes[id.identity]?.objectID ?? id).entity.name ?? ""
        return model.entitiesByName[name]?.isKindOf(entity: destination) == true
    }

    /// With the entity that the object's own node says: an ID may have been made with a superentity.
    private func reference(_ id: NSManagedObjectID) -> RowReference {
        let id = store.nodes[id.identity]?.objectID ?? id
        return RowReference(
            key: id.identity.key,
            entity: Int32(model.entitiesByName[id.entity.name ?? ""]?.index ?? 0),
            store: store.number
        )
    }

    private func relateToOnes(of node: NSAtomicStoreCacheNode) throws {
        guard let row = rows[node.identity], let shape = model.entitiesByName[node.entity.name ?? ""]?.shape else { return }
        for case let (slot, relationship?) in shape.toOnes.enumerated() {
            if let target = try targets(node, relationship).first { row.store(.reference(reference(target)), at: slot) }
        }
    }

    private mutating func relateToManys(of node: NSAtomicStoreCacheNode) throws {
        guard let entity = model.entitiesByName[node.entity.name ?? ""] else { return }
        for relationship in entity.toManyRelationships {
            let members = try targets(node, relationship)
            guard !members.isEmpty else { continue }
            if let inverse = relationship.inverse, !inverse.isToMany {
                relate(members, to: node, along: inverse)
            } else {
                link(members, to: node, along: relationship)
            }
        }
    }

    /// Links that only the end names that does not write them.
    private mutating func linkWhatOneEndNames() {
        let written = Set(changes.links.lazy.flatMap { change in change.added.lazy.map { Link(change.relationship, change.owner, $0) } })
        for (relationship, owner, members) in named {
            guard let inverse = relationship.inverse else { continue }
            for member in members where !written.contains(Link(inverse, member, owner)) {
                changes.links.append(ChangeSet.LinkChange(relationship: inverse, owner: member, added: [owner], removed: []))
            }
        }
    }

    private struct Link: Hashable {
        let relationship: ObjectIdentifier
        let owner, member: Int64

        init(_ relationship: NSRelationshipDescription, _ owner: RowReference, _ member: RowReference) {
            (self.relationship, self.owner, self.member) = (ObjectIdentifier(relationship), owner.key, member.key)
        }
    }

    /// The members' rows say whom they belong to, and where they are in an order.
    private func relate(_ members: [NSManagedObjectID], to node: NSAtomicStoreCacheNode, along inverse: NSRelationshipDescription) {
        for (index, member) in members.enumerated() {
            guard let row = rows[member.identity], let shape = model.entitiesByName[member.entity.name ?? ""]?.shape,
                case .toOne(let slot, _)? = shape.properties[inverse.name]
            else { continue }
            if Row(row).isNull(slot) { row.store(.reference(reference(node.objectID)), at: slot) }
            guard let position = shape.positionSlots[slot], Row(row).reference(slot)?.key == node.identity.key else { continue }
            row.store(.integer(OrderKeys.position(ofNew: index)), at: position)
        }
    }

    private mutating func link(
        _ members: [NSManagedObjectID],
        to node: NSAtomicStoreCacheNode,
        along relationship: NSRelationshipDescription
    ) {
        let (owner, members) = (reference(node.objectID), members.map(reference))
        if ToManyLink(relationship).writesLinks {
            changes.links.append(ChangeSet.LinkChange(relationship: relationship, owner: owner, added: members, removed: []))
        } else {
            named.append((relationship, owner, members))
        }
        guard relationship.isOrdered else { return }
        if relationship.inverse === relationship {
            return pairOrders[ObjectIdentifier(relationship), default: PairOrder(relationship)].add(members, of: owner, isReordered: true)
        }
        let positions = members.enumerated().map { (member: $1, position: OrderKeys.position(ofNew: $0)) }
        changes.positions.append(ChangeSet.PositionChange(relationship: relationship, owner: owner, positions: positions))
    }
}
