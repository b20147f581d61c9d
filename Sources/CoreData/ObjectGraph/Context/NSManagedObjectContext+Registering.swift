import Foundation

extension NSManagedObjectContext {
    /// The object of an ID, if this context has it. Never reads anything.
    public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkReading()
        catchUp()
        guard let reference = identify(objectID.identity).reference else { return knownForeignObject(for: objectID) }
        return registeredObject(for: reference)
    }

    /// The object of an ID: the context's own, or a new fault, which is read when it is first used. Never reads anything itself.
    ///
    /// An ID of another coordinator is found by the UUID of its store and the name of its entity. One of a store that this context does not
    /// have, or a temporary one of unrelated contexts, gives a fault without a row behind it: it has no values, and neither changing nor
    /// deleting it changes anything in a store.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkReading()
        catchUp()
        guard let reference = identify(objectID.identity).reference else { return foreignObject(for: objectID) }
        return object(of: objectID, at: reference)
    }

    private func object(of objectID: NSManagedObjectID, at reference: RowReference) -> NSManagedObject {
        let object = object(for: reference)
        if object.key < 0, object.state.contains(.rowless) { wait(for: objectID, object) }
        return object
    }

    /// The object of an ID with its values. Never a fault.
    ///
    /// - Throws: `CocoaError` 133000 where the row is gone, and for an ID of a store that this context does not have or of an entity that its
    ///   model lacks, with the ID under `NSAffectedObjectsErrorKey`; an error of the store.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        checkReading()
        takeBackReturnedSaves()
        catchUp()
        guard let reference = identify(objectID.identity).reference else { throw try missingForeign(objectID) }
        let object = object(of: objectID, at: reference)
        if object.isMissing, let row = try row(of: object) { found(row, of: object) }
        if object.state.contains(.rowless) {
            guard let row = try row(of: object), row.layout === object.scope.shape.layout else { throw Self.missing(objectID) }
            adopt(row, object)
        }
        if object.isFault { object.fire() }
        if object.state.contains(.inaccessible) { throw Self.missing(objectID) }
        return object
    }

    /// The newest row; nil also where the store was removed.
    private func row(of object: NSManagedObject) throws -> Row? {
        let reference = object.rowReference
        do {
            return try parentSource.row(for: reference) ?? returningRow(of: object)
        } catch  where parentLink?.isCut != true && reference.key > 0 && store(numbered: reference.store) == nil {
            return nil
        }
    }

    /// - Throws: why a context that was cut off finds nothing at all.
    private func missingForeign(_ objectID: NSManagedObjectID) throws -> CocoaError {
        if parentLink?.isCut == true { _ = try parentSource.row(for: objectID.identity.reference) }
        return Self.missing(objectID)
    }

    private static func missing(_ objectID: NSManagedObjectID) -> CocoaError {
        .coreData(
            .managedObjectReferentialIntegrity,
            "No row \(objectID.uriRepresentation().absoluteString) exists.",
            userInfo: [NSAffectedObjectsErrorKey: [objectID]]
        )
    }

    func registeredObject(for reference: RowReference) -> NSManagedObject? {
        let reference = forwarded(reference)
        guard let root = root(of: reference) else { return nil }
        return registry.object(store: reference.store, root: root, key: reference.key)
    }

    private func scope(of reference: RowReference) -> EntityScope {
        registry.knownScope(reference)
            ?? registry.scope(of: parentSource.managedObjectModel.entitiesInIndexOrder[Int(reference.entity)], store: reference.store)
    }

    /// Nil for an object whose entity is of another model.
    private func root(of reference: RowReference) -> Int? {
        let entities = parentSource.managedObjectModel.entitiesInIndexOrder
        return reference.entity < 0 ? nil : entities[Int(reference.entity)].rootEntity.index
    }

    /// The object of a reference: registered, or a new fault without a row.
    func object(for reference: RowReference) -> NSManagedObject {
        let reference = forwarded(reference)
        let scope = scope(of: reference)
        if let object = scope.identity?.object(reference.key) {
            return object.scope === scope || object.scope.entity.isKindOf(entity: scope.entity) ? object : nobody(scope, reference)
        }
        if reference.key < 0 {
            if let foreign = registry.foreignObject(reference.key) { return foreign }
            noteName(reference.key)
        }
        let object = Construction.make(
            scope,
            Row(scope.shape.emptyRow),
            key: reference.key,
            state: [.registered, .fault, .rowless, .ownRow, .sharedRow]
        )
        scope.identity?.insert(object)
        if identityMap.retainsObjects { identityMap.retained.insert(object) }
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
        if let unread = object.unreadRows {
            try read(unread)
            if !object.state.contains(.rowless) { return }
        }
        if !object.isForeign, let row = try rowAhead(of: object) ?? parentSource.row(for: object.rowReference) ?? rowUnheardOf(object) {
            guard row.layout === object.scope.shape.layout else {
                object.fillEmpty()
                return vanish(object, .wrongEntity)
            }
            return adopt(row, object)
        }
        object.fillEmpty()
        if shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: nil) {
            vanish(object, .missingRow)
        } else {
            misuse("The row of \(object.objectID) is gone, and shouldDeleteInaccessibleFaults is false.")
        }
    }

    /// The row of an object that has gone for a reason which this context has yet to hear: its save is on its way back, or a policy has put another
    /// object in its place, and what is done to this one is for that.
    private func rowUnheardOf(_ object: NSManagedObject) throws -> Row? {
        if let row = returningRow(of: object) { return row }
        // The topmost context has done it itself.
        if parentSource.isStoreSide { return nil }
        return try replacement(of: object.rowReference).flatMap { try parentSource.row(for: $0) }
    }

    /// Reads a to-many relationship of several objects, with one statement. Where that fails it stays unread: the next access tries again.
    func realize(_ relationship: NSRelationshipDescription, _ index: Int, of owners: [NSManagedObject]) {
        do {
            try read(relationship, index, of: owners)
        } catch {
            // As with a fault: reading a property cannot throw.
            noteFailedRead("reading \(relationship.entity.name ?? "?").\(relationship.name)", error)
        }
    }

    func read(_ relationship: NSRelationshipDescription, _ index: Int, of owners: [NSManagedObject]) throws {
        guard let first = owners.first else { return }
        // Owners of two stores may have one key.
        if owners.contains(where: { $0.scope.store != first.scope.store }) {
            for group in Dictionary(grouping: owners, by: { $0.scope.store }).values { try read(relationship, index, of: group) }
            return
        }
        show(try relatedRows(relationship, owners.map(\.rowReference)), relationship, index, of: owners)
    }

    func relatedRows(_ relationship: NSRelationshipDescription, _ owners: [RowReference]) throws -> [RelatedRow] {
        let above = registry.changesAbove
        let count = above?.count ?? 0
        let rows = try parentSource.relatedRows(relationship, owners: owners)
        catchUp()
        if let above { for case let row? in rows.lazy.map(\.row) { above.noteNewest(row, at: count, write: row.listing?.write) } }
        return rows
    }

    /// Gives owners, all of one store, the members that were read, which stand beside each other.
    func show(_ rows: [RelatedRow], _ relationship: NSRelationshipDescription, _ index: Int, of owners: [NSManagedObject]) {
        var waiting: [Int64: NSManagedObject] = [:]
        waiting.reserveCapacity(owners.count)
        for owner in owners { waiting[owner.key] = owner }
        let isManyToMany = relationship.inverse?.isToMany == true
        var members: [NSManagedObject] = []
        var start = 0
        for place in rows.indices {
            let object = object(of: rows[place])
            if isManyToMany { object.state.insert(.readAsMember) }
            members.append(object)
            let owner = rows[place].owner
            if place + 1 < rows.count, rows[place + 1].owner == owner { continue }
            if let owner = waiting.removeValue(forKey: owner) {
                show(members, at: rows[start...place], relationship, index, of: owner)
            }
            members.removeAll(keepingCapacity: true)
            start = place + 1
        }
        for owner in owners where !waiting.isEmpty && waiting[owner.key] != nil { show([], at: [], relationship, index, of: owner) }
    }

    private func object(of related: RelatedRow) -> NSManagedObject {
        guard let row = related.row else { return object(for: related.reference) }
        return object(for: related.reference, row: row)
    }

    private func show(
        _ members: [NSManagedObject],
        at rows: ArraySlice<RelatedRow>,
        _ relationship: NSRelationshipDescription,
        _ index: Int,
        of owner: NSManagedObject
    ) {
        let contents = owner.contents(index)
        // What leads elsewhere by now, unless this owner knows that and has it to save.
        func isHere(_ member: NSManagedObject) -> Bool {
            member.state.isDisjoint(with: .pending) || contents.removed.contains(member)
                || !isElsewhere(member, than: owner.key, along: relationship)
        }
        let back = relationship.inverse?.toManyIndex
        let areHere = members.allSatisfy(isHere)
        if !areHere, let back {
            // Where the delete is taken back, this owner is asked again.
            for member in members where member.state.contains(.deleted) {
                let others = member.contents(back)
                others.noteStored(owner)
                others.notePartner(owner)
            }
        }
        let here = areHere ? rows : ArraySlice(zip(members, rows).filter { isHere($0.0) }.map(\.1))
        let vain = contents.realize(
            areHere ? members : members.filter(isHere),
            at: relationship.isOrdered ? here.map(\.position) : []
        )
        if let back { for member in vain { member.existingContents(back)?.takeBackRestatement(of: owner) } }
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
            vanish(object, .wrongEntity)
        }
        var state: ObjectState = [.registered, .fault]
        if row.isOwn { state.formUnion([.ownRow, .sharedRow]) }
        let object = Construction.make(scope, row, key: reference.key, state: state)
        scope.identity?.insert(object)
        if identityMap.retainsObjects { identityMap.retained.insert(object) }
        return object
    }

    /// Gives an object a row that is not its alone.
    func adopt(_ row: Row, _ object: NSManagedObject) {
        object.setRow(row)
        object.state.subtract([.unsavedRow, .validated, .outdated])
        if row.isOwn { object.state.insert(.sharedRow) } else { object.state.remove(.sharedRow) }
    }
}
