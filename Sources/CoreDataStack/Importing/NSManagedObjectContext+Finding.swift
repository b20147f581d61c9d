import CoreData
import Foundation

/// Objects by a key of their own: what every import asks for.
extension NSManagedObjectContext {
    /// The objects that have one of some values, by value. One statement, however many values there are.
    ///
    /// Unsaved objects count, of this context and of those above. A value that no object has is not in the result; where several objects have
    /// it, one of them is. A value is an object's where the store says so: texts are compared by their bytes, decimals and URLs as they are kept.
    /// Two texts that are canonically equal are one key of a dictionary in Swift and two values in a store: who may be given both, from files of
    /// other systems for instance, brings them into one form first. Nothing changes.
    ///
    /// ```swift
    /// let teams = try context.find(Team.self, by: Team.Keys.name, among: rows.map(\.team))
    /// for (row, contact) in zip(rows, contacts) { contact.team = teams[row.team] }
    /// ```
    ///
    /// > Concurrency: on the context's queue.
    ///
    /// - Complexity: O(n) in the number of values, beside what SQLite needs: index the attribute, as a uniqueness constraint does.
    /// - Throws: a `CocoaError` where the store cannot be read; 134060 where two of the values are equal and a store tells them apart.
    /// - Precondition: the entity has an attribute of that name, which is stored.
    public func find<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        try found(try WantedKeys(keys, self.attribute(attribute.name, of: type))) { $0[attribute] }
    }

    /// As `find(_:by:among:)`, by an attribute that may be nil: objects without a value are not found.
    public func find<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key?>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        try found(try WantedKeys(keys, self.attribute(attribute.name, of: type))) { $0[attribute] }
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
        let keys = try WantedKeys(keys, self.attribute(attribute.name, of: type))
        return completed(try found(keys) { $0[attribute] }, keys) { $0[attribute] = $1 }
    }

    /// As the other one, by an attribute that may be nil.
    public func findOrCreate<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key?>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        let keys = try WantedKeys(keys, self.attribute(attribute.name, of: type))
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
        for (key, stored) in keys.pairs { found[key] = stored.flatMap { byStored[$0] } }
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

/// The values to look for, in order and each once, with what the store makes of them.
private struct WantedKeys<Key: ManagedValue & Hashable> {
    let attribute: NSAttributeDescription
    let pairs: [(key: Key, stored: StoredKey?)]

    /// - Throws: `CocoaError` 134060 for two that are one key of a dictionary, but not of a store.
    init(_ keys: some Sequence<Key>, _ attribute: NSAttributeDescription) throws {
        self.attribute = attribute
        var places: [Key: Int] = [:]
        var pairs: [(key: Key, stored: StoredKey?)] = []
        for key in keys {
            let stored = StoredKey(key, of: attribute)
            if let place = places[key] {
                guard pairs[place].stored == stored else { throw Self.ambiguity(pairs[place].key, key, attribute) }
            } else {
                places[key] = pairs.count
                pairs.append((key, stored))
            }
        }
        self.pairs = pairs
    }

    private static func ambiguity(_ first: Key, _ second: Key, _ attribute: NSAttributeDescription) -> CocoaError {
        func spelled(_ key: Key) -> String { "\(key)".unicodeScalars.map { $0.escaped(asASCII: true) }.joined() }
        let name = "\(attribute.entity.name ?? "?").\(attribute.name)"
        let why = """
            Objects are looked up by \(name) "\(spelled(first))" and "\(spelled(second))", which are equal in Swift, and which a store tells apart: \
            bring all values into one form first, such as precomposedStringWithCanonicalMapping.
            """
        return CocoaError(.coreData, userInfo: [NSLocalizedDescriptionKey: why])
    }

    /// Those that the store tells apart, each once.
    var distinct: [Key] {
        var known: Set<StoredKey> = []
        return pairs.compactMap { key, stored in stored.flatMap { known.insert($0).inserted ? key : nil } }
    }
}
