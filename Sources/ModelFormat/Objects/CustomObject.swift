import Foundation

/// Objects of classes that encode themselves.
enum CustomObject {
    /// An archive with the object as its root.
    ///
    /// - Throws: `ModelFormatError` for an object that does not encode itself.
    static func data(of object: Any) throws -> Data {
        guard object is any NSCoding, isSafe(type(of: object) as? AnyClass ?? NSObject.self) else {
            throw ModelFormatError(nil, "a value of type \(type(of: object)) is no NSCoding object, or none that can be read again")
        }
        // NB: Foundation on Linux has no name for a class inside of another type, or a private one, and stops the program.
        let name = String(reflecting: type(of: object))
        guard name.count(where: { $0 == "." }) < 2 else {
            throw ModelFormatError(
                nil,
                "class \(name) is private or inside of another type, and has no name in an archive: make it neither"
            )
        }
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    }

    /// The root object of an archive of its own.
    ///
    /// - Throws: `ModelFormatError`: the archive names a class that is not in this program, has objects that refer to each other in a circle,
    ///   or cannot be read by the class.
    static func object(ofClass name: String, in data: Data) throws -> Any {
        let classes = try requireSound(ArchiveReader(data))
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        for (name, found): (String, AnyClass) in classes { unarchiver.setClass(found, forClassName: name) }
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        if let error = unarchiver.error { throw ModelFormatError(nil, "\(name): \(error.localizedDescription)") }
        return try object.orThrow("class \(name) cannot be read from the archive")
    }

    /// - Returns: the classes of the archive by name.
    private static func requireSound(_ archive: ArchiveReader) throws -> [String: AnyClass] {
        var classes: [String: AnyClass] = [:]
        for (index, node) in archive.objects.enumerated() {
            guard case .dictionary(let keys) = node, keys["$class"] != nil else { continue }
            let name = try archive.className(keys).orThrow("object \(index) has no class")
            if classes[name] == nil { classes[name] = try knownClass(name, index) }
            try archive.object(.reference(index)).map(requireShape)
        }
        var search = CircleSearch(archive.objects)
        try search.visit(1, depth: 0)
        return classes
    }

    /// NB: Foundation stops the program for a collection without elements, with nil among them, or with fewer values than keys.
    private static func requireShape(_ object: ArchivedObject) throws {
        switch object.className {
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet": _ = try elements(object, "NS.objects")
        case "NSDictionary", "NSMutableDictionary":
            let (keys, values) = (try elements(object, "NS.keys"), try elements(object, "NS.objects"))
            if keys.count != values.count { throw object.error("it has \(keys.count) keys but \(values.count) values") }
        case "NSURL", "NSUUID", "NSDate", "NSData", "NSMutableData", "NSString", "NSMutableString":
            _ = try ObjectUnarchiver.scalar(Model.Value(.reference(object.index), in: object.archive).orThrow("it is nil"))
        default: break
        }
    }

    private static func elements(_ object: ArchivedObject, _ key: String) throws -> [PropertyListNode] {
        let elements = try object.list(key)
        for element in elements {
            guard case .reference(let index) = element, index > 0 else { throw object.error("\(element.kind) is among its elements") }
        }
        return elements
    }

    private static func knownClass(_ name: String, _ index: Int) throws -> AnyClass {
        guard let found = named(name), found is any NSCoding.Type, isSafe(found) else {
            throw ModelFormatError(.object(index), "class \(name) is not in this program, or is none that can be read from an archive")
        }
        return found
    }

    /// The class that the program has told Foundation's unarchiver for a name, or has under it.
    private static func named(_ name: String) -> AnyClass? {
        NSKeyedUnarchiver.class(forClassName: name) ?? NamedClasses.ofRuntime(name) ?? NamedClasses.named(name)
    }

    /// NB: on Linux some of Foundation's classes stop the program for a damaged archive, so only those are read that are known not to.
    private static func isSafe(_ objectClass: AnyClass) -> Bool {
        let name = String(reflecting: objectClass)
        return !name.hasPrefix("Foundation.") || safeClasses.contains(String(name.dropFirst("Foundation.".count)))
    }

    private static let safeClasses: Set<String> = [
        "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet",
        "NSString", "NSMutableString", "NSNumber", "NSDate", "NSData", "NSMutableData", "NSURL", "NSUUID", "NSNull", "NSIndexSet",
        "NSMutableIndexSet", "NSAttributedString", "NSMutableAttributedString",
    ]
}

/// Looks for objects that refer to each other in a circle, and for references to nothing.
private struct CircleSearch {
    private let objects: [PropertyListNode]
    private var path: Set<Int> = []
    private var done: Set<Int> = [0]

    init(_ objects: [PropertyListNode]) { self.objects = objects }

    mutating func visit(_ index: Int, depth: Int) throws {
        if done.contains(index) { return }
        guard objects.indices.contains(index) else { throw ModelFormatError(nil, "object \(index) of \(objects.count) does not exist") }
        guard depth < ObjectUnarchiver.deepest, path.insert(index).inserted else {
            throw ModelFormatError(.object(index), "objects refer to each other in a circle, or in too long a chain")
        }
        try visit(objects[index], depth: depth)
        path.remove(index)
        done.insert(index)
    }

    private mutating func visit(_ node: PropertyListNode, depth: Int) throws {
        switch node {
        case .reference(let index): try visit(index, depth: depth + 1)
        case .array(let elements): for element in elements { try visit(element, depth: depth) }
        case .dictionary(let entries): for element in entries.values { try visit(element, depth: depth) }
        default: break
        }
    }
}
