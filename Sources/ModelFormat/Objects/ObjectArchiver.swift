import Foundation

/// Writes objects as keyed archives with the class names and keys of Apple's Foundation. Equal dictionaries and sets of scalars have the same archive,
/// in whatever order memory holds them.
///
/// NB: `NSKeyedArchiver` on Linux overflows the stack on an `NSDecimalNumber`. It is asked only for objects of the program's own classes.
package struct ObjectArchiver {
    private var archive = KeyedArchive()

    /// An archive with the value as its root: a text, number, date, UUID, URL, data, a collection of these, or an object that is `NSCoding`.
    ///
    /// - Throws: `ModelFormatError` that names the type of a value that is none of these.
    package static func data(of value: Any) throws -> Data {
        var archiver = ObjectArchiver()
        let root = try archiver.node(value, depth: 0)
        return Data(archiver.archive.bytes(root: root))
    }

    private mutating func node(_ value: Any, depth: Int) throws -> PropertyListNode {
        guard depth < ObjectUnarchiver.deepest else {
            throw ModelFormatError(nil, "collections are nested too deep, or contain themselves")
        }
        if let scalar = Model.Value(scalar: value) { return try archive.value(scalar) }
        switch value {
        case is NSNull: return archive.object(["NSNull", "NSObject"], [:])
        case let list as [Any]: return archive.array(try list.map { try node($0, depth: depth + 1) })
        case let entries as [AnyHashable: Any]: return try dictionary(entries, depth)
        case let set as Set<AnyHashable>: return archive.set(try Self.ordered(set, by: \.self).map { try node($0.base, depth: depth + 1) })
        case let set as NSOrderedSet: return try orderedSet(set, depth)
        default: return try archive.value(.archived(className: "\(type(of: value))", CustomObject.data(of: value)))
        }
    }

    private mutating func dictionary(_ entries: [AnyHashable: Any], _ depth: Int) throws -> PropertyListNode {
        let nodes = try Self.ordered(entries, by: \.key).map {
            (key: try node($0.key.base, depth: depth + 1), value: try node($0.value, depth: depth + 1))
        }
        return archive.dictionary(nodes)
    }

    private static func ordered<Element>(_ elements: some Collection<Element>, by key: (Element) -> AnyHashable) -> [Element] {
        elements.map { ("\(key($0))", $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private mutating func orderedSet(_ set: NSOrderedSet, _ depth: Int) throws -> PropertyListNode {
        var keys: [String: PropertyListNode] = [:]
        for (index, element) in set.array.enumerated() { keys["NS.object.\(index)"] = try node(element, depth: depth + 1) }
        return archive.object(["NSOrderedSet", "NSObject"], keys)
    }
}
