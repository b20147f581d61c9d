import Foundation
import ModelFormat

extension [String: Model.Value] {
    /// The values as users of the model see them.
    package var plain: [AnyHashable: Any] { compactMapValues(\.plain).reduce(into: [:]) { $0[$1.key] = $1.value } }
}

extension Model.Value {
    /// The value as users of the model see it; nil for objects that cannot be read here.
    package var plain: Any? {
        switch self {
        case .string(let text): text
        case .integer(let number): Int(number)
        case .real(let number): number
        case .bool(let flag): flag
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        case .array(let elements): elements.compactMap(\.plain)
        case .archived(_, let data): try? ObjectUnarchiver.object(in: data)
        }
    }

    /// NB: a number that is too large for its type loses its upper bits, as with Apple's compiler.
    package func plain(for type: Model.ValueType) -> Any? {
        switch (type, self) {
        case (.integer16, .integer(let number)): Int(Int16(truncatingIfNeeded: number))
        case (.integer32, .integer(let number)): Int(Int32(truncatingIfNeeded: number))
        default: plain
        }
    }
}

extension Model.Value {
    /// A value of the program's as files have it; nil for one that no archive can hold, or an array that contains such a one.
    package init?(of value: Any) {
        if let scalar = Model.Value(scalar: value) {
            self = scalar
        } else if let elements = value as? [Any] {
            let values = elements.compactMap(Model.Value.init(of:))
            // An array without some of its elements is another one.
            guard values.count == elements.count else { return nil }
            self = .array(values)
        } else if let archive = try? ObjectArchiver.data(of: value) {
            self = .archived(className: "\(type(of: value))", archive)
        } else {
            return nil
        }
    }
}
