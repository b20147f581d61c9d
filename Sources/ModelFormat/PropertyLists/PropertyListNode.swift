import Foundation

/// A value of a property list; with the references of keyed archives, which `PropertyListSerialization` cannot write.
package indirect enum PropertyListNode: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since the first moment of 2001 in UTC.
    case date(Double)
    case string(String)
    case data([UInt8])
    case reference(Int)
    case array([PropertyListNode])
    case dictionary([String: PropertyListNode])
}

extension PropertyListNode {
    /// What the node is, for messages.
    var kind: String {
        switch self {
        case .null: "nothing"
        case .bool: "a truth value"
        case .integer, .real: "a number"
        case .date: "a date"
        case .string: "a text"
        case .data: "data"
        case .reference: "a reference"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}

extension PropertyListNode {
    /// Reads a property list, binary or XML.
    ///
    /// - Throws: `ModelFormatError` with an offset or a line.
    init(_ data: Data) throws {
        self = data.starts(with: BinaryPropertyListReader.magic) ? try BinaryPropertyListReader.root(of: data) : try Self.root(ofXML: data)
    }
}
