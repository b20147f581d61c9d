import Foundation

/// Objects of classes that encode themselves.
enum CustomObject {
    /// An archive with the object as its root.
    ///
    /// - Throws: `ModelFormatError` for an object that does not encode itself.
    static func data(of object: Any) throws -> Data {
        guard object is any NSCoding else {
            throw ModelFormatError(nil, "a value of type \(type(of: object)) is no NSCoding object, so it cannot be archived")
        }
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    }

    /// The root object of an archive of its own.
    ///
    /// - Throws: `ModelFormatError`: the archive names a class that is not in this program, has objects that refer to each other in a circle,
    ///   or cannot be read by the class.
    static func object(ofClass name: String, in data: Data) throws -> Any {
        try requireSound(ArchiveReader(data))
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        if let error = unarchiver.error { throw ModelFormatError(nil, "\(name): \(error.localizedDescription)") }
        return try object.orThrow("class \(name) cannot be read from the archive")
    }

    private static func requireSound(_ archive: ArchiveReader) throws {
        for (index, node) in archive.objects.enumerated() {
            guard case .dictionary(let keys) = node, keys["$class"] != nil else { continue }
            try requireKnownClass(try archive.className(keys).orThrow("object \(index) has no class"), index)
        }
        var search = CircleSearch(archive.objects)
        try search.visit(1, depth: 0)
    }

    private static func requireKnownClass(_ name: String, _ index: Int) throws {
        // NB: a name that Foundation takes for a mangled one makes it stop the program.
        let isName = !name.isEmpty && name.unicodeScalars.allSatisfy { $0 == "_" || $0 == "." || $0.properties.isAlphabetic || $0.isDigit }
        guard isName, NSClassFromString(name) is any NSCoding.Type else {
            throw ModelFormatError(.object(index), "class \(name) is not in this program, or is no NSCoding class")
        }
    }
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

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
