import Foundation

/// The objects of a context with unsaved changes, by the value that they have for a key: a fetch for one value finds its objects among many
/// thousands without looking at the others.
///
/// A table is made when a fetch first asks for a key, and follows the changes when it is next asked. What it gives may have another value by now:
/// whoever asks tests the objects. None that has the value is missing.
final class PendingIndex {
    /// Which objects a table is about: those below a root entity, by an attribute.
    struct Key: Hashable {
        let root: Int
        let attribute: String
    }

    private final class Table {
        var objects: [UniqueValue: ContiguousArray<NSManagedObject>] = [:]
        /// Under which value an object stands; the others are out of date.
        var values: [ObjectIdentifier: UniqueValue?] = [:]
        /// How many of the tracker's objects are in.
        var count = 0
        /// How many of them a store may have.
        var storedCount = 0
    }

    private var tables: [Key: Table] = [:]
    /// Objects that have changed since they were put into a table.
    private var changed: ContiguousArray<NSManagedObject> = []
    /// How many objects fetches have tested: for tests of how much they cost.
    private(set) var evaluationCount = 0

    private static let tableLimit = 8
    private static let changeLimit = 1 << 16

    var isEmpty: Bool { tables.isEmpty }

    func noteEvaluations(_ count: Int) { evaluationCount += count }

    /// Objects left the tracker's list, or more than is worth following has changed.
    func removeAll() { if !tables.isEmpty { (tables, changed) = ([:], []) } }

    /// The values of an object may be others now.
    func noteChange(of object: NSManagedObject) {
        if tables.isEmpty { return }
        changed.append(object)
        if changed.count > Self.changeLimit { removeAll() }
    }

    func noteChanges(of objects: ContiguousArray<NSManagedObject>) {
        if !tables.isEmpty { objects.forEachBorrowed { noteChange(of: $0) } }
    }

    /// Those of `all` that may have the value, each once and in the order of their changes, with an upper limit of how many of all objects there a
    /// store may have.
    func objects(_ key: Key, _ value: UniqueValue, in all: ContiguousArray<NSManagedObject>) -> (found: [NSManagedObject], stored: Int) {
        followChanges()
        let table = table(key)
        while table.count < all.count {
            put(all[table.count], key, table)
            table.count += 1
        }
        var known: Set<ObjectIdentifier> = []
        let found = (table.objects[value] ?? []).filter { known.insert(ObjectIdentifier($0)).inserted }
        return (Array(found), table.storedCount)
    }

    private func table(_ key: Key) -> Table {
        if let table = tables[key] { return table }
        if tables.count == Self.tableLimit { tables = [:] }
        let table = Table()
        tables[key] = table
        return table
    }

    private func followChanges() {
        for object in changed {
            for (key, table) in tables where table.values[ObjectIdentifier(object)] != nil { put(object, key, table) }
        }
        changed.removeAll(keepingCapacity: changed.count < 64)
    }

    private func put(_ object: NSManagedObject, _ key: Key, _ table: Table) {
        guard object.withScope({ $0.root }) == key.root else { return }
        let (value, identity) = (value(of: object, key), ObjectIdentifier(object))
        if let known = table.values[identity] {
            if known == value { return }
        } else if object.key > 0 {
            table.storedCount += 1
        }
        table.values[identity] = .some(value)
        if let value { table.objects[value, default: []].append(object) }
    }

    /// Nil for what equals no value.
    private func value(of object: NSManagedObject, _ key: Key) -> UniqueValue? {
        guard !object.state.contains(.rowless), case .attribute(let slot, _)? = object.scope.shape.properties[key.attribute] else {
            return nil
        }
        return UniqueValue(object.currentRow.value(slot))
    }
}
