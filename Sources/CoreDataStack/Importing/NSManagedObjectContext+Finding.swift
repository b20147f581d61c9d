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
        let description = self.attribute(attribute.name, of: type)
        return try found(WantedKeys(keys, description), where: description.isOne) { StoredKey($0[attribute], of: description) }
    }

    /// As `find(_:by:among:)`, by an attribute that may be nil: objects without a value are not found.
    public func find<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key?>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        let description = self.attribute(attribute.name, of: type)
        return try found(WantedKeys(keys, description), where: description.isOne) { StoredKey($0[attribute], of: description) }
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
        let description = self.attribute(attribute.name, of: type)
        let keys = try WantedKeys(keys, description)
        let found: [Key: Object] = try found(keys, where: description.isOne) { StoredKey($0[attribute], of: description) }
        return completed(found, keys) { $0[attribute] = $1 }
    }

    /// As the other one, by an attribute that may be nil.
    public func findOrCreate<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key?>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        let description = self.attribute(attribute.name, of: type)
        let keys = try WantedKeys(keys, description)
        let found: [Key: Object] = try found(keys, where: description.isOne) { StoredKey($0[attribute], of: description) }
        return completed(found, keys) { $0[attribute] = $1 }
    }
}

extension WantedKeys where Key: ManagedValue, Stored == StoredKey {
    fileprivate init(_ keys: some Sequence<Key>, _ attribute: NSAttributeDescription) throws {
        try self.init(keys, attribute.lookUpName) { StoredKey($0, of: attribute) }
    }
}

extension NSAttributeDescription {
    fileprivate func isOne(of values: [some Any]) -> NSPredicate { NSPredicate(format: "%K IN %@", name, values) }

    /// `Contact.email`
    var lookUpName: String { "\(entity.name ?? "?").\(name)" }
}
