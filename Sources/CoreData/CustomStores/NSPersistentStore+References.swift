import Foundation

/// IDs of stores that say themselves what identifies an object.
extension NSPersistentStore {
    final func makeID(for entity: NSEntityDescription, _ data: Any, _ method: StaticString = #function) -> NSManagedObjectID {
        guard let reference = ReferenceObject(data) else {
            misuse("\(Self.self).\(method) takes a text or a whole number as the reference object, not \(data).")
        }
        guard let references, let home else { misuse("\(Self.self).\(method): IDs can be made once the store is added, and in load().") }
        // NB: others may remove the store while its class answers: what comes of the ID is an error then.
        guard let coordinator = persistentStoreCoordinator else {
            let key = references.key(of: reference, root: entity.rootEntity.name ?? "")
            let row = RowReference(key: key, entity: Int32(entity.index), store: number)
            return NSManagedObjectID(RowIdentity(row, in: IDSpace(entity, home: home)))
        }
        guard let own = coordinator.managedObjectModel.entitiesByName[entity.name ?? ""] else {
            misuse("\(Self.self).\(method): the model of the store's coordinator has no entity \(entity.name ?? "?").")
        }
        return coordinator.id(of: references.key(of: reference, root: own.rootEntity.name ?? ""), own, in: self)
    }

    final func referenceValue(of objectID: NSManagedObjectID, _ method: StaticString = #function) -> Any {
        let identity = objectID.identity
        guard identity.space.home?.identifier == knownIdentifier,
            let reference = references?.reference(of: identity.key, root: identity.space.rootName)
        else {
            misuse("\(Self.self).\(method): \(objectID.uriRepresentation().absoluteString) is not the ID of an object of the store.")
        }
        return reference.value
    }

    /// The key of the last part of a URI.
    // NB: by scalars; what identifies an object may begin with a character that combines with the one before it.
    final func referenceKey(named text: String, of entity: NSEntityDescription) -> Int64? {
        guard text.unicodeScalars.first == "p", text.utf8.count > 1,
            let name = String(text.unicodeScalars.dropFirst()).removingPercentEncoding
        else { return nil }
        return references?.key(named: name, isText: text.utf8.contains(UInt8(ascii: "%")), root: entity.rootEntity.name ?? "")
    }

    /// A save from a hook would wait for itself, or mix its nodes with those of the save that has called the hook.
    final func refuseNestedSave() -> Never {
        misuse("\(Self.self) saves a context from a hook that a save of the same store has called. Do that when the save has returned.")
    }

    /// An error for a save from a hook, which would wait for somebody who waits for the hook.
    final var isSavedElsewhere: CocoaError {
        .coreData(
            .persistentStoreTimeout,
            "A hook of a store's class saves into a \(Self.self) that another context is saving, which may wait for the hook. Save again when the hook has returned.",
            userInfo: [NSAffectedStoresErrorKey: [self]]
        )
    }

    /// An error for what a store's class does that it must not.
    final func broken(_ method: String, _ what: String, _ code: CocoaError.Code = .persistentStoreOperation) -> CocoaError {
        .coreData(code, "\(Self.self).\(method) \(what).", userInfo: [NSAffectedStoresErrorKey: [self]])
    }
}

extension NSPersistentStoreCoordinator {
    final func id(of key: Int64, _ entity: NSEntityDescription, in store: NSPersistentStore) -> NSManagedObjectID {
        let reference = RowReference(key: key, entity: Int32(entity.index), store: store.number)
        return NSManagedObjectID(RowIdentity(reference, in: ids(of: entity, inStoreNumbered: store.number)))
    }
}
