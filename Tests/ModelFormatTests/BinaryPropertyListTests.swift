import Foundation
import Testing

@testable import ModelFormat

@Suite("A binary property list")
struct BinaryPropertyListTests {
    private func read(_ node: PropertyListNode) throws -> Any {
        try PropertyListSerialization.propertyList(from: Data(BinaryPropertyList.bytes(of: node)), format: nil)
    }

    @Test(
        "is read by Foundation with every value as it was",
        arguments: [0, 1, 127, 128, 255, 256, 65_535, 65_536, -1, .max, .min] as [Int64]
    )
    func integers(number: Int64) throws {
        #expect(try read(.array([.integer(number)])) as? [Int64] == [number])
    }

    @Test("holds texts and data of every length of length", arguments: [0, 1, 14, 15, 16, 255, 256, 70_000])
    func lengths(count: Int) throws {
        let (plain, wide) = (String(repeating: "a", count: count), String(repeating: "é😀", count: count))
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(try read(.array([.string(plain), .string(wide)])) as? [String] == [plain, wide])
        #expect(try read(.array([.data(bytes)])) as? [Data] == [Data(bytes)])
    }

    @Test("holds more objects than two bytes can number")
    func manyObjects() throws {
        let numbers = (0..<70_000).map { Int64($0) }
        #expect(try read(.array(numbers.map { .integer($0) })) as? [Int64] == numbers)
    }

    @Test("keeps dictionaries, truth values and fractions apart")
    func nesting() throws {
        let read =
            try read(.dictionary(["a": .bool(true), "b": .array([.dictionary([:]), .real(-0.5)]), "a b": .string("a")])) as? NSDictionary
        #expect(read?["a"] as? Bool == true && read?["a b"] as? String == "a")
        #expect((read?["b"] as? [Any])?.last as? Double == -0.5)
    }
}
