import CoreData
import Foundation

/// Objects by a key of their own: what every import asks for.
extension NSManagedObjectContext {
    /// The objects that have one of some values, by value. One statement, however many values there are.
    ///
    /// Unsaved objects count, of this context and of those above. A value that no object has is not in the result; where several objects have
    /// it, one of them is. Values are told apart as the store does: texts by their bytes. Nothing changes.
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
        try objects(attribute.name, Set(keys)) { $0[attribute] }
    }

    /// As `find(_:by:among:)`, by an attribute that may be nil: objects without a value are not found.
    public func find<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key?>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        try objects(attribute.name, Set(keys)) { $0[attribute] }
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
        let keys = Array(keys)
        return completed(try find(type, by: attribute, among: keys), keys) { $0[attribute] = $1 }
    }

    /// As the other one, by an attribute that may be nil.
    public func findOrCreate<Object: NSManagedObject, Key: ManagedValue & Hashable>(
        _ type: Object.Type,
        by attribute: NSManagedObject.Attribute<Key?>,
        among keys: some Sequence<Key>
    ) throws -> [Key: Object] {
        let keys = Array(keys)
        return completed(try find(type, by: attribute, among: keys), keys) { $0[attribute] = $1 }
    }

    private func objects<Object: NSManagedObject, Key: Hashable>(
        _ name: String,
        _ keys: Set<Key>,
        _ key: (Object) -> Key?
    ) throws -> [Key: Object] {
        guard !keys.isEmpty else { return [:] }
        let request = NSFetchRequest<Object>()
        request.predicate = NSPredicate(format: "%K IN %@", name, Array(keys))
        var found = [Key: Object](minimumCapacity: keys.count)
        for object in try fetch(request) {
            guard let key = key(object), found[key] == nil else { continue }
            found[key] = object
        }
        return found
    }

    private func completed<Object: NSManagedObject, Key: Hashable>(
        _ found: [Key: Object],
        _ keys: [Key],
        _ give: (Object, Key) -> Void
    ) -> [Key: Object] {
        var objects = found
        for key in keys where objects[key] == nil {
            let object = Object(context: self)
            give(object, key)
            objects[key] = object
        }
        return objects
    }
}
