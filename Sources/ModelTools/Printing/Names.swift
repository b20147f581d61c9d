import ModelCompiler
import ModelFormat

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
