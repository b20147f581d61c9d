import Foundation

/// Temporary keys become permanent: when a save gives them out, here or in a context above, or when somebody asks for them.
extension NSManagedObjectContext {
    /// The permanent reference of an object that was unsaved when somebody noted it.
    func forwarded(_ reference: RowReference) -> RowReference {
        guard reference.key < 0 else { return reference }
        // Or the object that the permanent reference leads to would still have the temporary one.
        catchUp()
        return forwarding[reference.key] ?? forwardingTable[reference.key] ?? reference
    }

    /// Gives objects the permanent keys that they got in other contexts of the tree since this was last called.
    @inline(__always) func catchUp() {
        if forwardingTable.generation != followedForwardings { followForwardings() }
    }

    @inline(never) private func followForwardings() {
        followedForwardings = forwardingTable.generation
        for object in optionalRegistry?.temporaryObjects ?? [] {
            guard let permanent = forwardingTable[object.key] else { continue }
            move(object, to: permanent)
        }
    }

    /// Gives an object its permanent identity; references to the temporary one are followed up, also in other contexts of the tree.
    func rename(_ object: NSManagedObject, store: Int32, key: Int64) {
        let old = object.key
        move(object, to: RowReference(key: key, entity: object.scope.entityIndex, store: store))
        if old != key { forwarding.insert(object.rowReference, for: old) }
        let isKnownElsewhere = hasHadChildren || (parent != nil && !object.state.contains(.inserted))
        if old != key, isKnownElsewhere { forwardingTable.record([(old, object.rowReference)]) }
    }

    private func move(_ object: NSManagedObject, to reference: RowReference) {
        object.scope.identity?.remove(object)
        object.scope = registry.scope(of: object.scope.entity, store: reference.store)
        object.key = reference.key
        object.existingExtras?.objectID = nil
        object.scope.identity?.insert(object)
    }

    /// Gives the new objects of a save that stays in memory permanent keys, where there are some at hand.
    func takePooledKeys(_ parent: any GraphParent) {
        guard !parent.isStoreSide else { return }
        let new = tracker.objects.filter { $0.key < 0 && $0.state.intersection([.inserted, .deleted]) == .inserted }
        for group in Dictionary(grouping: new, by: { ObjectIdentifier($0.scope) }).values {
            guard let keys = parent.pooledKeys(for: group[0].scope.entity, count: group.count, store: group[0].scope.store) else {
                continue
            }
            for (offset, object) in group.enumerated() {
                rename(object, store: keys.store, key: keys.first + Int64(offset))
                // The row says its key too, so that the store need not write it there.
                if !object.state.contains(.sharedRow) { object.own.bytes.storeBytes(of: object.key, as: Int64.self) }
            }
        }
    }

    /// References that were set before their targets got permanent IDs become permanent too.
    func forwardReferences() {
        guard !forwarding.isEmpty || followedForwardings > 0 else { return }
        for object in tracker.objects where object.state.contains(.ownRow) && !object.state.contains(.sharedRow) {
            for slot in object.scope.shape.layout.referenceSlots {
                guard let reference = object.currentRow.reference(slot), reference.key < 0 else { continue }
                let permanent = forwarded(reference)
                if permanent.key > 0 { object.own.store(.reference(permanent), at: slot) }
            }
        }
    }
}
