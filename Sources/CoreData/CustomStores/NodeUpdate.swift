import Foundation

/// Brings the nodes of an atomic store up to date with a save before it is committed, and takes that back where anything fails.
final class NodeUpdate {
    private let store: NSAtomicStore
    private let changes: StoreChanges
    private let model: NSManagedObjectModel
    /// The nodes as they were.
    private var replaced: [(node: NSAtomicStoreCacheNode, values: NSMutableDictionary?)] = []
    private var added: [NSAtomicStoreCacheNode] = []
    private var removed: [NSAtomicStoreCacheNode] = []
    private var bound: [BoundReference] = []
    private var isWritten = false

    init(_ store: NSAtomicStore, _ changes: StoreChanges, _ model: NSManagedObjectModel) {
        (self.store, self.changes, self.model) = (store, changes, model)
    }

    /// Brings the nodes up to date, and has the class write them.
    ///
    /// - Throws: the class's error; `revert(to:)` is to be called then, as after anything that fails later.
    func run(_ staged: StagedSave) throws {
        store.strayNode = nil
        try updateNodes(staged, StagedObjects(staged.rows, model))
        try store.save()
        isWritten = true
        if let node = store.strayNode, store.cacheNode(for: node.objectID) == nil {
            throw store.broken("save()", "has added a node of \(node.objectID): that is for load() to do", .persistentStoreSave)
        }
    }

    /// The save has failed: everything is put back.
    ///
    /// - Parameter rows: those that are saved, without any of the changes.
    func revert(to rows: any RowStore) {
        added.forEach(store.nodes.remove)
        for (node, values) in replaced.reversed() { node.propertyCache = values }
        removed.forEach(store.nodes.add)
        if let references = store.references { for reference in bound.reversed() { reference.takeBack(from: references) } }
        refill(from: rows)
        if isWritten { writeAgain() }
    }

    /// Nodes of the program's own may keep their values elsewhere: the class fills them as it has done before.
    private func refill(from rows: any RowStore) {
        let own = replaced.map(\.node).filter { type(of: $0) != NSAtomicStoreCacheNode.self }
        guard !own.isEmpty else { return }
        let objects = StagedObjects(rows, model)
        for (entity, nodes) in Dictionary(grouping: own, by: \.entity) {
            do {
                for object in try objects.objects(nodes.map(\.identity.key), of: entity, in: rows) {
                    if let node = store.cacheNode(for: object.objectID) { store.updateCacheNode(node, from: object) }
                }
            } catch {
                _ = FailureLog.noted("The nodes of \(type(of: store)) could not be put back after a save that failed", error)
            }
        }
    }

    private func updateNodes(_ staged: StagedSave, _ objects: StagedObjects) throws {
        let inserted = try zip(changes.groups, staged.keys).map { change, keys in
            try objects.objects(Array(keys), of: change.group.entity, in: staged.rows)
        }
        try removeNodes()
        for (objects, (_, group)) in zip(inserted, changes.groups) { try addNodes(for: objects, group) }
        for objects in inserted { for object in objects { try update(object) } }
        for (_, group) in changes.groups {
            for object in try objects.objects(group.updates.map(\.key), of: group.entity, in: staged.rows) { try update(object) }
        }
        for (entity, keys) in reorderedPartners {
            let entity = model.entitiesInIndexOrder[Int(entity)]
            for object in try objects.objects(Array(keys), of: entity, in: staged.rows) { try update(object) }
        }
    }

    /// Whose members are in another order because somebody else's are: a pair of a relationship that is its own inverse has one place for both ends.
    private var reorderedPartners: [Int32: Set<Int64>] {
        let pairs = changes.positions.filter { $0.relationship.inverse === $0.relationship }.flatMap(\.positions)
        return pairs.lazy.map(\.member).filter { $0.key > 0 }.reduce(into: [:]) { $0[$1.entity, default: []].insert($1.key) }
    }

    private func addNodes(for objects: [NSManagedObject], _ group: ChangeSet.Group) throws {
        for object in objects {
            bound.append(try store.bindReference(of: object, object.key))
            let node = store.newCacheNode(for: object)
            guard node.objectID == object.objectID else {
                throw store.broken("newCacheNode(for:)", "has returned a node of another object, \(node.objectID)", .persistentStoreSave)
            }
            store.nodes.add(node)
            added.append(node)
        }
    }

    private func update(_ object: NSManagedObject) throws {
        guard let node = store.cacheNode(for: object.objectID) else {
            throw store.broken("load()", "has not added a node for \(object.objectID), which is to be saved", .persistentStoreSave)
        }
        try object.requireReadableValues()
        replaced.append((node, node.snapshot))
        store.updateCacheNode(node, from: object)
        try requireKnownKeys(node, object.entity)
    }

    private func requireKnownKeys(_ node: NSAtomicStoreCacheNode, _ entity: NSEntityDescription) throws {
        if let key = node.unknownKey(of: entity) {
            throw store.broken(
                "updateCacheNode(_:from:)",
                "has set a value for \"\(key)\", which entity \(entity.name ?? "?") has not",
                .persistentStoreSave
            )
        }
    }

    private func removeNodes() throws {
        for (_, group) in changes.groups {
            for delete in group.deletes {
                let id = store.persistentStoreCoordinator?.id(of: delete.key, group.entity, in: store)
                if let node = id.flatMap(store.cacheNode(for:)) { removed.append(node) }
            }
        }
        if !removed.isEmpty { store.willRemoveCacheNodes(Set(removed)) }
        removed.forEach(store.nodes.remove)
        let ends = NodeEnds(changes, gone: Set(removed.map(\.identity)), model)
        ends.cut(from: store) { replaced.append(($0, $0.snapshot)) }
    }

    /// The file is put back as well, metadata too: another store has refused its part.
    private func writeAgain() {
        let (metadata, isEdited) = (store.metadata, store.hasNewMetadata)
        if isEdited { store.metadata = store.writtenMetadata }
        defer { if isEdited { store.metadata = metadata } }
        do { try store.save() } catch {
            _ = FailureLog.noted("\(type(of: store)).save() has failed while a save was taken back that another store refused", error)
        }
    }
}

extension NSAtomicStoreCacheNode {
    /// A key with a value that the entity has no property for.
    final func unknownKey(of entity: NSEntityDescription) -> String? {
        guard let propertyCache else { return nil }
        let known = entity.shape.properties
        return propertyCache.allKeys.lazy.compactMap { $0 as? String }.first { known[$0] == nil }
    }
}
