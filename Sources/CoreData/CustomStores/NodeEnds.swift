import Foundation

/// Ends that a save takes away from nodes whose objects it does not name: others have related them, or no inverse tells of it.
struct NodeEnds {
    private let model: NSManagedObjectModel
    private let gone: Set<RowIdentity>
    /// The members that get another owner, by a relationship without inverse that says itself whom it leads to.
    private var taken: [ObjectIdentifier: Set<Int64>] = [:]
    /// Rows that lead to another object than before, by root entity and key.
    private var moved: [Int: [Int64: Row]] = [:]

    init(_ changes: StoreChanges, gone: Set<RowIdentity>, _ model: NSManagedObjectModel) {
        (self.model, self.gone) = (model, gone)
        for link in changes.links where link.relationship.inverse == nil {
            // Who is new was nobody's.
            taken[ObjectIdentifier(link.relationship), default: []].formUnion(link.added.lazy.map(\.key).filter { $0 > 0 })
        }
        for (_, group) in changes.groups {
            let slots = group.entity.shape.layout.referenceSlots
            guard !slots.isEmpty else { continue }
            for update in group.updates where slots.contains(where: update.slots.contains) {
                moved[group.entity.rootEntity.index, default: [:]][update.key] = update.row
            }
        }
        taken = taken.filter { !$0.value.isEmpty }
    }

    private var areNone: Bool { gone.isEmpty && taken.isEmpty && moved.isEmpty }

    /// Takes them out. The nodes of objects that the save names are brought up to date afterwards.
    ///
    /// - Parameter willChange: is called with each node before it changes.
    /// - Complexity: O(n), n the number of all ends of all nodes, where anything is taken away at all.
    func cut(from store: NSAtomicStore, _ willChange: (NSAtomicStoreCacheNode) -> Void) {
        guard !areNone else { return }
        for node in store.nodes.all {
            guard let entity = model.entitiesByName[node.entity.name ?? ""] else { continue }
            var isNoted = false
            for relationship in entity.relationshipsByName.values where !relationship.isTransient {
                guard let ends = node.related(relationship.name), ends.contains(where: { isCut($0, relationship, node) }) else { continue }
                if !isNoted { willChange(node) }
                isNoted = true
                let rest = ends.filter { !isCut($0, relationship, node) }.compactMap(store.cacheNode(for:))
                node.setValue(NSAtomicStore.value(of: relationship, rest), forKey: relationship.name)
            }
        }
    }

    private func isCut(_ end: NSManagedObjectID, _ relationship: NSRelationshipDescription, _ node: NSAtomicStoreCacheNode) -> Bool {
        let identity = end.identity
        if gone.contains(identity) { return true }
        guard let inverse = relationship.inverse else {
            return relationship.isToMany && taken[ObjectIdentifier(relationship)]?.contains(identity.key) == true
        }
        guard !inverse.isToMany, let row = moved[inverse.entity.rootEntity.index]?[identity.key],
            case .toOne(let slot, _)? = model.entitiesByName[end.entity.name ?? ""]?.shape.properties[inverse.name]
        else { return false }
        return row.reference(slot)?.key != node.identity.key
    }
}
