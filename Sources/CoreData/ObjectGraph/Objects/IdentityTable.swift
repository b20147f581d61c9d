import CShims
import Foundation

/// The live objects of one store and root entity in one context, by key.
///
/// Holds objects weakly: they take themselves out when they die, on whichever thread.
final class IdentityTable {
    // Guards the tables of all of a context's identity tables. Never held while an object is released: its deinit takes it.
    private let mutex: Mutex
    // NB: not checked for exclusive access: the mutex sees to it.
    @exclusivity(unchecked) private var permanent = PagedTable()
    @exclusivity(unchecked) private var temporary = PagedTable()
    /// Where the unsaved objects of the root entity are; nil for this table.
    private let unsaved: IdentityTable?
    /// Tells the store of the objects with permanent keys; nil where it does not want to know.
    private let use: UseReport?

    init(mutex: Mutex, unsaved: IdentityTable? = nil, use: UseReport? = nil) {
        self.mutex = mutex
        self.unsaved = unsaved
        self.use = use
    }

    deinit {
        permanent.deallocate()
        temporary.deallocate()
    }

    @inline(__always) private func find(_ key: Int64) -> UnsafeRawPointer? {
        if key > 0 { return permanent.find(key) }
        return unsaved == nil ? temporary.find(-key) : unsaved?.find(key)
    }

    @inline(__always) private func retained(_ entry: UnsafeRawPointer?) -> NSManagedObject? {
        // An entry is the address of a live object, or of one whose deinit waits for the lock and which cannot be retained any more.
        entry.flatMap { retainIfAlive($0) }
    }

    /// The live object of a key.
    func object(_ key: Int64) -> NSManagedObject? {
        mutex.lock()
        defer { mutex.unlock() }
        return retained(find(key))
    }

    /// Whether there is an entry for any of the rows.
    func lists(anyOf inserts: ContiguousArray<ChangeSet.Insert>) -> Bool {
        mutex.lock()
        defer { mutex.unlock() }
        return (permanent.count > 0 || (unsaved?.temporary ?? temporary).count > 0) && inserts.contains { find($0.key) != nil }
    }

    /// Whether there is an entry for a permanent key. Mutex held.
    func lists(_ key: Int64) -> Bool { permanent.find(key) != nil }

    /// Whether there is an entry for any temporary key. Mutex held.
    var listsTemporary: Bool { temporary.count > 0 }

    /// Appends the live object of each row of a batch, or nil.
    func objects(of batch: RowBatch, _ range: Range<Int>, into found: inout [NSManagedObject?]) {
        mutex.lock()
        for index in range { found.append(retained(find(EntityLayout.key(batch.row(index))))) }
        mutex.unlock()
    }

    @inline(__always) func insert(_ object: NSManagedObject) {
        mutex.lock()
        list(object)
        mutex.unlock()
        use?.begin(CollectionOfOne(object))
    }

    func insert(_ objects: ArraySlice<NSManagedObject>) {
        mutex.lock()
        objects.withUnsafeBufferPointer { $0.forEachBorrowed { list($0) } }
        mutex.unlock()
        use?.begin(objects)
    }

    func insert(_ objects: ContiguousArray<NSManagedObject>) {
        mutex.lock()
        objects.forEachBorrowed { list($0) }
        mutex.unlock()
        use?.begin(objects)
    }

    /// Takes the object out, if it is the one listed under its key.
    @inline(__always) func remove(_ object: NSManagedObject) {
        mutex.lock()
        let wasPermanent = unlist(object)
        mutex.unlock()
        if wasPermanent { use?.end(object) }
    }

    /// Takes out all objects that have permanent keys, for the context is going away, where the store wants to know that.
    func endUse() {
        guard let use else { return }
        let used = mutex.withLock {
            let used = objects(in: permanent)
            for object in used { unlist(object) }
            return used
        }
        use.end(used)
    }

    /// Gives objects of this table their keys in another, or here.
    func move(_ objects: ContiguousArray<NSManagedObject>, to scope: EntityScope, keys: ContiguousArray<Int64>) {
        if !IDSuccession.isUnused {
            for (object, key) in zip(objects, keys) where object.key != key {
                let reference = RowReference(key: key, entity: scope.entityIndex, store: scope.store)
                IDSuccession.noteSuccessor(of: object.key, RowIdentity(reference, in: scope.ids(temporary: false)))
            }
        }
        let target = scope.identity
        var next = keys.startIndex
        mutex.lock()
        objects.forEachBorrowed { object in
            let key = keys[next]
            next += 1
            if object.key == key { return }
            unlist(object)
            object.scope = scope
            object.key = key
            object.existingExtras?.objectID = nil
            target?.list(object)
        }
        mutex.unlock()
        target?.use?.begin(objects)
    }

    @inline(__always) private func list(_ object: NSManagedObject) {
        let pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        if object.key > 0 {
            permanent.insert(object.key, pointer)
        } else if unsaved == nil {
            temporary.insert(-object.key, pointer)
        } else {
            unsaved?.temporary.insert(-object.key, pointer)
        }
    }

    /// Whether the object was listed under a permanent key.
    @inline(__always) @discardableResult private func unlist(_ object: NSManagedObject) -> Bool {
        // Not retained: this runs in the object's deinit too.
        let pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        if object.key > 0 { return permanent.remove(object.key, ifValue: pointer) }
        if unsaved == nil {
            temporary.remove(-object.key, ifValue: pointer)
        } else {
            unsaved?.temporary.remove(-object.key, ifValue: pointer)
        }
        return false
    }

    /// Every live object.
    var objects: [NSManagedObject] { mutex.withLock { objects(in: permanent) + objects(in: temporary) } }

    /// The live objects without a permanent key, but for those that are in another table.
    var temporaryObjects: [NSManagedObject] { mutex.withLock { objects(in: temporary) } }

    private func objects(in table: PagedTable) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        table.forEach { if let object = retained($0) { objects.append(object) } }
        return objects
    }
}
