/// IDs, objects and URIs from anywhere: what they are in this context.
extension NSManagedObjectContext {
    /// What somebody names by an ID or an object, of this context or of any other.
    func identify(_ identity: RowIdentity) -> Identification {
        let identity = identity.arrived
        // One that this coordinator has made itself.
        if registry.knownScope(identity.reference)?.hasPermanent(identity.space) == true { return .own(identity.reference) }
        if identity.key < 0 { return identity.space.tree === identityMap.forwardingTable ? .own(identity.reference) : .foreign }
        return persistentStoreCoordinator?.identify(identity) ?? .foreign
    }

    /// The object for an ID that means nothing here, if there is one: or one of a store that was removed.
    func knownForeignObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        if let key = identityMap.awaited.key(of: objectID), let known = registry.foreignObject(key) { return known }
        return persistentStoreCoordinator?.formerReference(of: objectID.identity).flatMap(registeredObject(for:))
    }

    /// The object for an ID that means nothing here: a fault that finds no row. No store is ever asked for it, nor told of it.
    func foreignObject(for objectID: NSManagedObjectID) -> NSManagedObject {
        if let known = knownForeignObject(for: objectID) { return known }
        let own = persistentStoreCoordinator.flatMap { objectID.identity.space.entity(in: $0.managedObjectModel) }
        let scope = registry.foreignScope(objectID, entity: own ?? objectID.entity, isOfModel: own != nil)
        let object = Construction.make(
            scope,
            Row(scope.shape.emptyRow),
            key: identityMap.nextTemporaryKey(),
            state: [.registered, .fault, .rowless, .ownRow, .sharedRow]
        )
        scope.identity?.insert(object)
        if identityMap.retainsObjects { identityMap.retained.insert(object) }
        wait(for: objectID, object)
        return object
    }

    /// The object becomes that of the row which its ID may come to mean.
    func wait(for objectID: NSManagedObjectID, _ object: NSManagedObject) {
        // So that the ID can say what has become of it, whoever else lets go of it.
        if object.existingExtras?.objectID == nil { object.extras.objectID = objectID }
        let registry = registry
        identityMap.awaited.add(objectID, key: object.key) { registry.unsavedObject($0) != nil }
    }

    /// IDs that meant nothing may mean something by now.
    @inline(never) func followAwaited() {
        let generation = IDSuccession.generation &+ (persistentStoreCoordinator?.storeGeneration ?? 0)
        for (id, key) in identityMap.awaited.due(at: generation) {
            guard let object = registry.unsavedObject(key) else {
                identityMap.awaited.remove(id)
                continue
            }
            guard let reference = identify(id.identity).reference, reference.key > 0 else { continue }
            identityMap.awaited.remove(id)
            // Unless the row has got another object meanwhile.
            if registeredObject(for: reference) == nil { arrive(object, at: reference) }
        }
    }

    /// An object has got its row elsewhere. One that was asked for too early counts as deleted, but nobody has deleted it.
    func arrive(_ object: NSManagedObject, at reference: RowReference) {
        if object.state.contains(.inaccessible) { becomeFault(object) }
        move(object, to: reference)
    }

    /// Nothing was found for the object, which counted as deleted: now it will be looked for again.
    func becomeFault(_ object: NSManagedObject) {
        tracker.forget(object)
        object.state.remove(.inaccessible)
        object.setChangedSlots(SlotMask())
        object.existingExtras?.forgetObjects()
        object.forgetRow()
        object.state.insert(.fault)
    }
}

extension NSManagedObject {
    /// Whether the object is of no store that its context has.
    final var isForeign: Bool { key < 0 && withScope(\.isForeign) }
}
