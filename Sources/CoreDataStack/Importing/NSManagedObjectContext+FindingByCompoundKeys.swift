import CoreData
import Foundation

/// Objects by several attributes together.
extension NSManagedObjectContext {
    /// As `find(_:by:among:)` for one attribute, by two that make a key together: objects by their keys, with one statement.
    ///
    /// ```swift
    /// let invoices = try context.find(Invoice.self, by: Invoice.Keys.source, Invoice.Keys.number, among: rows.map { CompoundKey2($0.source, $0.number) })
    /// ```
    ///
    /// > Concurrency: on the context's queue.
    ///
    /// - Complexity: O(n) in the number of keys, beside what SQLite needs: a uniqueness constraint over the attributes is the index for it.
    /// - Throws: as for one attribute.
    /// - Precondition: the entity has attributes of these names, which are stored.
    public func find<Object: NSManagedObject, First: ManagedValue & Hashable, Second: ManagedValue & Hashable>(
        _ type: Object.Type,
        by first: NSManagedObject.Attribute<First>,
        _ second: NSManagedObject.Attribute<Second>,
        among keys: some Sequence<CompoundKey2<First, Second>>
    ) throws -> [CompoundKey2<First, Second>: Object] {
        try find(keys, CompoundAttributes([first.name, second.name], of: type, self)) { CompoundKey2($0[first], $0[second]) }
    }

    /// As the other one, by three attributes.
    public func find<
        Object: NSManagedObject,
        First: ManagedValue & Hashable,
        Second: ManagedValue & Hashable,
        Third: ManagedValue & Hashable
    >(
        _ type: Object.Type,
        by first: NSManagedObject.Attribute<First>,
        _ second: NSManagedObject.Attribute<Second>,
        _ third: NSManagedObject.Attribute<Third>,
        among keys: some Sequence<CompoundKey3<First, Second, Third>>
    ) throws -> [CompoundKey3<First, Second, Third>: Object] {
        try find(keys, CompoundAttributes([first.name, second.name, third.name], of: type, self)) {
            CompoundKey3($0[first], $0[second], $0[third])
        }
    }

    /// As `findOrCreate(_:by:among:)` for one attribute, by two that make a key together.
    ///
    /// A key with a nil is no object's, so that an object is made for it.
    ///
    /// - Returns: an object for each key, which belongs to this context.
    /// - Throws: as `find(_:by:among:)`; nothing has been inserted then.
    /// - Precondition: also, the type's entity is not abstract.
    public func findOrCreate<Object: NSManagedObject, First: ManagedValue & Hashable, Second: ManagedValue & Hashable>(
        _ type: Object.Type,
        by first: NSManagedObject.Attribute<First>,
        _ second: NSManagedObject.Attribute<Second>,
        among keys: some Sequence<CompoundKey2<First, Second>>
    ) throws -> [CompoundKey2<First, Second>: Object] {
        let attributes = CompoundAttributes([first.name, second.name], of: type, self)
        return try findOrCreate(keys, attributes, { CompoundKey2($0[first], $0[second]) }) {
            ($0[first], $0[second]) = ($1.first, $1.second)
        }
    }

    /// As the other one, by three attributes.
    public func findOrCreate<
        Object: NSManagedObject,
        First: ManagedValue & Hashable,
        Second: ManagedValue & Hashable,
        Third: ManagedValue & Hashable
    >(
        _ type: Object.Type,
        by first: NSManagedObject.Attribute<First>,
        _ second: NSManagedObject.Attribute<Second>,
        _ third: NSManagedObject.Attribute<Third>,
        among keys: some Sequence<CompoundKey3<First, Second, Third>>
    ) throws -> [CompoundKey3<First, Second, Third>: Object] {
        let attributes = CompoundAttributes([first.name, second.name, third.name], of: type, self)
        return try findOrCreate(keys, attributes, { CompoundKey3($0[first], $0[second], $0[third]) }) {
            ($0[first], $0[second], $0[third]) = ($1.first, $1.second, $1.third)
        }
    }

    private func find<Object: NSManagedObject, Key: KeyOfParts>(
        _ keys: some Sequence<Key>,
        _ attributes: CompoundAttributes,
        _ key: (Object) -> Key
    ) throws -> [Key: Object] {
        try found(attributes.wanted(keys), where: attributes.areOne) { attributes.stored(key($0)) }
    }

    private func findOrCreate<Object: NSManagedObject, Key: KeyOfParts>(
        _ keys: some Sequence<Key>,
        _ attributes: CompoundAttributes,
        _ key: (Object) -> Key,
        _ give: (Object, Key) -> Void
    ) throws -> [Key: Object] {
        let wanted = try attributes.wanted(keys)
        let found: [Key: Object] = try found(wanted, where: attributes.areOne) { attributes.stored(key($0)) }
        return completed(found, wanted, give)
    }
}

/// The attributes of a compound key, as the model has them.
private struct CompoundAttributes {
    private let attributes: [NSAttributeDescription]

    init(_ names: [String], of type: NSManagedObject.Type, _ context: NSManagedObjectContext) {
        attributes = names.map { context.attribute($0, of: type) }
    }

    func wanted<Key: KeyOfParts>(_ keys: some Sequence<Key>) throws -> WantedKeys<Key, [StoredKey]> {
        try WantedKeys(keys, attributes.map(\.lookUpName).joined(separator: ", "), stored)
    }

    /// Nil where a part is nil.
    func stored(_ key: some KeyOfParts) -> [StoredKey]? {
        var stored: [StoredKey] = []
        for (part, attribute) in zip(key.parts, attributes) {
            guard let value = StoredKey(part, of: attribute) else { return nil }
            stored.append(value)
        }
        return stored
    }

    func areOne(of keys: [some KeyOfParts]) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: NSExpression(forAggregate: attributes.map { NSExpression(forKeyPath: $0.name) }),
            rightExpression: NSExpression(forConstantValue: keys.map { $0.parts.compactMap(\.asAny) }),
            modifier: .direct,
            type: .in,
            options: []
        )
    }
}
