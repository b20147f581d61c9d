import Foundation

/// Temporary keys become permanent: when a save gives them out, here or in a context above, or when somebody asks for them.
extension NSManagedObjectContext {
    /// The permanent reference of an object that was unsaved when somebody noted it.
    func forwarded(_ reference: RowReference) -> RowReference {
        guard reference.key < 0 else { return reference }
        // Or the object that the permanent reference leads to would still have the temporary one.
        catchUp()
        return identityMap.forwarding[reference.key] ?? identityMap.forwardingTable[reference.key] ?? reference
    }

    /// The reference of what an object was merged into by a merge policy; nil where it was not.
    func replacement(of reference: RowReference) -> RowReference? {
        var survivor = identityMap.forwardingTable.replacement(of: reference).map(forwarded)
        while let known = survivor, let next = identityMap.forwardingTable.replacement(of: known) { survivor = forwarded(next) }
        return survivor
    }

    /// Gives objects the permanent keys that they got in other contexts of the tree since this was last called.
    @inline(__always) func catchUp() {
        let map = identityMap
        if map.forwardingTable.generation != map.followedForwardings { followForwardings() }
        if !map.awaited.isEmpty { followAwaited() }
    }

    @inline(never) private func followForwardings() {
        let (forwardings, generation) = identityMap.forwardingTable.recorded(since: identityMap.followedForwardings)
        identityMap.followedForwardings = generation
        guard let registry = identityMap.registry else { return }
        if let forwardings {
            for (temporary, permanent) in forwardings {
                if let object = registry.unsavedObject(temporary) { arrive(object, at: permanent) }
            }
            return
        }
        // Too many to go through each of them.
        for object in registry.temporaryObjects {
            guard let permanent = identityMap.forwardingTable[object.key] else { continue }
            arrive(object, at: permanent)
        }
    }

    /// Gives an object its permanent identity; references to the temporary one are followed up, also in other contexts of the tree.
    func rename(_ object: NSManagedObject, store: Int32, key: Int64) {
        let old = object.key
        if key > 0, !IDSuccession.isUnused {
            let scope = registry.scope(of: object.scope.entity, store: store)
            let reference = RowReference(key: key, entity: scope.entityIndex, store: store)
            IDSuccession.noteSuccessor(of: old, RowIdentity(reference, in: scope.ids(temporary: false)))
        }
        move(object, to: RowReference(key: key, entity: object.scope.entityIndex, store: store))
        if old != key {
            identityMap.forwarding.insert(object.rowReference, for: old)
            tracker.index.removeReferences()
        }
        let isKnownElsewhere = isFollowed || (parent != nil && !object.state.contains(.inserted))
        if old != key, isKnownElsewhere { identityMap.forwardingTable.record([(old, object.rowReference)]) }
    }

    /// Whether there are contexts below, which may know unsaved objects of this one by their temporary keys.
    var isFollowed: Bool { incoming != nil || children.withLock(\.hasAny) }

    func move(_ object: NSManagedObject, to reference: RowReference) {
        object.scope.identity?.remove(object)
        object.scope = registry.scope(of: object.scope.entity, store: reference.store)
        object.key = reference.key
        object.existingExtras?.objectID = nil
        object.scope.identity?.insert(object)
    }

    /// Gives the new objects of a save that stays in memory permanent keys, where there are some at hand.
    func takePooledKeys(_ parent: any GraphParent) {
        guard !parent.isStoreSide else { return }
        for new in temporaryInsertions() {
            let scope = new[0].scope
            guard let keys = parent.pooledKeys(for: scope.entity, count: new.count, store: scope.store) else { continue }
            take(keys, new, scope)
        }
    }

    /// The new objects without permanent keys, by scope.
    private func temporaryInsertions() -> [ContiguousArray<NSManagedObject>] {
        let objects = tracker.objects
        if let scope = objects.first?.scopeIdentity {
            var isUniform = true
            objects.forEachBorrowed { isUniform = isUniform && Self.isTemporaryInsertion($0) && $0.scopeIdentity == scope }
            if isUniform { return [objects] }
        }
        var groups: [ContiguousArray<NSManagedObject>] = []
        var latest = 0
        for object in objects where Self.isTemporaryInsertion(object) {
            if latest >= groups.count || groups[latest][0].scope !== object.scope {
                latest = groups.firstIndex { $0[0].scope === object.scope } ?? groups.count
                if latest == groups.count { groups.append([]) }
            }
            groups[latest].append(object)
        }
        return groups
    }

    @inline(__always) private static func isTemporaryInsertion(_ object: NSManagedObject) -> Bool {
        object.key < 0 && object.state.intersection([.inserted, .deleted]) == .inserted
    }

    private func take(_ keys: (store: Int32, first: Int64), _ objects: ContiguousArray<NSManagedObject>, _ scope: EntityScope) {
        let permanent = registry.scope(of: scope.entity, store: keys.store)
        let mayBeReferredTo = registry.hasRelationships
        tracker.index.removeReferences()
        var key = keys.first
        objects.forEachBorrowed { object in
            // What nobody refers to, and whose ID nobody has asked for, is known by its new key alone.
            if mayBeReferredTo || object.state.contains(.extras) {
                identityMap.forwarding.insert(
                    RowReference(key: key, entity: permanent.entityIndex, store: permanent.store),
                    for: object.key
                )
            }
            // The row says its key too, so that the store need not write it there.
            if !object.state.contains(.sharedRow) { object.row.storeBytes(of: key, as: Int64.self) }
            key += 1
        }
        if isFollowed { noteForwardings(of: objects, keys.first, permanent) }
        scope.identity?.move(objects, to: permanent, keys: ContiguousArray(keys.first..<keys.first + Int64(objects.count)))
    }

    private func noteForwardings(of objects: ContiguousArray<NSManagedObject>, _ first: Int64, _ scope: EntityScope) {
        identityMap.forwardingTable.record(
            objects.enumerated().map { offset, object in
                (object.key, RowReference(key: first + Int64(offset), entity: scope.entityIndex, store: scope.store))
            }
        )
    }

    /// References that were set before their targets got permanent IDs become permanent too.
    func forwardReferences() {
        guard registry.hasRelationships, !identityMap.forwarding.isEmpty || identityMap.followedForwardings > 0 else { return }
        for object in tracker.objects where object.state.intersection([.ownRow, .rowless]) == .ownRow {
            for slot in object.scope.shape.layout.referenceSlots {
                guard let reference = object.currentRow.reference(slot), reference.key < 0 else { continue }
                let permanent = forwarded(reference)
                guard permanent.key > 0 else { continue }
                if object.state.contains(.sharedRow) { object.takeOwnRow() }
                object.own.store(.reference(permanent), at: slot)
            }
        }
    }
}
