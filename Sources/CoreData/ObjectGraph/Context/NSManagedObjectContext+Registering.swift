import Foundation

extension NSManagedObjectContext {
    /// The object of an ID, if this context has it. Never reads anything.
    public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue()
        catchUp()
        return registeredObject(for: ownReference(objectID) ?? objectID.reference)
    }

    /// The object of an ID: the context's own, or a new fault, which is read when it is first used. Never reads anything itself.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue()
        catchUp()
        if let own = ownReference(objectID) { return object(for: own) }
        return object(for: objectID.reference)
    }

    /// The object of an ID with its values. Never a fault.
    ///
    /// - Throws: `CocoaError` 133000 where the row is gone; an error of the store.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        let object = object(with: objectID)
        if object.state.contains(.rowless) {
            guard let row = try parentSource.row(for: object.rowReference), row.layout === object.scope.shape.layout else {
                throw Self.missing(objectID)
            }
            adopt(row, object)
        }
        if object.isFault { object.fire() }
        if object.state.contains(.inaccessible) { throw Self.missing(objectID) }
        return object
    }

    private static func missing(_ objectID: NSManagedObjectID) -> CocoaError {
        .coreData(
            .managedObjectReferentialIntegrity,
            "No row \(objectID.uriRepresentation().absoluteString) exists.",
            userInfo: [NSAffectedObjectsErrorKey: [objectID]]
        )
    }

    /// The reference under this context's coordinator, for an ID that another coordinator on the same file made.
    func ownReference(_ objectID: NSManagedObjectID) -> RowReference? {
        // One that this context has made itself.
        if registry.knownScope(objectID.reference)?.hasPermanent(objectID.space) == true { return nil }
        guard !objectID.isTemporaryID, let store = objectID.persistentStore,
            store.persistentStoreCoordinator !== persistentStoreCoordinator
        else { return nil }
        return persistentStoreCoordinator?.managedObjectID(forURIRepresentation: objectID.uriRepresentation())?.reference
    }

    func registeredObject(for reference: RowReference) -> NSManagedObject? {
        let reference = forwarded(reference)
        return registry.object(store: reference.store, root: root(of: reference), key: reference.key)
    }

    private func scope(of reference: RowReference) -> EntityScope {
        registry.knownScope(reference)
            ?? registry.scope(of: parentSource.managedObjectModel.entitiesInIndexOrder[Int(reference.entity)], store: reference.store)
    }

    private func root(of reference: RowReference) -> Int {
        parentSource.managedObjectModel.entitiesInIndexOrder[Int(reference.entity)].rootEntity.index
    }

    /// The object of a reference: registered, or a new fault without a row.
    func object(for reference: RowReference) -> NSManagedObject {
        let reference = forwarded(reference)
        let scope = scope(of: reference)
        if let object = scope.identity?.object(reference.key) {
            return object.scope === scope || object.scope.entity.isKindOf(entity: scope.entity) ? object : nobody(scope, reference)
        }
        let object = Construction.make(
            scope,
            Row(scope.shape.emptyRow),
            key: reference.key,
            state: [.registered, .fault, .rowless, .ownRow, .sharedRow]
        )
        scope.identity?.insert(object)
        if retainsObjects { retained.insert(object) }
        return object
    }

    /// An object without values, for a reference in a file that says of a row that it is of another entity than it is.
    private func nobody(_ scope: EntityScope, _ reference: RowReference) -> NSManagedObject {
        Construction.make(
            scope,
            Row(scope.shape.emptyRow),
            key: reference.key,
            state: [.detached, .inaccessible, .ownRow, .sharedRow]
        )
    }

    /// Reads the row of a fault that has none.
    func fill(_ object: NSManagedObject) throws {
        catchUp()
        if let row = try parentSource.row(for: object.rowReference) {
            guard row.layout === object.scope.shape.layout else { return disown(object) }
            return adopt(row, object)
        }
        object.fillEmpty()
        if shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: nil) {
            markInaccessible(object)
        } else {
            misuse("The row of \(object.objectID) is gone, and shouldDeleteInaccessibleFaults is false.")
        }
    }

    /// The row is of another entity than somebody took it for: it is not this object's.
    private func disown(_ object: NSManagedObject) {
        object.fillEmpty()
        unregister(object)
    }

    /// The row is gone: the object counts as deleted, and a save has nothing to do for it.
    private func markInaccessible(_ object: NSManagedObject) {
        if !object.state.contains(.deleted) { tracker.noteDeletion(of: object) }
    }

    /// Reads a to-many relationship of several objects, with one statement. Where that fails it stays unread: the next access tries again.
    func realize(_ relationship: NSRelationshipDescription, _ index: Int, of owners: [NSManagedObject]) {
        do {
            try read(relationship, index, of: owners)
        } catch {
            // As with a fault: reading a property cannot throw.
            logFailure("reading \(relationship.entity.name ?? "?").\(relationship.name)", error)
        }
    }

    func read(_ relationship: NSRelationshipDescription, _ index: Int, of owners: [NSManagedObject]) throws {
        guard !owners.isEmpty else { return }
        var stored: [Int64: [(object: NSManagedObject, position: Int64?)]] = [:]
        let rows = try parentSource.relatedRows(relationship, owners: owners.map(\.rowReference))
        catchUp()
        for related in rows {
            let object = related.row.map { self.object(for: related.reference, row: $0) } ?? self.object(for: related.reference)
            stored[related.owner, default: []].append((object, related.position))
        }
        for owner in owners {
            let contents = owner.contents(index)
            // What leads elsewhere by now, unless this owner knows that and has it to save.
            let members = (stored[owner.key] ?? []).filter { member, _ in
                member.state.isDisjoint(with: .pending) || contents.removed.contains(member)
                    || !isElsewhere(member, than: owner.key, along: relationship)
            }
            contents.realize(members.map(\.object))
            let positioned = members.filter { $0.position != nil }
            if !positioned.isEmpty { contents.positions = MemberPositions(positioned.map(\.object), at: positioned.compactMap(\.position)) }
        }
    }

    /// The object of a row that was just read: registered, or a new fault with that row.
    func object(for reference: RowReference, row: Row) -> NSManagedObject {
        let reference = forwarded(reference)
        let scope = scope(of: reference)
        if let object = scope.identity?.object(reference.key) {
            if object.scope === scope {
                if object.state.contains(.rowless) { adopt(row, object) }
                return object
            }
            // Somebody took the row for one of another entity; the row knows better.
            unregister(object)
        }
        var state: ObjectState = [.registered, .fault]
        if row.isOwn { state.formUnion([.ownRow, .sharedRow]) }
        let object = Construction.make(scope, row, key: reference.key, state: state)
        scope.identity?.insert(object)
        if retainsObjects { retained.insert(object) }
        return object
    }

    /// Gives an object a row that is not its alone.
    func adopt(_ row: Row, _ object: NSManagedObject) {
        object.setRow(row)
        object.state.remove(.unsavedRow)
        if row.isOwn { object.state.insert(.sharedRow) } else { object.state.remove(.sharedRow) }
    }
}
