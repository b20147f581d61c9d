import Foundation

/// An object of an archive: its class and what is under its keys.
struct ArchivedObject {
    let archive: ArchiveReader
    let index: Int
    let className: String
    let keys: [String: PropertyListNode]

    func error(_ reason: String) -> ModelFormatError { ModelFormatError(.object(index), "\(className): \(reason)") }

    /// Errors without a place are about this object.
    private func here<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as ModelFormatError where error.place == nil {
            throw self.error(error.reason)
        }
    }

    private func wrong(_ key: String, _ found: PropertyListNode, _ wanted: String) -> ModelFormatError {
        error("\(key) is \(found.kind), not \(wanted)")
    }

    func value(_ key: String) throws -> PropertyListNode? { try here { try archive.value(keys[key]) } }
    func object(_ key: String) throws -> ArchivedObject? { try here { try archive.object(keys[key]) } }

    func text(_ key: String) throws -> String? { try text(keys[key], key) }

    func integer(_ key: String) throws -> Int? {
        switch try value(key) {
        case nil: return nil
        case .integer(let number)?: return Int(number)
        case .bool(let flag)?: return flag ? 1 : 0
        case .real(let number)? where Int(exactly: number) != nil: return Int(number)
        case let other?: throw wrong(key, other, "a whole number")
        }
    }

    /// False where the key is missing.
    func flag(_ key: String) throws -> Bool { try integer(key) ?? 0 != 0 }

    func data(_ key: String) throws -> Data? {
        guard let value = try value(key) else { return nil }
        if case .data(let bytes) = value { return Data(bytes) }
        guard let object = try object(key), object.className.hasSuffix("Data"), let bytes = try object.data("NS.data") else {
            throw wrong(key, value, "data")
        }
        return bytes
    }
}

/// Texts and collections.
extension ArchivedObject {
    /// A text, which may be an object of a class for texts.
    func text(_ node: PropertyListNode?, _ what: String) throws -> String? {
        guard let value = try here({ try archive.value(node) }) else { return nil }
        if case .string(let text) = value { return text }
        guard case .dictionary = value, let object = try here({ try archive.object(node) }),
            case .string(let text)? = object.keys["NS.string"]
        else { throw wrong(what, value, "a text") }
        return text
    }

    /// The elements of an array or a set; none for nil.
    func elements(_ key: String) throws -> [PropertyListNode] {
        guard let collection = try object(key) else { return [] }
        return try collection.list("NS.objects")
    }

    func objects(_ key: String) throws -> [ArchivedObject] {
        try elements(key).map { node in
            guard let object = try here({ try archive.object(node) }) else { throw error("\(key) contains nil") }
            return object
        }
    }

    func texts(_ key: String) throws -> [String] {
        try elements(key).map { node in
            guard let text = try text(node, "an element of \(key)") else { throw error("\(key) contains nil") }
            return text
        }
    }

    /// The entries of a dictionary in the order of their keys; none for nil.
    func entries(_ key: String) throws -> [(key: String, node: PropertyListNode)] {
        guard let dictionary = try object(key) else { return [] }
        let (keys, values) = try dictionary.pairs()
        guard keys.count == values.count else { throw dictionary.error("it has \(keys.count) keys but \(values.count) values") }
        let entries = try zip(keys, values).map { key, node in
            guard let key = try dictionary.text(key, "a key") else { throw dictionary.error("a key is nil") }
            return (key: key, node: node)
        }
        // NB: unset places hold a token of their own.
        let unset = dictionary.keys["emptyToken"]
        return entries.filter { $0.node != unset }.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// NB: a dictionary whose keys are known in advance has them in an object of their own.
    private func pairs() throws -> (keys: [PropertyListNode], values: [PropertyListNode]) {
        guard let mapping = try object("searchMapping") else { return (try list("NS.keys"), try list("NS.objects")) }
        return (try mapping.elements("keys"), try elements("values"))
    }

    func list(_ key: String) throws -> [PropertyListNode] {
        guard let node = keys[key] else { throw error("\(key) is missing") }
        guard case .array(let nodes) = node else { throw wrong(key, node, "an array") }
        return nodes
    }
}
