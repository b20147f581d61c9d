import Foundation
import ModelFormat
import SQLiteDriver

/// The value of an attribute, in a form that JSON has.
package indirect enum StoredValue: Sendable, Equatable, Encodable {
    case null
    case flag(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case data(Data)
    /// Data in a file of its own, by that file's name.
    case file(String)
    case list([StoredValue])
    case entries([String: StoredValue])

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        // JSON has no form for infinity.
        case .real(let number): try number.isFinite ? container.encode(number) : container.encode("\(number)")
        case .text(let text): try container.encode(text)
        case .data(let data): try container.encode(["base64": data.base64EncodedString()])
        case .file(let name): try container.encode(["file": name])
        case .list(let values): try container.encode(values)
        case .entries(let values): try container.encode(values)
        }
    }

    package init(_ value: SQLiteValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .data(Data(bytes))
        }
    }

    init(_ value: SQLiteValue, _ attribute: NSAttributeDescription) {
        switch (attribute.attributeType, value) {
        case (_, .null): self = .null
        case (.booleanAttributeType, .integer(let number)): self = .flag(number != 0)
        case (.dateAttributeType, .integer(let seconds)): self = .date(Double(seconds))
        case (.dateAttributeType, .real(let seconds)): self = .date(seconds)
        case (.decimalAttributeType, .integer(let number)): self = .text("\(number)")
        case (.decimalAttributeType, .real(let number)): self = .text("\(number)")
        case (.UUIDAttributeType, .blob(let bytes)): self = Self.uuid(bytes)
        case (_, .blob(let bytes)):
            let value = attribute.allowsExternalBinaryDataStorage ? Self.external(bytes) : .data(Data(bytes))
            self = attribute.attributeType == .transformableAttributeType ? value.opened : value
        case (_, let value): self = StoredValue(value)
        }
    }

    /// What data hold that are an archive or a property list; others as they are.
    private var opened: Self {
        guard case .data(let data) = self, let content = ArchivedContent(data) else { return self }
        return StoredValue(content)
    }

    private static func uuid(_ bytes: [UInt8]) -> Self {
        guard bytes.count == 16 else { return .data(Data(bytes)) }
        // Unsafe only in name: there are 16 bytes, which is what the type has.
        return .text(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }).uuidString)
    }

    private static func external(_ bytes: [UInt8]) -> Self {
        switch MarkedData(bytes) {
        case .here(let data): .data(Data(data))
        case .file(let name): .file(name)
        case .damaged: .data(Data(bytes))
        }
    }

    /// The date in UTC with microseconds; one that no calendar has as its seconds since 2001.
    private static func date(_ seconds: Double) -> Self { dateText(seconds).map(StoredValue.text) ?? .real(seconds) }
}

extension StoredValue {
    /// Objects of other classes than Foundation's are their class and what they encode.
    fileprivate init(_ content: ArchivedContent) {
        switch content {
        case .null: self = .null
        case .bool(let flag): self = .flag(flag)
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .date(let seconds): self = .date(seconds)
        case .text(let text): self = .text(text)
        case .data(let data): self = .data(data)
        case .list(let elements): self = .list(elements.map(StoredValue.init))
        case .entries(let entries): self = .entries(entries.mapValues(StoredValue.init))
        case .object(let className, let fields):
            self = .entries(fields.mapValues(StoredValue.init).merging(["class": .text(className)]) { $1 })
        }
    }
}

/// A date in UTC with microseconds; nil for one that no calendar has.
package func dateText(_ secondsSince2001: Double) -> String? {
    guard abs(secondsSince2001) < 60_000_000_000 else { return nil }
    let microseconds = Int((secondsSince2001 * 1_000_000).rounded())
    let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
    let whole = (microseconds - fraction) / 1_000_000
    let text = Date(timeIntervalSinceReferenceDate: Double(whole)).formatted(.iso8601)
    return text.dropLast() + "." + String(fraction + 1_000_000).dropFirst() + "Z"
}
