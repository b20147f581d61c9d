import Foundation

/// The arguments of a format, handed out in order.
struct FormatArguments {
    private let values: [Any?]
    private var next = 0

    init(_ values: [Any?]) {
        self.values = values
    }

    var count: Int { values.count }
    var remaining: Int { values.count - next }

    /// The next argument as the conversion wants it, or the reason why it does not fit.
    mutating func take(for conversion: Character) -> Result<Any?, Mismatch> {
        guard next < values.count else {
            return .failure(Mismatch(reason: "there is no argument for '%\(conversion)': only \(values.count) given"))
        }
        let value = flattened(values[next])
        next += 1
        guard let fitting = fit(value, conversion) else {
            let found = value.map { ($0 as? String)?.isEmpty == true ? "empty" : "\(type(of: $0))" } ?? "nil"
            return .failure(Mismatch(reason: "'%\(conversion)' takes \(wanted(conversion)), argument \(next) is \(found)"))
        }
        return .success(fitting)
    }

    struct Mismatch: Error {
        let reason: String
    }

    /// The outer optional: whether it fits; the inner: the value.
    private func fit(_ value: Any?, _ conversion: Character) -> Any?? {
        switch conversion {
        case "@": .some(value)
        case "K": key(value).flatMap { $0.isEmpty ? nil : .some($0) }
        case "s", "S": text(value).map { .some($0) }
        case "c", "C": character(value).map { .some($0) }
        case "d", "D", "i", "u", "U", "x", "X", "o", "O": integer(value).map { .some($0) }
        default: real(value).map { .some($0) }
        }
    }

    private func wanted(_ conversion: Character) -> String {
        switch conversion {
        case "K": "a key path as a String"
        case "s", "S": "a String"
        case "c", "C": "a character"
        case "d", "D", "i", "u", "U", "x", "X", "o", "O": "an integer"
        default: "a number"
        }
    }

    private func text(_ value: Any?) -> String? {
        guard case .text(let text) = Value(value) else { return nil }
        return text
    }

    private func key(_ value: Any?) -> String? {
        (value as? any NamedKey)?.name ?? text(value)
    }

    private func character(_ value: Any?) -> Any? {
        if let character = value as? Character { return String(character) }
        if let text = text(value) { return text.count == 1 ? text : nil }
        return integer(value)
    }

    private func integer(_ value: Any?) -> Any? {
        guard case .number(let number) = Value(value) else { return nil }
        return switch number {
        case .signed, .unsigned: value
        case .real, .decimal: nil
        }
    }

    private func real(_ value: Any?) -> Any? {
        guard case .number(let number) = Value(value) else { return nil }
        if case .decimal = number { return value }
        return number.double
    }
}
