import ModelFormat

/// Names as Swift source spells them.
enum SwiftNames {
    /// A name that may be a keyword.
    static func quoted(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// A name among a type's members, where `X.Type` and `X.Protocol` are types.
    static func member(_ name: String) -> String { ["Type", "Protocol"].contains(name) ? name + "_" : quoted(name) }

    /// The first letter in upper case, for `addToDogs`.
    static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    /// Whether Swift takes the text as a name, between backticks at the worst.
    static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return text.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
    }

    /// A file name made into a Swift name: what cannot be in one becomes an underscore.
    static func name(from text: String) -> String {
        let scalars = text.unicodeScalars.map { $0.properties.isXIDContinue ? Character($0) : "_" }
        let name = String(scalars)
        return isName(name) ? name : "_" + name
    }

    /// A literal of any text.
    static func literal(_ text: String) -> String {
        "\""
            + text.unicodeScalars.map { $0 == "\"" || $0 == "\\" || $0.value < 32 ? "\\u{\(String($0.value, radix: 16))}" : String($0) }
            .joined()
            + "\""
    }

    /// What objects have already, so that no property of a model can be called so.
    static let reserved: Set = [
        "description", "debugDescription", "hash", "hashValue", "self", "init", "entity", "objectID", "managedObjectContext",
        "isFault",
        "isInserted", "isUpdated", "isDeleted", "hasChanges", "hasPersistentChangedValues", "faultingState",
    ]

    private static let keywords: Set = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
        "deinit", "do", "else", "enum",
        "extension",
        "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let",
        "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "static", "struct", "subscript",
        "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]
}
