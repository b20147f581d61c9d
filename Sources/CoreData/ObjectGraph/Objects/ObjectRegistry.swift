import Foundation

/// The identity of one context's objects: (store, root entity, key) to the one live object.
///
/// Objects keep their scope, and with it the registry, alive, not the context: an object that outlives its context meets no freed memory,
/// it finds `context` nil.
final class ObjectRegistry: @unchecked Sendable {
    // Sendable: what other threads touch, when objects die there, is in the identity tables, behind their mutex.
    private let mutex = Mutex()
    // Zeroed by the context's deinit before its memory goes; read on the context's queue only, while the context is alive.
    nonisolated(unsafe) private(set) unowned(unsafe) var context: NSManagedObjectContext?
    /// By store number, then by root entity. Changed under the mutex too, for whoever asks from elsewhere.
    @exclusivity(unchecked) private var tables: [[IdentityTable?]] = []
    /// By store number, then by entity.
    @exclusivity(unchecked) private var scopes: [[EntityScope?]] = []
    private let entityCount: Int
    private let model: NSManagedObjectModel
    /// What children look at before they use what they have read.
    @exclusivity(unchecked) var changes = ChangeCount()
    /// Nil for a context on a coordinator.
    @exclusivity(unchecked) var changesAbove: ChangesAbove?
    /// Whether stores are told of the context's objects; not of those that only a store's class is shown.
    @exclusivity(unchecked) var tellsStores = true
    /// Whether objects are told that they were fetched. Those that no program works with show what their rows say, and what the class of an object
    /// would make of that is nothing to be saved. To be set before there are any.
    @exclusivity(unchecked) var awakensObjects = true
    /// Objects for IDs that mean nothing in the context.
    private var foreignObjects: IdentityTable?
    /// Whether any of the context's objects may refer to others.
    private(set) var hasRelationships = false
    /// The hooks around a save that any class of the context's objects overrides.
    private(set) var saveHooks: SaveHooks = []

    init(context: NSManagedObjectContext, model: NSManagedObjectModel) {
        self.context = context
        self.model = model
        entityCount = model.entitiesInIndexOrder.count
    }

    /// The context is going away: its objects are in no context from now on.
    func detachContext() { context = nil }

    /// Whether the context has had no object yet.
    var isUnused: Bool { scopes.isEmpty }

    /// The scope of an entity's objects in a store, made at first use.
    func scope(of entity: NSEntityDescription, store: Int32) -> EntityScope {
        let (row, column) = (Int(store), entity.index)
        if row < scopes.count, let scope = scopes[row][column] { return scope }
        while scopes.count <= row {
            scopes.append(Array(repeating: nil, count: entityCount))
            mutex.withLock { tables.append(Array(repeating: nil, count: entityCount)) }
        }
        let scope = EntityScope(
            registry: self,
            identity: table(row, root: entity.rootEntity.index),
            store: store,
            shape: entity.shape,
            permanentIDs: store == 0 ? nil : context?.persistentStoreCoordinator?.ids(of: entity, inStoreNumbered: store)
        )
        scopes[row][column] = scope
        saveHooks.formUnion(scope.saveHooks)
        hasRelationships = hasRelationships || !scope.shape.layout.referenceSlots.isEmpty || !scope.shape.toManys.isEmpty
        return scope
    }

    /// The table of a root entity's objects in a store. Unsaved ones are in that of store 0, whichever store they were assigned to.
    private func table(_ store: Int, root: Int) -> IdentityTable {
        if let table = tables[store][root] { return table }
        let table = IdentityTable(mutex: mutex, unsaved: store == 0 ? nil : self.table(0, root: root), use: use(of: store))
        mutex.withLock { tables[store][root] = table }
        return table
    }

    private func use(of store: Int) -> UseReport? {
        tellsStores && store > 0 ? UseReport(context?.persistentStoreCoordinator?.store(numbered: Int32(store))) : nil
    }

    /// The scope of an object whose ID means nothing in the context.
    func foreignScope(_ id: NSManagedObjectID, entity: NSEntityDescription, isOfModel: Bool) -> EntityScope {
        let table = foreignObjects ?? IdentityTable(mutex: mutex)
        foreignObjects = table
        return EntityScope(
            registry: self,
            identity: table,
            store: 0,
            shape: entity.shape,
            foreignID: id,
            isOfModel: isOfModel
        )
    }

    /// The scope of an entity, of this or another model, where it is one that has been made.
    func knownScope(of entity: NSEntityDescription, store: Int32) -> EntityScope? {
        guard Int(store) < scopes.count, let index = entity.facts?.index, index < entityCount else { return nil }
        return scopes[Int(store)][index].flatMap { $0.entity === entity ? $0 : nil }
    }

    /// The scope of a reference's entity and store, where it has been made.
    func knownScope(_ reference: RowReference) -> EntityScope? {
        // NB: a number that is negative, or another coordinator's, is too large.
        guard UInt32(bitPattern: reference.store) < scopes.count, UInt32(bitPattern: reference.entity) < entityCount else { return nil }
        return scopes[Int(reference.store)][Int(reference.entity)]
    }

    /// The live object of a key.
    func object(store: Int32, root: Int, key: Int64) -> NSManagedObject? {
        let store = key < 0 ? 0 : Int(store)
        guard store < tables.count else { return nil }
        return tables[store][root]?.object(key)
    }

    /// Whether there may be an object of any of the references. May be asked for anywhere.
    func mayHold(anyOf references: [RowReference]) -> Bool {
        mutex.withLock {
            references.contains { reference in
                guard reference.key > 0, Int(reference.store) < tables.count else { return reference.key <= 0 }
                let root = model.entitiesInIndexOrder[Int(reference.entity)].rootEntity.index
                // One with a temporary key may be about to get the permanent one.
                return tables[0][root]?.listsTemporary == true || tables[Int(reference.store)][root]?.lists(reference.key) == true
            }
        }
    }

    /// The live object for an ID that means nothing in the context.
    func foreignObject(_ key: Int64) -> NSManagedObject? { foreignObjects?.object(key) }

    /// The live object of a temporary key, of whichever entity.
    func unsavedObject(_ key: Int64) -> NSManagedObject? {
        foreignObjects?.object(key) ?? tables.first?.lazy.compactMap { $0?.object(key) }.first
    }

    /// The live objects that have no permanent key.
    var temporaryObjects: [NSManagedObject] { tables.joined().compactMap { $0 }.flatMap(\.temporaryObjects) }

    /// Every live object.
    var objects: [NSManagedObject] { tables.joined().compactMap { $0 }.flatMap(\.objects) + (foreignObjects?.objects ?? []) }

    /// Ends the circle of scopes and registry; called when the context is gone.
    func dissolve() {
        for table in tables.joined() { table?.endUse() }
        scopes = []
        mutex.withLock { tables = [] }
    }
}
