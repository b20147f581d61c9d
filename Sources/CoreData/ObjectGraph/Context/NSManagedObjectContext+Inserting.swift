import Foundation

extension NSManagedObjectContext {
    /// The scope of new objects of an entity that was not among those of the latest ones.
    @inline(never) func findScopeForInsertion(of entity: NSEntityDescription) -> EntityScope {
        let scope = registry.knownScope(of: entity, store: 0) ?? makeScopeForInsertion(of: entity)
        identityMap.noteInsertion(of: entity, into: scope)
        return scope
    }

    private func makeScopeForInsertion(of entity: NSEntityDescription) -> EntityScope {
        let own = ownEntity(entity)
        precondition(!own.isAbstract, "\(own.name ?? "?") is an abstract entity: insert an object of one of its subentities.")
        return registry.scope(of: own, store: 0)
    }

    /// Lists a new object and tells it.
    @inline(__always) func enter(_ object: NSManagedObject) {
        object.withScope { $0.identity?.insert(object) }
        tracker.noteInsertion(of: object)
        if identityMap.retainsObjects { identityMap.retained.insert(object) }
        object.awakeFromInsert()
    }

    /// Registers an object that is in no context yet; it is then as if created in this one. Objects that it was related to while they were in
    /// no context come along.
    ///
    /// - Precondition: the object is in no other context, and its entity is one of the coordinator's model.
    public func insert(_ object: NSManagedObject) {
        checkQueue()
        if object.registeredContext === self { return reinsert(object) }
        precondition(object.state.contains(.detached), "The object is in another context already. Create it in the one that shall save it.")
        enter(unlisted: object)
    }

    /// An object that was deleted since the last save is taken back.
    private func reinsert(_ object: NSManagedObject) {
        guard object.state.contains(.deleted) else { return }
        if object.state.contains(.rowGone), returnFoundRow(of: object) { return }
        let (hasRow, wasPropagated) = (hasRow(object), object.state.contains(.propagated))
        let isBehind = hasRow && object.state.contains(.savedMeanwhile)
        tracker.noteReturn(of: object)
        if isBehind { refresh(object, mergeChanges: true) }
        if !hasRow { resurrect(object) }
        if wasPropagated { RelationshipReturn(of: object, hasRow ? .decision : .newRow).run() }
    }

    /// Whether a deleted object still has its row, which others may have deleted too.
    private func hasRow(_ object: NSManagedObject) -> Bool {
        if object.state.contains(.rowGone) { return false }
        guard object.key > 0, !object.state.contains(.inserted) else { return true }
        return isThere(object, ifUnreadable: true)
    }

    /// Whether the contexts above, or a store, have the object.
    func isThere(_ object: NSManagedObject, ifUnreadable answer: Bool) -> Bool {
        do {
            return try parentSource.row(for: object.rowReference) != nil
        } catch {
            logFailure("looking for the row of \(object.objectID)", error)
            return answer
        }
    }

    /// This context's entity for one that may come from another instance of the same model.
    func ownEntity(_ entity: NSEntityDescription) -> NSEntityDescription {
        let model = parentSource.managedObjectModel
        if entity.managedObjectModel === model { return entity }
        guard let name = entity.name, let own = model.entitiesByName[name] else {
            misuse("Entity \(entity.name ?? "?") is not in the model of this context's coordinator.")
        }
        return own
    }

    /// Marks an object to be deleted by the next save; relationships follow by their delete rules when the event ends.
    ///
    /// An object that was never saved simply goes. Deleting twice is the same as once, also where a delete rule was first: what is in no context
    /// any more has nothing left to delete. Of an `NSIncrementalStore`'s object that has not been read, its class is asked for the values now.
    ///
    /// - Precondition: the object is in no other context.
    public func delete(_ object: NSManagedObject) {
        checkQueue()
        guard let owner = object.registeredContext else { return }
        precondition(owner === self, "Only the context that an object is in can delete it.")
        if object.state.contains(.rowless) { takeBackReturnedSaves() }
        guard !object.state.contains(.deleted) else { return }
        vanish(object, .delete)
        readOnDemand(object)
    }

    /// Of a store that gives no rows with a fetch, the object may not have been read: the delete is decided on what is there now, not on what others
    /// save before it is.
    ///
    /// Where that cannot be read, following the delete's rules tries once more, and says why.
    private func readOnDemand(_ object: NSManagedObject) {
        guard object.state.isSuperset(of: [.deleted, .rowless]),
            persistentStoreCoordinator?.store(numbered: object.scope.store)?.capabilities.contains(.rowsOnDemand) == true
        else { return }
        try? object.fireThrowing()
    }

    /// Gives objects their permanent IDs before they are saved.
    ///
    /// The objects stay inserted. An ID that is permanent already is left alone; a later rollback leaves a number unused. Temporary IDs that
    /// somebody holds stay as they are, and are equal to the permanent ones from now on.
    ///
    /// - Throws: a `CocoaError` where no store takes an object or the store cannot be written; no ID has changed then.
    public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        checkQueue()
        let temporary = objects.filter(isUnsavedHere)
        guard !temporary.isEmpty else { return }
        chooseStores()
        let groups = Dictionary(grouping: temporary) { ObjectIdentifier($0.scope) }.values
        let keys = try groups.map { group in
            try parentSource.permanentKeys(for: group[0].scope.entity, rows: group.map(\.currentRow), store: group[0].scope.store)
        }
        for (group, keys) in zip(groups, keys) {
            for (offset, object) in group.enumerated() {
                rename(object, store: keys.store, key: keys.keys[offset])
            }
        }
    }

    /// Chooses the store that an unsaved object will be saved in.
    ///
    /// - Precondition: the object is a managed object of this context that was never saved; the store is one of its coordinator's.
    public func assign(_ object: Any, to store: NSPersistentStore) {
        checkQueue()
        guard let object = object as? NSManagedObject, isUnsavedHere(object) else {
            misuse("assign(_:to:) takes an object of this context that was never saved.")
        }
        precondition(
            store.persistentStoreCoordinator === persistentStoreCoordinator,
            "assign(_:to:) takes a store of the context's own coordinator."
        )
        precondition(
            persistentStoreCoordinator?.store(numbered: store.number)?.holds(object.scope.entity) == true,
            """
            Can't assign an object to a store that does not contain the object's entity: the store's configuration \
            "\(store.configurationName)" has no \(object.scope.entity.name ?? "?").
            """
        )
        rename(object, store: store.number, key: object.key)
    }

    /// Whether an object of this context was never saved.
    ///
    /// NB: the object of a batch insert has the context and a temporary key, but nobody keeps it.
    private func isUnsavedHere(_ object: NSManagedObject) -> Bool {
        object.key < 0 && !object.scope.isForeign && object.registeredContext === self
            && registeredObject(for: object.rowReference) === object
    }
}

extension NSEntityDescription {
    /// The entity of that name in the model of the context's coordinator.
    public class func entity(forEntityName entityName: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
        context.parentSource.managedObjectModel.entitiesByName[entityName]
    }

    /// Creates an object of the entity of that name, of the entity's class, and inserts it.
    ///
    /// - Precondition: the model of the context's coordinator has an entity of that name, and it is not abstract.
    @discardableResult
    public class func insertNewObject(forEntityName entityName: String, into context: NSManagedObjectContext) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            let hint = context.parentSource.managedObjectModel.hint(forEntity: entityName)
            misuse("The model of the context's coordinator has no entity named \(entityName).\(hint)")
        }
        return NSManagedObject.objectClass(for: entity).init(ManagedObjectConstruction(entity: entity, context: context))
    }
}
