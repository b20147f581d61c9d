import Foundation

/// Property lists as XML.
extension PropertyListNode {
    static func root(ofXML data: Data) throws -> PropertyListNode {
        let root = try XMLNode.root(of: data)
        guard root.name == "plist", let value = root.children.first, root.children.count == 1 else {
            throw root.error("the file is no property list")
        }
        return try PropertyListNode(value)
    }

    /// NB: a dictionary with the single key `CF$UID` is a reference of a keyed archive.
    private init(_ node: XMLNode) throws {
        switch node.name {
        case "string": self = .string(node.text)
        case "true", "false": self = .bool(node.name == "true")
        case "integer": self = .integer(try Self.number(node, Int64.init))
        case "real": self = .real(try Self.number(node, Double.init))
        case "date": self = .date(try Self.number(node, Self.seconds))
        case "data": self = .data(Array(try Self.number(node) { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }))
        case "array": self = .array(try node.children.map(Self.init))
        case "dict": self = Self.reference(in: try Self.entries(node))
        default: throw node.error("<\(node.name)> is no element of property lists")
        }
    }

    private static func number<Value>(_ node: XMLNode, _ read: (String) -> Value?) throws -> Value {
        guard let value = read(node.trimmedText) else { throw node.error("the content of <\(node.name)> cannot be read") }
        return value
    }

    private static func seconds(_ text: String) -> Double? {
        (try? Date(text, strategy: .iso8601)).map(\.timeIntervalSinceReferenceDate)
    }

    private static func entries(_ node: XMLNode) throws -> [String: PropertyListNode] {
        var entries: [String: PropertyListNode] = [:]
        for start in stride(from: 0, to: node.children.count, by: 2) {
            let key = node.children[start]
            guard key.name == "key", start + 1 < node.children.count else { throw key.error("a dictionary has no pairs of key and value") }
            entries[key.text] = try PropertyListNode(node.children[start + 1])
        }
        return entries
    }

    private static func reference(in entries: [String: PropertyListNode]) -> PropertyListNode {
        guard entries.count == 1, case .integer(let index)? = entries["CF$UID"] else { return .dictionary(entries) }
        return .reference(Int(truncatingIfNeeded: index))
    }
}
