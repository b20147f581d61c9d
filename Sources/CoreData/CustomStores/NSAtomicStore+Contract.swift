import Foundation

extension NSAtomicStore: DatabaseBacked {
    var backing: (any RowStore)? { mirror.withLock { $0 }?.rows }
}

extension NSAtomicStore: RowStore, ClassStore {
    package var capabilities: StoreCapabilities {
        let basic: StoreCapabilities = [.constraints, .positions, .ownReferences, .durable]
        return Swift.type(of: self).migratesItself ? basic.union(.schemaMigration) : basic
    }

    package var location: StoreLocation { .document(url?.resolvingSymlinksInPath().absoluteString ?? "") }

    func begin(_ model: NSManagedObjectModel) throws {
        references?.releasePromises()
        try loadIdentified()
        // Only now: the identifier may be one that the class has read.
        let mirror = try StoreMirror(self, model: model)
        self.mirror.withLock { $0 = mirror }
        var nodes = NodeImport(self, model)
        try mirror.fill(nodes.all())
    }

    /// After a save that is on its way, which changes nodes; also where a hook of that save asks for it.
    package func close() {
        hooks.withLock {
            if isSaving { return closesAfterSave = true }
            noteRows()
            mirror.withLock { mirror in
                mirror?.rows.close()
                mirror = nil
            }
            nodes.removeAll()
        }
    }

    /// For who has rows of this store when another one takes its place. With `hooks` held.
    func noteRows() {
        mirror.withLock { mirror in
            if let mirror { home?.formerRows.withLock { $0 = FormerRows(of: self, in: mirror, after: $0) } }
        }
    }

    private func opened() throws -> StoreMirror {
        if let mirror = mirror.withLock({ $0 }) { return mirror }
        throw closed
    }

    private var closed: CocoaError {
        .removedStore("The store was removed from its coordinator; its objects cannot be read or saved any more.")
    }

    package func holds(_ entity: NSEntityDescription) -> Bool { mirror.withLock { $0 }?.rows.holds(entity) ?? false }

    package func fetch(_ query: FetchQuery, _ body: (RowRun) throws -> Void) throws -> FetchResidue? {
        try opened().rows.fetch(query, body)
    }
    package func references(_ query: FetchQuery) throws -> [RowReference]? { try opened().rows.references(query) }
    package func count(_ query: FetchQuery) throws -> Int? { try opened().rows.count(query) }
    package func values(_ query: DictionaryQuery) throws -> [[Any?]] { try opened().rows.values(query) }
    package func cachedRow(root: Int, key: Int64) -> Row? { mirror.withLock { $0 }?.rows.cachedRow(root: root, key: key) }
    package func row(for reference: RowReference) throws -> Row? { try opened().rows.row(for: reference) }
    package func rows(for references: [RowReference], root: NSEntityDescription) throws -> [Int64: Row] {
        try opened().rows.rows(for: references, root: root)
    }
    package func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow] {
        try opened().rows.relatedRows(relationship, owners: owners)
    }
    package func forgetRow(root: Int, key: Int64) { mirror.withLock { $0 }?.rows.forgetRow(root: root, key: key) }
    package func key(named text: String, of entity: NSEntityDescription) -> Int64? { referenceKey(named: text, of: entity) }

    package func reserveKeys(for rows: [Row], of entity: NSEntityDescription) throws -> [Int64] {
        guard let coordinator = persistentStoreCoordinator else { return [] }
        return try hooks.withLock {
            let keys = try opened().reserveKeys(rows.count, for: entity)
            let objects = StagedObjects(coordinator).objects(rows, keys, of: entity, store: number)
            for (key, object) in zip(keys, objects.made) {
                let bound = try bindReference(of: object, key)
                references?.promise(key, bound.reference, root: bound.root)
            }
            return keys
        }
    }

    package var hasUnwrittenMetadata: Bool { hasNewMetadata }

    /// The next save writes everything there.
    package func relocate(to place: URL) throws { hooks.withLock { url = place } }

    /// The nodes follow the changes, then `save()` writes them; `next` runs after that, since it is what can be taken back.
    ///
    /// The rows are published before anybody can close the store, who would note what was saved under the versions before.
    package func save(_ changes: StoreChanges, _ next: () throws -> Void) throws -> StoreReceipt {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { throw closed }
        return try hooks.withLock {
            if isSaving { refuseNestedSave() }
            isSaving = true
            defer { endSaving() }
            let (rows, update) = (try opened(), NodeUpdate(self, changes, model))
            // What others set from now on may be too late for what is written.
            var edit = metadataEdit
            do {
                let receipt = try rows.save(changes) { staged in
                    try writing { try update.run(staged) }
                    edit = MetadataEdit(number: edit.number, metadata: metadata)
                    try next()
                }
                receipt.publish()
                return StoreReceipt(insertedKeys: receipt.insertedKeys) { [self] in didWriteMetadata(edit) }
            } catch {
                update.revert(to: rows.rows)
                throw error
            }
        }
    }

    private func endSaving() {
        isSaving = false
        if closesAfterSave { close() }
    }

    private func writing(_ body: () throws -> Void) rethrows {
        isWriting = true
        defer { isWriting = false }
        try body()
    }

    /// What identifies a new object: what it was promised, or what the class says.
    ///
    /// - Throws: an error that names the class, where that is no reference object, or another object's.
    func bindReference(of object: NSManagedObject, _ key: Int64) throws -> BoundReference {
        let root = object.entity.rootEntity.name ?? ""
        guard let references else { throw closed }
        let before = references.reference(of: key, root: root)
        // NB: others may have saved an object under it, and the store was removed and added anew since: no save could write this one then.
        let reference = try before.flatMap { isFree($0, for: key, object.entity) ? $0 : nil } ?? newReference(for: object)
        guard isFree(reference, for: key, object.entity) else { throw taken(reference) }
        let former = references.known(reference, root: root)
        let wasPromised = references.isPromised(key, root: root)
        references.bind(key, to: reference, root: root)
        return BoundReference(
            root: root,
            key: key,
            reference: reference,
            former: former == key ? nil : former,
            before: before,
            wasPromised: wasPromised
        )
    }

    private func newReference(for object: NSManagedObject) throws -> ReferenceObject {
        let given = newReferenceObject(for: object)
        if let reference = ReferenceObject(given) { return reference }
        throw broken(
            "newReferenceObject(for:)",
            "has returned \(given), which is neither a text nor a whole number",
            .persistentStoreSave
        )
    }

    /// Whether no other object has it.
    private func isFree(_ reference: ReferenceObject, for key: Int64, _ entity: NSEntityDescription) -> Bool {
        guard let known = references?.known(reference, root: entity.rootEntity.name ?? ""), known != key else { return true }
        return !hasNode(known, entity)
    }

    private func taken(_ reference: ReferenceObject) -> CocoaError {
        broken("newReferenceObject(for:)", "has returned \(reference.name), which another object has", .persistentStoreSave)
    }

    private func hasNode(_ key: Int64, _ entity: NSEntityDescription) -> Bool {
        persistentStoreCoordinator.map { nodes[$0.id(of: key, entity.rootEntity, in: self).identity] != nil } ?? false
    }
}

/// What a key has come to stand for in a save, and which key had the reference object before.
struct BoundReference {
    let root: String
    let key: Int64
    let reference: ReferenceObject
    let former: Int64?
    /// What the key stood for before, and whether that was only promised.
    var before: ReferenceObject?
    var wasPromised = false

    func takeBack(from table: ReferenceTable) {
        table.unbind(key, root: root)
        if let former { table.bind(former, to: reference, root: root) }
        guard let before else { return }
        if wasPromised { table.promise(key, before, root: root) } else { table.bind(key, to: before, root: root) }
    }
}
