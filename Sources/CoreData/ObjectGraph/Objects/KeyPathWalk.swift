import Foundation

/// Key-value coding along a path, where a collection stays one. (In a predicate, all values of a path are one flat list.)
enum KeyPathWalk {
    /// What a path leads to.
    static func value(of keyPath: String, in whole: Any) -> Any? {
        let keys = keyPath.split(separator: ".").map(String.init)
        var value = whole
        for (index, key) in keys.enumerated() {
            if key.hasPrefix("@") { return evaluated(keys[index...], in: value) }
            guard let next = read(key, from: value) else { return nil }
            value = next
        }
        return value
    }

    /// The value of one key, which of a dictionary may have a dot in it.
    static func read(_ key: String, from whole: Any) -> Any? {
        switch whole {
        case let object as NSManagedObject: object.value(forKey: key)
        case let dictionary as NSDictionary: dictionary.object(forKey: key)
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
