import Foundation
import Predicates

/// Objects as predicates and sort descriptors see them.
extension NSManagedObject: KeyValueSource {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "self", "SELF": return self
        case "objectID": return objectID
        case "entity": return scope.entity
        default: break
        }
        guard scope.entity.propertiesByName[key] != nil || hasUnmodelledValue(forKey: key) else {
            throw CocoaError.coreData(
                .coreData,
                "Entity \(scope.entity.name ?? "?") has no property \"\(key)\", which a predicate or sort descriptor names."
            )
        }
        return value(forKey: key)
    }

    /// Whether a to-many relationship is met along the keys.
    public func leadsToCollection(_ keys: ArraySlice<String>) -> Bool {
        var entity = scope.entity
        for key in keys {
            guard let relationship = entity.propertiesByName[key] as? NSRelationshipDescription else { return false }
            if relationship.isToMany { return true }
            entity = relationship.destination
        }
        return false
    }

    /// The value at the end of a path of properties. What a to-many on the way gives is a collection of its kind: a set for a set, an ordered
    /// set for an ordered one, each value once and without nil; `@count` and the like work on them.
    ///
    /// - Precondition: the path leads along properties of the entities.
    public final func value(forKeyPath keyPath: String) -> Any? {
        KeyPathWalk.value(of: keyPath.split(separator: ".").map(String.init), in: self)
    }

    /// Sets the property at the end of a path of relationships, of every object that the path leads to. Nothing happens where one of the
    /// relationships is nil, or empty.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.firstIndex(of: ".") else { return setValue(value, forKey: keyPath) }
        let rest = String(keyPath[keyPath.index(after: dot)...])
        switch self.value(forKey: String(keyPath[..<dot])) {
        case let next as NSManagedObject: next.setValue(value, forKeyPath: rest)
        case let members as Set<NSManagedObject>: members.forEach { $0.setValue(value, forKeyPath: rest) }
        case let members as NSOrderedSet: for case let member as NSManagedObject in members { member.setValue(value, forKeyPath: rest) }
        case let objects as [NSManagedObject]: objects.forEach { $0.setValue(value, forKeyPath: rest) }
        default: break
        }
    }
}

extension NSManagedObject: RowIdentifying {
    var identity: RowIdentity { scope.foreignID?.identity ?? RowIdentity(rowReference, in: scope.ids(temporary: key < 0)) }
}

/// Key-value coding along a path, where a collection stays one. (In a predicate, all values of a path are one flat list.)
private enum KeyPathWalk {
    static func value(of keys: [String], in object: NSManagedObject) -> Any? {
        var value: Any = object
        for (index, key) in keys.enumerated() {
            if key.hasPrefix("@") { return evaluated(keys[index...], in: value) }
            guard let next = read(key, from: value) else { return nil }
            value = next
        }
        return value
    }

    private static func read(_ key: String, from whole: Any) -> Any? {
        switch whole {
        case let object as NSManagedObject: object.value(forKey: key)
        case let set as Set<AnyHashable>: self.set(set.lazy.compactMap { read(key, from: $0.base) })
        case let list as NSOrderedSet: orderedSet(list.array.compactMap { read(key, from: $0) })
        case let list as [Any]: list.map { read(key, from: $0) ?? NSNull() }
        default: evaluated([key], in: whole)
        }
    }

    private static func set(_ values: some Sequence<Any>) -> Any {
        var set: Set<AnyHashable> = []
        for value in values {
            // What has no hash of its own is an element by identity.
            guard let element = value as? AnyHashable else { return NSSet(array: Array(values)) }
            set.insert(element)
        }
        return set
    }

    // NB: Foundation's NSOrderedSet keeps repetitions in the array that it is made of.
    private static func orderedSet(_ values: [Any]) -> NSOrderedSet {
        var seen: Set<AnyHashable> = []
        return NSOrderedSet(array: values.filter { ($0 as? AnyHashable).map { seen.insert($0).inserted } ?? true })
    }

    /// Operators, and what a plain value is asked for.
    private static func evaluated(_ keys: ArraySlice<String>, in value: Any) -> Any? {
        NSExpression(forKeyPath: keys.joined(separator: ".")).expressionValue(with: value, context: nil)
    }
}
