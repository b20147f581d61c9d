import Foundation
import ModelFormat

extension PropertyListSerialization {
    /// The property list in data that anybody may have written. Nil for what is none, and for one that says the same again and again: reading it would
    /// not end.
    static func list(_ data: Data) -> Any? {
        let isBinary = data.starts(with: Data("bplist".utf8))
        guard !isBinary || BinaryPropertyListReader.isInProportion(data) else { return nil }
        return try? propertyList(from: data, format: nil)
    }
}
