import ModelFormat

extension Model.ValueType {
    /// The type as the model editor calls it.
    public var name: String { sourceName ?? "Undefined" }
}

extension Model.Value {
    /// The value for people to read.
    public var text: String {
        switch self {
        case .string(let text): "\"\(text)\""
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .bool(let flag): flag ? "true" : "false"
        case .decimal(let number): "\(number)"
        case .date(let seconds): "\(seconds) s after 2001-01-01"
        case .data(let data): "\(data.count) bytes"
        case .uuid(let uuid): uuid.uuidString
        case .uri(let text): text
        case .array(let elements): "[\(elements.map(\.text).joined(separator: ", "))]"
        case .archived(let className, _): className
        }
    }
}

extension Model.Relationship {
    /// The relationship's type in Swift's manner: `Dog?`, `Set<Dog>` or `[Dog]`.
    public var typeName: String {
        let target = destination ?? "?"
        return !isToMany ? target + (isOptional ? "?" : "") : isOrdered ? "[\(target)]" : "Set<\(target)>"
    }
}

extension Model.Attribute {
    /// The attribute's type, with a question mark where it is optional.
    public var typeName: String { (composite ?? type.name) + (isOptional ? "?" : "") }
}

extension Model.Relationship.DeleteRule {
    public var name: String {
        switch self {
        case .noAction: "no action"
        case .nullify: "nullify"
        case .cascade: "cascade"
        case .deny: "deny"
        }
    }
}
