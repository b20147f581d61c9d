import Foundation

/// Brings the nodes of an atomic store up to date with a save before it is committed, and takes that back where anything fails.
final class NodeUpdate {
    private let store: NSAtomicStore
    private let changes: StoreChanges
    private let staged: StagedSave
    private let objects: StagedObjects
    /// The nodes as they were.
    private var replaced: [(node: NSAtomicStoreCacheNode, values: NSMutableDictionary?)] = []
    private var added: [NSAtomicStoreCacheNode] = []
    private var removed: [NSAtomicStoreCacheNode] = []

    init(_ store: NSAtomicStore, _ changes: StoreChanges, _ staged: StagedSave, _ model: NSManagedObjectModel) {
        (self.store, self.changes, self.staged) = (store, changes, staged)
        objects = StagedObjects(staged.rows, model)
    }

    /// - Parameter next: what has to succeed after the store is written.
    func run(_ next: () throws -> Void) throws {
        var isWritten = false
        do {
            try updateNodes()
            try store.save()
            isWritten = true
            try next()
        } catch {
            revert()
            if isWritten { writeAgain() }
            throw error
        }
    }

    private func updateNodes() throws {
        let inserted = try zip(changes.groups, staged.keys).map { change, keys in
            try objects.objects(Array(keys), of: change.group.entity, in: staged.rows)
        }
        try removeNodes()
        for (objects, (_, group)) in zip(inserted, changes.groups) { try addNodes(for: objects, group) }
        for objects in inserted { for object in objects { try update(object) } }
        for (_, group) in changes.groups {
            for object in try objects.objects(group.updates.map(\.key), of: group.entity, in: staged.rows) { try update(object) }
        }
    }

    private func addNodes(for objects: [NSManagedObject], _ group: ChangeSet.Group) throws {
        for object in objects {
            try store.bindReference(of: object, object.key)
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
        guard !removed.isEmpty else { return }
        store.willRemoveCacheNodes(Set(removed))
        removed.forEach(store.nodes.remove)
    }

    private func revert() {
        added.forEach(store.nodes.remove)
        for (node, values) in replaced.reversed() { node.propertyCache = values }
        removed.forEach(store.nodes.add)
    }

    /// The file is put back as well: another store has refused its part.
    private func writeAgain() {
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
