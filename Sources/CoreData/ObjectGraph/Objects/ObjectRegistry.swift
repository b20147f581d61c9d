import CShims
import Foundation

/// The identity of one context's objects: (store, root entity, key) to the one live object.
///
/// Holds objects weakly; they take themselves out when they die, on whichever thread. Objects keep the registry alive, not the context, so
/// an object that outlives its context meets no freed memory: it finds `context` nil.
final class ObjectRegistry: @unchecked Sendable {
    private typealias Table = (permanent: PagedTable, temporary: PagedTable)

    // Guards the tables and the scopes. Never held while an object is released: its deinit takes it.
    private let mutex = Mutex()
    // Zeroed by the context's deinit before its memory goes; read on the context's queue only, while the context is alive.
    nonisolated(unsafe) private(set) unowned(unsafe) var context: NSManagedObjectContext?
    /// By store number, then by root entity.
    private var tables: [[Table?]] = []
    /// By store number, then by entity.
    private var scopes: [[EntityScope?]] = []
    private let entityCount: Int

    init(context: NSManagedObjectContext, model: NSManagedObjectModel) {
        self.context = context
        entityCount = model.entitiesInIndexOrder.count
    }

    deinit {
        for case let table? in tables.joined() {
            table.permanent.deallocate()
            table.temporary.deallocate()
        }
    }

    /// The context is going away: its objects are in no context from now on.
    func detachContext() { context = nil }

    /// The scope of an entity's objects in a store, made at first use.
    func scope(of entity: NSEntityDescription, store: Int32) -> EntityScope {
        let (row, column) = (Int(store), entity.index)
        if row < scopes.count, let scope = scopes[row][column] { return scope }
        while scopes.count <= row { scopes.append(Array(repeating: nil, count: entityCount)) }
        let scope = EntityScope(registry: self, store: store, shape: entity.shape)
        scopes[row][column] = scope
        mutex.withLock { prepareTable(row, scope.root) }
        return scope
    }

    private func prepareTable(_ store: Int, _ root: Int) {
        while tables.count <= store { tables.append(Array(repeating: nil, count: entityCount)) }
        if tables[store][root] == nil { tables[store][root] = (PagedTable(), PagedTable()) }
    }
}

extension ObjectRegistry {
    @inline(__always) private func find(_ store: Int, _ root: Int, _ key: Int64) -> UnsafeRawPointer? {
        guard store < tables.count else { return nil }
        return key > 0 ? tables[store][root]?.permanent.find(key) : tables[store][root]?.temporary.find(-key)
    }

    /// The live object of a key.
    func object(store: Int32, root: Int, key: Int64) -> NSManagedObject? {
        mutex.withLock { retained(find(Int(store), root, key)) }
    }

    @inline(__always) private func retained(_ entry: UnsafeRawPointer?) -> NSManagedObject? {
        guard let entry, cd_tryRetain(entry) != nil else { return nil }
        return Unmanaged<NSManagedObject>.fromOpaque(entry).takeRetainedValue()
    }

    /// Lists an object under its scope and key.
    func insert(_ object: NSManagedObject) {
        mutex.lock()
        list(object)
        mutex.unlock()
    }

    @inline(__always) private func list(_ object: NSManagedObject) {
        let pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        let (store, root, key) = (Int(object.scope.store), object.scope.root, object.key)
        if key > 0 { tables[store][root]?.permanent.insert(key, pointer) } else { tables[store][root]?.temporary.insert(-key, pointer) }
    }

    /// Takes an object out, if it is the one listed under its scope and key.
    func remove(_ object: NSManagedObject) {
        mutex.lock()
        unlist(object)
        mutex.unlock()
    }

    @inline(__always) private func unlist(_ object: NSManagedObject) {
        // Not retained: this runs in the object's deinit too.
        let pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        let (store, root, key) = (Int(object.scope.store), object.scope.root, object.key)
        if key > 0 {
            tables[store][root]?.permanent.remove(key, ifValue: pointer)
        } else {
            tables[store][root]?.temporary.remove(-key, ifValue: pointer)
        }
    }

    /// The live objects of rows of one scope, nil where there is none.
    func objects(in scope: EntityScope, keys: Range<Int>, _ key: (Int) -> Int64, into found: inout [NSManagedObject?]) {
        mutex.lock()
        for index in keys { found.append(retained(find(Int(scope.store), scope.root, key(index)))) }
        mutex.unlock()
    }

    /// Lists new objects of one scope.
    func insert(_ objects: ArraySlice<NSManagedObject>) {
        mutex.lock()
        for object in objects { list(object) }
        mutex.unlock()
    }

    /// Gives objects of one entity their keys in a store.
    func rename(_ objects: ContiguousArray<NSManagedObject>, to scope: EntityScope, keys: ContiguousArray<Int64>) {
        mutex.lock()
        for (object, key) in zip(objects, keys) where object.key != key {
            unlist(object)
            object.scope = scope
            object.key = key
            object.existingExtras?.objectID = nil
            list(object)
        }
        mutex.unlock()
    }

    /// Every live object.
    var objects: [NSManagedObject] {
        mutex.withLock {
            var objects: [NSManagedObject] = []
            for case let table? in tables.joined() {
                table.permanent.forEach { if let object = retained($0) { objects.append(object) } }
                table.temporary.forEach { if let object = retained($0) { objects.append(object) } }
            }
            return objects
        }
    }
}
