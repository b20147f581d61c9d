/// Objects made with `insertInto: nil`. Among each other they are related as they are; inserting one inserts all that it leads to.
extension NSManagedObject {
    /// Whether the object has never been in a context.
    @inline(__always) final var isUninserted: Bool {
        state.contains(.detached) && withScope { $0.registryIdentity == nil }
    }

    final func uninsertedTarget(_ slot: Int) -> NSManagedObject? {
        state.contains(.detached) ? existingExtras?.uninsertedTargets[slot] : nil
    }

    final func keepTarget(_ target: NSManagedObject?, _ slot: Int) { extras.uninsertedTargets[slot] = target }

    /// The two are about to be related: where only one is in a context, the other is inserted there.
    final func meet(_ other: NSManagedObject) {
        if isUninserted {
            if let context = other.registeredContext { context.insert(self) }
        } else if other.isUninserted, let context = registeredContext {
            context.insert(other)
        }
    }

    /// The objects at the other ends of its relationships that were never inserted either.
    final var uninsertedRelatives: [NSManagedObject] {
        guard let extras = existingExtras else { return [] }
        var relatives = extras.uninsertedTargets.sorted { $0.key < $1.key }.map(\.value)
        extras.forEachToMany { relatives += $0.members?.array ?? [] }
        return relatives.filter(\.isUninserted)
    }

    /// In its context now, the object refers to others by their keys.
    final func writeKeptTargets() {
        guard let targets = existingExtras?.uninsertedTargets, !targets.isEmpty else { return }
        extras.uninsertedTargets = [:]
        for (slot, target) in targets.sorted(by: { $0.key < $1.key }) { writeTarget(target, slot) }
    }
}

extension NSManagedObjectContext {
    /// Lists objects that were never inserted, or were and are in no context any more, with all that they lead to, then tells them.
    func enter(unlisted object: NSManagedObject) {
        var waiting = [object]
        var entered: [NSManagedObject] = []
        while let next = waiting.popLast() {
            guard next.state.contains(.detached) else { continue }
            waiting += next.uninsertedRelatives
            list(next)
            entered.append(next)
        }
        for object in entered { object.writeKeptTargets() }
        for object in entered { object.awakeFromInsert() }
    }

    private func list(_ object: NSManagedObject) {
        if object.isUninserted {
            // Its ID may be in use already.
            object.existingExtras?.objectID?.space.enter(identityMap.forwardingTable)
        } else {
            object.key = identityMap.nextTemporaryKey()
            object.existingExtras?.objectID = nil
        }
        object.scope = scopeForInsertion(of: object.scope.entity).takeUnretainedValue()
        object.state.subtract([.detached, .returned])
        object.state.insert(.registered)
        object.scope.identity?.insert(object)
        tracker.noteInsertion(of: object)
        if identityMap.retainsObjects { identityMap.retained.insert(object) }
    }
}
