import Foundation
import SQLiteDriver

/// An object as a store has it.
package struct StoredObject: Sendable, Encodable {
    package let entity: String
    /// The URI of the object's ID.
    package let id: String
    /// How often it was saved.
    package let version: Int64
    package var attributes: [String: StoredValue] = [:]
    package var relationships: [String: StoredReference] = [:]
}

/// The target of a to-one, or those of a to-many: URIs of object IDs.
package enum StoredReference: Sendable, Encodable {
    case one(String?)
    case many([String])

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .one(let id): try container.encode(id)
        case .many(let ids): try container.encode(ids)
        }
    }
}

/// The value of an attribute, in a form that JSON has.
package enum StoredValue: Sendable, Equatable, Encodable {
    case null
    case flag(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case data(Data)
    /// Data in a file of its own, by that file's name.
    case file(String)

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
        }
    }

    init(_ value: SQLiteValue, _ attribute: NSAttributeDescription) {
        switch (attribute.attributeType, value) {
        case (_, .null): self = .null
        case (.booleanAttributeType, .integer(let number)): self = .flag(number != 0)
        case (.dateAttributeType, .integer(let seconds)): self = Self.date(Double(seconds))
        case (.dateAttributeType, .real(let seconds)): self = Self.date(seconds)
        case (.decimalAttributeType, .integer(let number)): self = .text("\(number)")
        case (.decimalAttributeType, .real(let number)): self = .text("\(number)")
        case (.UUIDAttributeType, .blob(let bytes)): self = Self.uuid(bytes)
        case (_, .integer(let number)): self = .integer(number)
        case (_, .real(let number)): self = .real(number)
        case (_, .text(let text)): self = .text(text)
        case (_, .blob(let bytes)): self = attribute.allowsExternalBinaryDataStorage ? Self.external(bytes) : .data(Data(bytes))
        }
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
    private static func date(_ seconds: Double) -> Self {
        guard abs(seconds) < 60_000_000_000 else { return .real(seconds) }
        let microseconds = Int((seconds * 1_000_000).rounded())
        let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
        let whole = (microseconds - fraction) / 1_000_000
        let text = Date(timeIntervalSinceReferenceDate: Double(whole)).formatted(.iso8601)
        return .text(text.dropLast() + "." + String(fraction + 1_000_000).dropFirst() + "Z")
    }
}
