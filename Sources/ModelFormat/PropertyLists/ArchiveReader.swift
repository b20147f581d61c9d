import Foundation

/// The objects of an `NSKeyedArchiver` archive, as values that refer to each other by number.
///
/// NB: `NSKeyedUnarchiver` on Linux overflows the stack where objects refer to each other in a circle, as entities and properties do.
struct ArchiveReader {
    let objects: [PropertyListNode]
    private let top: [String: PropertyListNode]

    /// - Throws: `ModelFormatError` for what is no keyed archive.
    init(_ data: Data) throws {
        guard case .dictionary(let list) = try PropertyListNode(data), case .array(let objects)? = list["$objects"],
            case .dictionary(let top)? = list["$top"]
        else { throw ModelFormatError(nil, "the property list is no keyed archive") }
        self.objects = objects
        self.top = top
    }

    /// The root object.
    func root() throws -> ArchivedObject { try object(rootNode()).orThrow("the archive has no root object") }

    func rootNode() throws -> PropertyListNode { try top["root"].orThrow("the archive has no root object") }

    /// The value that a node stands for; nil for nil.
    func value(_ node: PropertyListNode?) throws -> PropertyListNode? {
        guard let node else { return nil }
        guard case .reference(let index) = node else { return node }
        guard objects.indices.contains(index) else { throw ModelFormatError(nil, "object \(index) of \(objects.count) does not exist") }
        return index == 0 ? nil : objects[index]
    }

    /// The object that a node refers to; nil for nil.
    func object(_ node: PropertyListNode?) throws -> ArchivedObject? {
        guard let node, let value = try value(node) else { return nil }
        guard case .reference(let index) = node, case .dictionary(let keys) = value, let name = try className(keys) else {
            throw ModelFormatError(nil, "\(value.kind) stands where an object should")
        }
        return ArchivedObject(archive: self, index: index, className: name, keys: keys)
    }

    /// The class of an object with these keys; nil for a dictionary that is no object.
    func className(_ keys: [String: PropertyListNode]) throws -> String? {
        guard let node = keys["$class"], case .dictionary(let description)? = try value(node),
            case .string(let name)? = description["$classname"]
        else { return nil }
        return name
    }
}
