import Foundation
import Testing

@testable import ModelFormat

// The streams are zlib's, with a window of -15 bits.
@Suite("A compressed stream")
struct InflaterTests {
    private static let text = (0..<40).map { "Apples, pears and \($0) plums; apples and pears again: \($0 * $0) of them.\n" }.joined()
    private static let stream = bytes(
        """
        jZVNboQwDEb3c4ocYFRhOwlJu+IoSKU/EjNFpb1/R2gWlSp9r1vggbFfPk/bti77OW3L/Lmn+fqchrSt35f9Kc3HrePa/e7r/H59vD3w8ZK+3pbLw2n6QxvRpmgnOis6\
        iO6Kzlh5VXgh3IvCK+Ehvz5i4+S/N8KrbHwnvMmpGypng5aOrXNdAYpnWXbAgu2REzDWr0sDjAXUBlplg3UFKKE33QPUMFxPofMp0vmDJmZtoqOJOesKOAKb7IGjicXl\
        FBxNLKP0wNHEqk10NLFCBWjiCD1AE0eYAkei9iDQxK5NDDSx67MQnImDPo7BoTjoRAhORdOhFIVXg7YxKr9BR3OgjhZ6O0T7x37Ss0AhrfzekT8=
        """
    )

    private static func bytes(_ base64: String) -> [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }

    @Test("is read, with codes of its own, with the fixed ones, and with none")
    func kinds() throws {
        #expect(String(decoding: try Inflater.inflated(Self.stream), as: UTF8.self) == Self.text)
        #expect(String(decoding: try Inflater.inflated(Self.bytes("S0yEgaREBBMA")), as: UTF8.self) == "aaaaaaaaaabaaaaaaaaaab")
        #expect(try Inflater.inflated([0, 2, 0, 0xfd, 0xff, 7, 8, 1, 1, 0, 0xfe, 0xff, 9]) == [7, 8, 9])
    }

    @Test("of more than is wanted is refused")
    func limit() {
        #expect(throws: ModelFormatError.self) { try Inflater.inflated(Self.stream, limit: 100) }
    }

    @Test("that is cut short, or of which bytes are others, is an error or other bytes, and ends")
    func damaged() {
        for count in 0..<Self.stream.count {
            #expect(throws: ModelFormatError.self) { try Inflater.inflated(Array(Self.stream.prefix(count))) }
        }
        for place in Self.stream.indices {
            for change: UInt8 in [1, 6, 0x80, 0xff] {
                var bytes = Self.stream
                bytes[place] ^= change
                // Either answer is right, and a trap is none.
                _ = try? Inflater.inflated(bytes, limit: 1 << 16)
            }
        }
    }
}
