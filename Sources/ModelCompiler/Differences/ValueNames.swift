import ModelFormat

extension Model.ValueType {
    /// The type as the model editor calls it.
    public var name: String { sourceName ?? "Undefined" }

    /// Whether each value of another type is one of this, kept in the same form.
    func holds(_ other: Self) -> Bool {
        switch (other, self) {
        case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64), (.float, .double): true
        default: false
        }
    }
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
