import CShims
import Foundation

/// The order of texts by their UTF-8 bytes, as SQLite's BINARY collation has it, after folding.
public enum TextOrder {
    /// Negative, zero or positive.
    public static func compare(
        _ left: UnsafeBufferPointer<UInt8>,
        _ right: UnsafeBufferPointer<UInt8>,
        folding: TextFolding = .literal
    ) -> Int32 {
        if folding == .literal { return bytes(left, right) }
        return folding.withFolded(left) { left in folding.withFolded(right) { bytes(left, $0) } }
    }

    static func compare(_ left: String, _ right: String, folding: TextFolding) -> Int32 {
        withUTF8(left) { left in withUTF8(right) { compare(left, $0, folding: folding) } }
    }

    private static func bytes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int32 {
        let common = min(left.count, right.count)
        // An empty buffer may have no address.
        if common > 0, let a = left.baseAddress, let b = right.baseAddress {
            let order = memcmp(a, b, common)
            if order != 0 { return order }
        }
        return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
    }
}

/// The bytes of a text, without a copy where it is stored as UTF-8.
func withUTF8<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var text = text
    return text.withUTF8(body)
}
