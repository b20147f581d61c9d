import SQLiteDriver

/// What kind of value an SQL expression has. Only values of comparable kinds are ever compared in SQL: between others, SQLite's affinities
/// would find `'5'` equal to `5`.
enum SQLKind: Hashable {
    /// Always an integer, which `%` and bit operators need.
    case integer
    /// A double, or either of the two.
    case real
    /// A double that is a widened `Float`.
    case float
    /// SQLite keeps it as an integer where it can, so that dividing means something else than in memory.
    case decimal
    case text
    case date
    case data
    case uuid
    case url
    /// The key of a row; keys are unique in the tree of the root entity with this index.
    case row(root: Int)
    /// The number of an entity.
    case entity
    /// The constant nil.
    case null
    /// A constant that is equal to nothing in a store.
    case foreign

    var isNumber: Bool {
        switch self {
        case .integer, .real, .float, .decimal: true
        default: false
        }
    }

    /// Whether values of the kind come one after the other.
    var isOrdered: Bool {
        switch self {
        case .integer, .real, .float, .decimal, .text, .date, .data, .uuid, .url: true
        case .row, .entity, .null, .foreign: false
        }
    }

    func isComparable(to other: SQLKind) -> Bool {
        if self == .foreign || self == .null { return false }
        return self == other || isNumber && other.isNumber
    }
}

/// An SQL expression that stands for a value.
struct SQLOperand {
    var text: SQLText
    var kind: SQLKind
    var isConstant = false
    /// Whether a value without a fraction: an integer, or a double that is too large for one.
    var isWhole: Bool

    init(_ sql: String, _ kind: SQLKind) { self.init(SQLText(sql: sql), kind) }

    init(_ text: SQLText, _ kind: SQLKind) { (self.text, self.kind, isWhole) = (text, kind, kind == .integer) }

    init(_ constant: SQLConstant) {
        self.init(SQLText(sql: "?", parameters: [constant.value]), constant.kind)
        isConstant = true
    }
}

/// A value of a predicate as SQLite takes it.
struct SQLConstant {
    let value: SQLiteValue
    let kind: SQLKind

    static let null = SQLConstant(value: .null, kind: .null)
    static let foreign = SQLConstant(value: .null, kind: .foreign)
}
