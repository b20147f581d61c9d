import Foundation

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
    /// The first of them, and how many there are.
    case counted(first: [String], count: Int)

    /// Those of a to-many that are named, and how many there are; nil for a to-one.
    package var members: (named: [String], count: Int)? {
        switch self {
        case .one: nil
        case .many(let ids): (ids, ids.count)
        case .counted(let first, let count): (first, count)
        }
    }

    private enum CountedKeys: CodingKey { case first, count }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .one(let id): try encode(id, to: encoder)
        case .many(let ids): try encode(ids, to: encoder)
        case .counted(let first, let count):
            var container = encoder.container(keyedBy: CountedKeys.self)
            try container.encode(first, forKey: .first)
            try container.encode(count, forKey: .count)
        }
    }

    private func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
