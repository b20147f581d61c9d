import CoreData
import Foundation

/// Objects by a key of their own: what every import asks for.
extension NSManagedObjectContext {
    /// The objects that have one of some values, by value. One statement, however many values there are.
    ///
    /// Unsaved objects count, of this context and of those above. A value that no object has is not in the result; where several objects have
    /// it, one of them is. A value is an object's where the store says so: texts are compared by their bytes, decimals and URLs as they are kept.
    /// Nothing changes.
    ///
    /// ```swift
    /// let teams = try context.find(Team.self, by: Team.Keys.name, among: rows.map(\.team))
    /// for (row, contact) in zip(rows, contacts) { contact.team = teams[row.team] }
    /// ```
    ///
    /// > Concurrency: on the context's queue.
    ///
    /// - Complexity: O(n) in the number of values, beside what SQLite needs: index the attribute, as a uniqueness constraint does.
    /// - Throws: a `CocoaError` where the store cannot be read.
    /// - Precondition: the entity has an attribute of that name, which is stored.
    public func find<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        try found(WantedKeys(keys, self.attribute(attribute.name, of: type))) { $0[attribute] }
    }

    /// As `find(_:by:among:)`, by an attribute that may be nil: objects without a value are not found.
    public func find<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key?>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        try found(WantedKeys(keys, self.attribute(attribute.name, of: type))) { $0[attribute] }
    }

    /// As `find(_:by:among:)`; for a value that no object has, a new object is inserted and given it, in the order of the values.
    ///
    /// Nothing is saved. Two contexts that do this at once may both insert the same value: a uniqueness constraint, and a merge policy by
    /// property, make one object of them when they are saved.
    ///
    /// ```swift
    /// let contacts = try context.findOrCreate(Contact.self, by: Contact.Keys.email, among: rows.map(\.email))
    /// for row in rows { contacts[row.email]?.name = row.name }
    /// ```
    ///
    /// - Returns: an object for each value, which belongs to this context.
    /// - Throws: as `find(_:by:among:)`; nothing has been inserted then.
    /// - Precondition: also, the type's entity is not abstract.
    public func findOrCreate<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        let keys = WantedKeys(keys, self.attribute(attribute.name, of: type))
        return completed(try found(keys) { $0[attribute] }, keys) { $0[attribute] = $1 }
    }

    /// As the other one, by an attribute that may be nil.
    public func findOrCreate<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key?>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        let keys = WantedKeys(keys, self.attribute(attribute.name, of: type))
        return completed(try found(keys) { $0[attribute] }, keys) { $0[attribute] = $1 }
    }

    private func found<Object: NSManagedObject, Key>(_ keys: WantedKeys<Key>, _ key: (Object) -> Key?) throws -> [Key: Object] {
        guard !keys.pairs.isEmpty else { return [:] }
        let request = NSFetchRequest<Object>()
        request.predicate = NSPredicate(format: "%K IN %@", keys.attribute.name, keys.distinct)
        var byStored: [StoredKey: Object] = [:]
        for object in try fetch(request) {
            guard let stored = key(object).flatMap({ StoredKey($0, of: keys.attribute) }), byStored[stored] == nil else { continue }
            byStored[stored] = object
        }
        var found: [Key: Object] = [:]
        for (key, stored) in keys.pairs where found[key] == nil { found[key] = stored.flatMap { byStored[$0] } }
        return found
    }

    private func completed<Object: NSManagedObject, Key>(
        _ found: [Key: Object],
        _ keys: WantedKeys<Key>,
        _ give: (Object, Key) -> Void
    ) -> [Key: Object] {
        var objects = found
        var made: [StoredKey: Object] = [:]
        for (key, stored) in keys.pairs where objects[key] == nil {
            if let object = stored.flatMap({ made[$0] }) {
                objects[key] = object
                continue
            }
            let object = Object(context: self)
            give(object, key)
            objects[key] = object
            if let stored { made[stored] = object }
        }
        return objects
    }
}

/// The values to look for, in order, each with what the store makes of it.
private struct WantedKeys<Key: ManagedValue & Hashable> {
    let attribute: NSAttributeDescription
    let pairs: [(key: Key, stored: StoredKey?)]

    init(_ keys: some Sequence<Key>, _ attribute: NSAttributeDescription) {
        self.attribute = attribute
        pairs = keys.map { ($0, StoredKey($0, of: attribute)) }
    }

    /// Those that the store tells apart, each once.
    var distinct: [Key] {
        var known: Set<StoredKey> = []
        return pairs.compactMap { key, stored in stored.flatMap { known.insert($0).inserted ? key : nil } }
    }
}
