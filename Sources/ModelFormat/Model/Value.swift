import Foundation

extension Model {
    /// A default value, a bound, a constant of a predicate, or an entry of a user info.
    public enum Value: Sendable, Equatable {
        case string(String)
        case integer(Int64)
        case real(Double)
        case bool(Bool)
        case decimal(Decimal)
        /// Seconds since the first moment of 2001 in UTC.
        case date(Double)
        case data(Data)
        case uuid(UUID)
        case uri(String)
        case array([Value])
        /// An object of a class that no format knows, as a keyed archive of its own.
        case archived(className: String, Data)
    }
}

extension Model.Value {
    /// The value in the form that attributes of a type have; nil for a text that stands for none.
    ///
    /// Archives do not always tell 0 from false, or 1 from 1.0; and a source can have any text.
    public func suited(to type: Model.ValueType) -> Model.Value? {
        switch (type, self) {
        case (_, .string(let text)): Self.value(of: text, type)
        case (.boolean, .integer(let number)): .bool(number != 0)
        case (.integer16, .bool(let flag)), (.integer32, .bool(let flag)), (.integer64, .bool(let flag)): .integer(flag ? 1 : 0)
        case (.double, .integer(let number)), (.float, .integer(let number)): .real(Double(number))
        case (.double, .bool(let flag)), (.float, .bool(let flag)): .real(flag ? 1 : 0)
        case (.decimal, .integer(let number)): .decimal(Decimal(number))
        case (.decimal, .bool(let flag)): .decimal(flag ? 1 : 0)
        default: self
        }
    }

    /// NB: a text that is no number counts as 0, as with Apple's compiler; an empty one as nothing.
    private static func value(of text: String, _ type: Model.ValueType) -> Model.Value? {
        if let value = Model.Value(sourceText: text, type: type) { return value }
        let isNumber = [.integer16, .integer32, .integer64, .double, .float, .decimal, .boolean].contains(type)
        return isNumber && !text.isEmpty ? Model.Value.integer(0).suited(to: type) : nil
    }
}

/// The text of a value in the source.
extension Model.Value {
    var sourceText: String {
        switch self {
        case .string(let text), .uri(let text): text
        case .integer(let number): String(number)
        case .real(let number), .date(let number): String(number)
        case .bool(let flag): flag ? "YES" : "NO"
        case .decimal(let number): "\(number)".contains(".") ? "\(number)" : "\(number).0"
        case .data(let data): data.base64EncodedString()
        case .uuid(let uuid): uuid.uuidString
        case .array(let elements): elements.map(\.sourceText).joined(separator: ", ")
        case .archived(let className, _): className
        }
    }

    /// The value that a text in the source stands for; nil if it is none of this type.
    init?(sourceText text: String, type: Model.ValueType) {
        let value: Self? =
            switch type {
            case .integer16, .integer32, .integer64: (Int64(text) ?? Double(text).flatMap(Int64.init(exactly:))).map { .integer($0) }
            case .double, .float: Double(text).map { .real($0) }
            case .decimal: Self.decimalNumber(text).map { .decimal($0) }
            case .boolean: truthValue(text).map { .bool($0) }
            case .uuid: UUID(uuidString: text).map { .uuid($0) }
            case .uri: .uri(text)
            case .string, .date, .binaryData, .undefined, .transformable, .objectID, .composite: .string(text)
            }
        guard let value else { return nil }
        self = value
    }

    private static func decimalNumber(_ text: String) -> Decimal? {
        Double(text) == nil ? nil : Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }
}

/// A truth value as model files spell it.
func truthValue(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
}
