import Foundation

extension NSIncrementalStore: RowStore, ClassStore {
    package var capabilities: StoreCapabilities { [.ownReferences, .rowsOnDemand, .durable, .ownRequests] }

    package var location: StoreLocation { .foreign(url?.absoluteString ?? "\(ObjectIdentifier(self))") }

    func begin(_ model: NSManagedObjectModel) throws {
        rowsAtHand.withLock { $0 = RowCache(entityCount: model.entitiesInIndexOrder.count) }
    }

    package func close() {
        let cache = rowsAtHand.withLock { cache in
            defer { cache = nil }
            return cache
        }
        cache?.forgetAll()
    }

    package func holds(_ entity: NSEntityDescription) -> Bool {
        guard let model = persistentStoreCoordinator?.managedObjectModel, !entity.isAbstract else { return false }
        return model.entities(forConfigurationName: explicitConfigurationName)?.contains { $0.name == entity.name } ?? false
    }

    private func reading() throws -> NodeReading { NodeReading(try HookCall(of: self)) }

    var closed: CocoaError {
        .removedStore("The store was removed from its coordinator; its objects cannot be read or saved any more.")
    }

    package func fetch(_ query: FetchQuery, _ body: (RowRun) throws -> Void) throws -> FetchResidue? {
        let (reading, ordersObjects) = (try reading(), query.ordersObjects)
        for reference in try reading.references(ordersObjects ? query.whole : query) {
            if let run = try reading.run(of: reference) { try body(run) }
        }
        return ordersObjects ? FetchResidue(sorts: true, windows: true) : nil
    }

    package func references(_ query: FetchQuery) throws -> [RowReference]? {
        query.ordersObjects ? nil : try reading().references(query)
    }
    package func count(_ query: FetchQuery) throws -> Int? { try reading().count(query) }
    package func values(_ query: DictionaryQuery) throws -> [[Any?]] { try reading().values(query) }
    package func cachedRow(root: Int, key: Int64) -> Row? { rowsAtHand.withLock { $0 }?.row(root: root, key: key) }
    package func row(for reference: RowReference) throws -> Row? { try reading().row(for: reference) }

    package func rows(for references: [RowReference], root: NSEntityDescription) throws -> [Int64: Row] {
        let reading = try reading()
        var rows: [Int64: Row] = [:]
        for reference in references { rows[reference.key] = try reading.row(for: reference) }
        return rows
    }

    package func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow] {
        let reading = try reading()
        return try owners.flatMap { try reading.relatedRows(relationship, of: $0) }
    }

    package func forgetRow(root: Int, key: Int64) { rowsAtHand.withLock { $0 }?.forget(root: root, key: key) }

    package func key(named text: String, of entity: NSEntityDescription) -> Int64? { referenceKey(named: text, of: entity) }

    package func reserveKeys(for rows: [Row], of entity: NSEntityDescription) throws -> [Int64] {
        let call = try HookCall(of: self)
        let staged = StagedObjects(call.coordinator)
        let keys = rows.map { _ in staged.context.identityMap.nextTemporaryKey() }
        return try withExtendedLifetime(call) { try permanentKeys(for: staged.objects(rows, keys, of: entity, store: number).made) }
    }

    /// Asks the class for IDs.
    ///
    /// - Parameter deleted: the keys of objects that go in the same save, by root entity. A new object may have the reference object of one of
    ///   them, whose key comes back then.
    func permanentKeys(for objects: [NSManagedObject], instead deleted: [Int: Set<Int64>] = [:]) throws -> [Int64] {
        guard !objects.isEmpty else { return [] }
        let former = references?.lastKeys ?? [:]
        let ids = try hooks.withLock { try obtainPermanentIDs(for: objects) }
        let method = "obtainPermanentIDs(for:)"
        guard ids.count == objects.count else {
            throw broken(method, "has returned \(ids.count) IDs for \(objects.count) objects", .persistentStoreSave)
        }
        for (id, object) in zip(ids, objects) where !isOwn(id) || id.entity.name != object.entity.name {
            throw broken(method, "has returned \(id) for an object of entity \(object.entity.name ?? "?")", .persistentStoreSave)
        }
        guard Set(ids).count == ids.count else { throw broken(method, "has returned the same ID for two objects", .persistentStoreSave) }
        func isFreed(_ id: NSManagedObjectID) -> Bool { deleted[id.entity.rootEntity.index]?.contains(id.identity.key) == true }
        if let id = try ids.first(where: { try !isFreed($0) && isTaken($0, former) }) {
            throw broken(method, "has returned \(id) for a new object, which is the ID of another one", .persistentStoreSave)
        }
        return ids.map(\.identity.key)
    }

    /// Whether an ID is of an object that there is. One that nobody has met before is taken for new; the class is asked about others.
    private func isTaken(_ id: NSManagedObjectID, _ former: [String: Int64]) throws -> Bool {
        let (root, key) = (id.entity.rootEntity, id.identity.key)
        if cachedRow(root: root.index, key: key) != nil { return true }
        guard key <= former[root.name ?? ""] ?? 0 else { return false }
        return try reading().row(for: RowReference(key: key, entity: Int32(id.entity.index), store: number)) != nil
    }

    /// Whether an ID is of an object of this store.
    func isOwn(_ id: NSManagedObjectID) -> Bool { id.identity.key > 0 && id.identity.space.home?.identifier == knownIdentifier }

    package var hasUnwrittenMetadata: Bool { hasNewMetadata }

    package func turnToSave() throws -> SaveTurn? { try SaveTurn(turns, of: self) }

    /// Everything else of the coordinator's save has been written when the class is asked: it cannot take back what it has done.
    package func save(_ changes: StoreChanges, _ next: () throws -> Void) throws -> StoreReceipt {
        let call = try HookCall(of: self)
        // What others set from now on may be too late for what is written.
        let edit = metadataEdit
        let save = ObjectSave(changes, call)
        do {
            try save.prepare()
            try next()
            try save.execute()
        } catch {
            save.takeBackReferences()
            throw error
        }
        let written = MetadataEdit(number: edit.number, metadata: metadata)
        let number = saves.next()
        return StoreReceipt(insertedKeys: save.insertedKeys) { [self] in
            saves.publish(number) { save.publish(isOvertaken: $0) }
            didWriteMetadata(written)
            changes.turn?.end()
        }
    }
}
