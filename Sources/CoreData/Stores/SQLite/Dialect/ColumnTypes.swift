/// The types that the format declares for columns. What SQLite makes of values is decided by their affinities: `BLOB` has none, and so has a text
/// in a `VARCHAR`, whatever it looks like; `DECIMAL` and `TIMESTAMP` keep a number as an integer where it is whole.
enum ColumnType {
    static let integer = "INTEGER"
    static let float = "FLOAT"
    static let timestamp = "TIMESTAMP"
    static let decimal = "DECIMAL"
    static let text = "VARCHAR"
    static let data = "BLOB"
}

/// The groups of columns in a new table, in their order.
enum ColumnGroup: Int, CaseIterable {
    case integer, order, floating, decimal, string, uri, uuid, transformable, binary
}

extension NSAttributeType {
    /// The declared type of the column, and its place in the table; nil for types that have no column of their own.
    var column: (type: String, group: ColumnGroup)? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            (ColumnType.integer, .integer)
        case .doubleAttributeType, .floatAttributeType: (ColumnType.float, .floating)
        case .dateAttributeType: (ColumnType.timestamp, .floating)
        case .decimalAttributeType: (ColumnType.decimal, .decimal)
        case .stringAttributeType: (ColumnType.text, .string)
        case .URIAttributeType: (ColumnType.text, .uri)
        case .UUIDAttributeType: (ColumnType.data, .uuid)
        case .transformableAttributeType: (ColumnType.data, .transformable)
        case .binaryDataAttributeType: (ColumnType.data, .binary)
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
        }
    }
}
