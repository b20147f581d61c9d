import Foundation

/// The objects of a context with unsaved changes, by the value that they have for a key: a fetch for one value finds its objects among many
/// thousands without looking at the others.
///
/// A table is made when a fetch first asks for a key, and follows the changes when it is next asked. What it gives may have another value by now:
/// whoever asks tests the objects. None that has the value is missing.
final class PendingIndex {
    /// Which objects a table is about: those below a root entity, by an attribute or a to-one relationship.
    struct Key: Hashable {
        let root: Int
        let property: String
        /// For a relationship: which keys had been forwarded when the table was made. What leads to one that has got another key since stands
        /// elsewhere in a later table.
        let generation: Int?
    }

    private final class Table {
        var objects: [UniqueValue: ContiguousArray<NSManagedObject>] = [:]
        /// Under which value an object stands; the others are out of date.
        var values: [ObjectIdentifier: UniqueValue?] = [:]
        /// Faults of which nobody has read the row: they may have any value.
        var unread: [NSManagedObject] = []
        /// How many entries of `objects` are out of date.
        var staleCount = 0
        /// How many of the tracker's objects are in.
        var count = 0
        /// How many of them a store may have.
        var storedCount = 0

        func reserveCapacity(_ count: Int) {
            objects.reserveCapacity(count)
            values.reserveCapacity(count)
        }
    }

    private var tables: [Key: Table] = [:]
    /// The one that was asked last: mostly the next question is the same, about another value.
    private var latest: (key: Key, table: Table)?
    /// Objects that have changed since they were put into a table.
    private var changed: ContiguousArray<NSManagedObject> = []
    /// How many objects fetches have tested: for tests of how much they cost.
    private(set) var evaluationCount = 0

    typealias Found = ContiguousArray<NSManagedObject>

    private static let tableLimit = 8
    private static let changeLimit = 1 << 16

    var isEmpty: Bool { tables.isEmpty }
    /// How many places objects stand at, for tests of how much is kept.
    var entryCount: Int { tables.values.reduce(0) { $0 + $1.objects.values.reduce(0) { $0 + $1.count } } }

    func noteEvaluations(_ count: Int) { evaluationCount += count }

    /// Objects left the tracker's list, or more than is worth following has changed.
    func removeAll() { if !tables.isEmpty { (tables, latest, changed) = ([:], nil, []) } }

    /// Objects have got other keys: what leads to them stands under their old ones.
    func removeReferences() {
        guard tables.contains(where: { $0.key.generation != nil }) else { return }
        (tables, latest) = (tables.filter { $0.key.generation == nil }, nil)
    }

    /// The values of an object may be others now.
    func noteChange(of object: NSManagedObject) {
        if tables.isEmpty { return }
        changed.append(object)
        if changed.count > Self.changeLimit { removeAll() }
    }

    func noteChanges(of objects: ContiguousArray<NSManagedObject>) {
        if !tables.isEmpty { objects.forEachBorrowed { noteChange(of: $0) } }
    }

    /// Those of `all` that may have one of the values, each once, and those of one value in the order of their changes; with an upper limit of how
    /// many of all objects there a store may have.
    func objects(_ key: Key, _ values: [UniqueValue], in all: ContiguousArray<NSManagedObject>) -> (found: Found, stored: Int) {
        followChanges()
        let table = table(key)
        if all.count - table.count > 64 { table.reserveCapacity(all.count) }
        while table.count < all.count {
            put(all[table.count], key, table)
            table.count += 1
        }
        putThoseRead(key, table)
        let objects = values.count == 1 ? table.objects[values[0]] ?? [] : ContiguousArray(values.flatMap { table.objects[$0] ?? [] })
        if table.unread.isEmpty, objects.count < 2 { return (objects, table.storedCount) }
        var known: Set<ObjectIdentifier> = []
        let found = (objects + table.unread).filter { known.insert(ObjectIdentifier($0)).inserted }
        return (ContiguousArray(found), table.storedCount)
    }

    private func putThoseRead(_ key: Key, _ table: Table) {
        let unread = table.unread
        if unread.isEmpty { return }
        table.unread = unread.filter { $0.state.contains(.rowless) }
        if table.unread.count < unread.count { for object in unread where !object.state.contains(.rowless) { put(object, key, table) } }
    }

    private func table(_ key: Key) -> Table {
        if let latest, latest.key == key { return latest.table }
        let table = tables[key] ?? makeTable(key)
        latest = (key, table)
        return table
    }

    private func makeTable(_ key: Key) -> Table {
        if tables.count == Self.tableLimit { tables = [:] }
        let table = Table()
        tables[key] = table
        return table
    }

    private func followChanges() {
        if changed.isEmpty { return }
        for object in changed {
            for (key, table) in tables where table.values[ObjectIdentifier(object)] != nil { put(object, key, table) }
        }
        changed.removeAll(keepingCapacity: changed.count < 64)
    }

    private func put(_ object: NSManagedObject, _ key: Key, _ table: Table) {
        guard object.withScope({ $0.root }) == key.root else { return }
        if object.state.contains(.rowless) { return putUnread(object, table) }
        let (value, identity) = (value(of: object, key), ObjectIdentifier(object))
        if let known = table.values[identity] {
            if known == value { return }
        } else if object.key > 0 {
            table.storedCount += 1
        }
        if case .some(.some) = table.values.updateValue(value, forKey: identity) { table.staleCount += 1 }
        if let value { table.objects[value, default: []].append(object) }
        if table.staleCount > table.values.count { removeStale(table) }
    }

    private func putUnread(_ object: NSManagedObject, _ table: Table) {
        if table.values.updateValue(nil, forKey: ObjectIdentifier(object)) == nil, object.key > 0 { table.storedCount += 1 }
        table.unread.append(object)
    }

    private func removeStale(_ table: Table) {
        for (value, objects) in table.objects {
            var known: Set<ObjectIdentifier> = []
            let current: ContiguousArray = objects.filter { object in
                table.values[ObjectIdentifier(object)] == value && known.insert(ObjectIdentifier(object)).inserted
            }
            table.objects[value] = current.isEmpty ? nil : current
        }
        table.staleCount = 0
    }

    /// Nil for what equals no value.
    private func value(of object: NSManagedObject, _ key: Key) -> UniqueValue? {
        switch object.withScope({ $0.shape.properties[key.property] }) {
        case .attribute(let slot, _)?: UniqueValue(object.currentRow.value(slot))
        case .toOne(let slot, _)?: object.forwardedReference(slot).flatMap { UniqueValue(.reference($0)) }
        default: nil
        }
    }
}
