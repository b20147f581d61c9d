import Foundation

/// Reads the format `bplist00`: a table of offsets at the end, and containers that name their contents by place in that table.
///
/// NB: Foundation's reader gives references of keyed archives as objects of a private class.
package struct BinaryPropertyListReader {
    static let magic = Array("bplist00".utf8)

    static func root(of data: Data) throws -> PropertyListNode {
        var reader = try BinaryPropertyListReader(Array(data))
        return try reader.node(reader.top, depth: 0)
    }

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let indexSize: Int
    private let count: Int
    private let top: Int
    private let table: Int
    private var texts: [Int: String] = [:]
    /// How many nodes may still be made. Each takes a byte at least, except where collections are shared, which archives never do.
    private var allowance: Int

    private static let trailerSize = 32
    private static let deepest = 64

    private init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        allowance = bytes.count
        let trailer = bytes.count - Self.trailerSize
        guard trailer >= Self.magic.count else { throw Self.error(0, "the binary property list is cut short") }
        offsetSize = Int(bytes[trailer + 6])
        indexSize = Int(bytes[trailer + 7])
        let numbers = [8, 16, 24].map { start in bytes[(trailer + start)..<(trailer + start + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        let isPlausible = (1...8).contains(offsetSize) && (1...8).contains(indexSize) && numbers.allSatisfy { $0 < UInt64(bytes.count) }
        guard isPlausible else { throw Self.error(trailer, "the trailer of the binary property list makes no sense") }
        (count, top, table) = (Int(numbers[0]), Int(numbers[1]), Int(numbers[2]))
        guard count <= (trailer - table) / offsetSize else { throw Self.error(table, "the table of offsets is cut short") }
    }

    private static func error(_ offset: Int, _ reason: String) -> ModelFormatError { ModelFormatError(.offset(offset), reason) }

    private mutating func node(_ index: Int, depth: Int) throws -> PropertyListNode {
        guard index < count else { throw Self.error(table, "object \(index) of \(count) does not exist") }
        let start = try number(at: table + index * offsetSize, size: offsetSize)
        guard depth < Self.deepest else { throw Self.error(start, "collections are nested more than \(Self.deepest) levels deep") }
        allowance -= 1
        guard allowance >= 0 else { throw Self.error(start, "collections are contained in others again and again") }
        return try node(index, at: start, depth: depth)
    }

    private mutating func node(_ index: Int, at start: Int, depth: Int) throws -> PropertyListNode {
        guard start < table else { throw Self.error(start, "an object lies outside of the objects") }
        let (kind, low, next) = (bytes[start] >> 4, Int(bytes[start] & 0xf), start + 1)
        switch (kind, low) {
        case (0, 0): return .null
        case (0, 8), (0, 9): return .bool(low == 9)
        case (1, 0...3): return .integer(try integer(at: next, size: 1 << low))
        case (1, 4): return .integer(try wideInteger(at: next))
        case (2, 2): return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try bits(at: next, size: 4)))))
        case (2, 3): return .real(Double(bitPattern: try bits(at: next, size: 8)))
        case (3, 3): return .date(Double(bitPattern: try bits(at: next, size: 8)))
        case (4, _): return .data(Array(try content(start, low, size: 1)))
        case (5, _), (6, _): return .string(try text(index, start, low, isWide: kind == 6))
        case (8, 0...7): return .reference(try number(at: next, size: low + 1))
        case (10, _), (12, _): return .array(try indexes(start, low).map { try node($0, depth: depth + 1) })
        case (13, _): return .dictionary(try entries(start, low, depth: depth + 1))
        default: throw Self.error(start, "no kind of object begins with the byte \(bytes[start])")
        }
    }
}

extension BinaryPropertyListReader {
    /// Whether a binary property list stands for a number of objects that is in proportion to its bytes. Collections may share their members, and theirs
    /// in turn: a few hundred bytes can be more than any memory holds.
    ///
    /// - Complexity: O(n), n the number of bytes.
    package static func isInProportion(_ data: Data) -> Bool {
        guard let reader = try? BinaryPropertyListReader(Array(data)) else { return false }
        var (waiting, allowance) = ([reader.top], repetitions * data.count)
        while let index = waiting.popLast() {
            guard let members = try? reader.members(index), members.count <= allowance else { return false }
            allowance -= members.count
            waiting += members
        }
        return true
    }

    /// Programs that write the same collection once, wherever it is, are still read.
    private static let repetitions = 16

    /// The places of what a collection contains, keys too; nothing for what is none.
    private func members(_ index: Int) throws -> [Int] {
        guard index < count else { throw Self.error(table, "object \(index) of \(count) does not exist") }
        let start = try number(at: table + index * offsetSize, size: offsetSize)
        guard start < table else { throw Self.error(start, "an object lies outside of the objects") }
        switch bytes[start] >> 4 {
        case 10, 11, 12: return try indexes(start, Int(bytes[start] & 0xf))
        case 13: return try indexes(start, Int(bytes[start] & 0xf), perElement: 2)
        default: return []
        }
    }
}

/// Numbers.
extension BinaryPropertyListReader {
    private func bits(at start: Int, size: Int) throws -> UInt64 {
        guard start >= 0, size <= bytes.count - start else { throw Self.error(start, "a number is cut short") }
        return bytes[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A number that counts something.
    private func number(at start: Int, size: Int) throws -> Int {
        let bits = try bits(at: start, size: size)
        guard bits < UInt64(Int32.max) else { throw Self.error(start, "the number \(bits) is too large") }
        return Int(bits)
    }

    /// NB: integers of 1, 2 and 4 bytes are unsigned.
    private func integer(at start: Int, size: Int) throws -> Int64 { Int64(bitPattern: try bits(at: start, size: size)) }

    private func wideInteger(at start: Int) throws -> Int64 {
        let (high, low) = (try bits(at: start, size: 8), try integer(at: start + 8, size: 8))
        guard high == (low < 0 ? .max : 0) else { throw Self.error(start, "an integer has more than 64 bits") }
        return low
    }
}

/// Objects with a count.
extension BinaryPropertyListReader {
    /// Where the content begins, and how many elements it has. Counts over 14 follow the first byte as an integer.
    private func extent(_ start: Int, _ low: Int) throws -> (start: Int, count: Int) {
        if low < 15 { return (start + 1, low) }
        guard start + 1 < bytes.count, bytes[start + 1] >> 4 == 1, bytes[start + 1] & 0xf < 4 else {
            throw Self.error(start, "a count is missing")
        }
        let size = 1 << Int(bytes[start + 1] & 0xf)
        return (start + 2 + size, try number(at: start + 2, size: size))
    }

    private func content(_ start: Int, _ low: Int, size: Int) throws -> ArraySlice<UInt8> {
        let extent = try extent(start, low)
        guard extent.count <= (bytes.count - extent.start) / size else {
            throw Self.error(start, "an object of \(extent.count) elements is cut short")
        }
        return bytes[extent.start..<extent.start + extent.count * size]
    }

    /// NB: equal texts are one object with many references.
    private mutating func text(_ index: Int, _ start: Int, _ low: Int, isWide: Bool) throws -> String {
        if let known = texts[index] { return known }
        let bytes = try content(start, low, size: isWide ? 2 : 1)
        let units =
            isWide ? stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) } : []
        let text = isWide ? String(decoding: units, as: UTF16.self) : String(decoding: bytes, as: UTF8.self)
        texts[index] = text
        return text
    }

    private func indexes(_ start: Int, _ low: Int, perElement: Int = 1) throws -> [Int] {
        let content = try content(start, low, size: indexSize * perElement)
        return try stride(from: content.startIndex, to: content.endIndex, by: indexSize).map { try number(at: $0, size: indexSize) }
    }

    private mutating func entries(_ start: Int, _ low: Int, depth: Int) throws -> [String: PropertyListNode] {
        let indexes = try indexes(start, low, perElement: 2)
        let half = indexes.count / 2
        var entries: [String: PropertyListNode] = [:]
        for (key, value) in zip(indexes[..<half], indexes[half...]) {
            guard case .string(let name) = try node(key, depth: depth) else { throw Self.error(start, "a key of a dictionary is no text") }
            entries[name] = try node(value, depth: depth)
        }
        return entries
    }
}
