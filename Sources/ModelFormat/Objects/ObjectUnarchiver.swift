import Foundation

/// Reads objects of Foundation's value classes, and of the program's own, from keyed archives.
///
/// NB: `NSKeyedUnarchiver` on Linux stops the program for an archive that names an unknown class or whose objects refer to each other in a
/// circle. It is asked only for objects of the program's own classes, once their part of the archive is known to have neither.
package struct ObjectUnarchiver {
    static let deepest = 200

    private let archive: ArchiveReader
    /// The classes that an object, and an element of a collection, may be of; nil for any.
    private let allowed: [AnyClass]?
    /// What objects that were met before have become.
    private var known: [Int: Any] = [:]

    private init(_ archive: ArchiveReader, _ allowed: [AnyClass]?) {
        self.archive = archive
        self.allowed = allowed
    }

    /// The root object of an archive: Foundation's class for texts, numbers, dates, data, UUIDs, URLs and collections.
    ///
    /// - Throws: `ModelFormatError` for what is no such archive, or has an object of a class that is not allowed or not in this program.
    package static func object(in data: Data, allowed: [AnyClass]? = nil) throws -> Any {
        let archive = try ArchiveReader(data)
        var unarchiver = ObjectUnarchiver(archive, allowed)
        return try unarchiver.object(archive.rootNode(), depth: 0)
    }

    private mutating func object(_ node: PropertyListNode, depth: Int) throws -> Any {
        guard case .reference(let index) = node else { throw ModelFormatError(nil, "\(node.kind) stands where a reference should") }
        if let object = known[index] { return object }
        guard depth < Self.deepest else {
            throw ModelFormatError(.object(index), "collections are nested more than \(Self.deepest) levels deep, or contain themselves")
        }
        let object = try make(node, depth)
        try requireAllowed(object, index)
        known[index] = object
        return object
    }

    private mutating func make(_ node: PropertyListNode, _ depth: Int) throws -> Any {
        guard case .dictionary? = try archive.value(node), let object = try archive.object(node) else {
            return try Model.Value(node, in: archive).map(Self.scalar) ?? NSNull()
        }
        switch object.className {
        case "NSArray", "NSMutableArray": return try NSArray(array: elements(object, depth))
        case "NSSet", "NSMutableSet": return try NSSet(array: Self.hashable(elements(object, depth), object))
        case "NSOrderedSet", "NSMutableOrderedSet":
            return try NSOrderedSet(array: Self.hashable(numberedElements(object, depth), object))
        case "NSDictionary", "NSMutableDictionary": return try dictionary(object, depth)
        case "NSNull": return NSNull()
        default: return try Model.Value(node, in: archive).map(Self.scalar) ?? NSNull()
        }
    }

    static func scalar(_ value: Model.Value) throws -> Any {
        switch value {
        case .bool(let flag): NSNumber(value: flag)
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .string(let text): NSString(string: text)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): NSData(data: data)
        case .uuid(let uuid): NSUUID(uuidString: uuid.uuidString) ?? NSUUID()
        case .decimal(let number): NSDecimalNumber(decimal: number)
        // NB: not NSURL's own initialiser, which on Linux gives an object without a URL for a text that is none.
        case .uri(let text): try URL(string: text).orThrow("\"\(text)\" is no URL") as NSURL
        case .archived(let name, let data): try CustomObject.object(ofClass: name, in: data)
        case .array(let elements): NSArray(array: try elements.map(scalar))
        }
    }

    private func requireAllowed(_ object: Any, _ index: Int) throws {
        guard let allowed, !(object is NSNull) else { return }
        let isAllowed = allowed.contains { (object as? NSObject)?.isKind(of: $0) ?? (type(of: object) == $0) }
        if !isAllowed { throw ModelFormatError(.object(index), "class \(type(of: object)) is not among the classes that are allowed") }
    }
}

/// Collections.
extension ObjectUnarchiver {
    private mutating func elements(_ object: ArchivedObject, _ depth: Int) throws -> [Any] {
        try object.list("NS.objects").map { try self.object($0, depth: depth + 1) }
    }

    /// An ordered set has a key for each element.
    private mutating func numberedElements(_ object: ArchivedObject, _ depth: Int) throws -> [Any] {
        var elements: [Any] = []
        while let node = object.keys["NS.object.\(elements.count)"] { elements.append(try self.object(node, depth: depth + 1)) }
        return elements
    }

    private mutating func dictionary(_ object: ArchivedObject, _ depth: Int) throws -> NSDictionary {
        let keys = try Self.hashable(object.list("NS.keys").map { try self.object($0, depth: depth + 1) }, object)
        let values = try elements(object, depth)
        guard keys.count == values.count else { throw object.error("it has \(keys.count) keys but \(values.count) values") }
        let pairs = try zip(keys, values).map { key, value in
            (try (key as? AnyHashable).orThrow("a key of class \(type(of: key)) has no hash"), value)
        }
        return NSDictionary(dictionary: Dictionary(pairs) { first, _ in first })
    }

    /// NB: asking an `NSDecimalNumber` for its hash overflows the stack on Linux.
    private static func hashable(_ elements: [Any], _ object: ArchivedObject) throws -> [Any] {
        if elements.contains(where: { $0 is NSDecimalNumber }) { throw object.error("decimal numbers cannot be in a set or be keys") }
        return elements
    }
}

extension Optional {
    /// - Throws: `ModelFormatError` with a reason where there is nothing.
    func orThrow(_ reason: @autoclosure () -> String) throws -> Wrapped {
        guard let self else { throw ModelFormatError(nil, reason()) }
        return self
    }
}
