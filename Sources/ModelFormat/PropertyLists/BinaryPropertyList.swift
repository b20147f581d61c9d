/// Writes the format `bplist00`: objects one after another, a table of their offsets, a trailer of 32 bytes. Equal texts are written once.
package struct BinaryPropertyList {
    package static func bytes(of root: PropertyListNode) -> [UInt8] {
        var list = BinaryPropertyList(objectCount: count(root))
        list.add(root)
        return list.finished()
    }

    private var output = Array("bplist00".utf8)
    private var offsets: [Int] = []
    private var strings: [String: Int] = [:]
    private let indexSize: Int

    private init(objectCount: Int) { indexSize = Self.size(of: objectCount) }

    /// The number of objects, counting equal texts again and again: enough to know how wide an index must be.
    private static func count(_ node: PropertyListNode) -> Int {
        switch node {
        case .array(let elements): elements.reduce(1) { $0 + count($1) }
        case .dictionary(let entries): entries.values.reduce(1 + entries.count) { $0 + count($1) }
        default: 1
        }
    }

    /// Appends an object and what it contains; answers its index.
    @discardableResult
    private mutating func add(_ node: PropertyListNode) -> Int {
        if case .string(let text) = node, let known = strings[text] { return known }
        // What a collection contains comes first, so that its indexes are known.
        let contents: [Int]
        switch node {
        case .array(let elements):
            contents = elements.map { add($0) }
        case .dictionary(let entries):
            let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            contents = sorted.map { add(.string($0.key)) } + sorted.map { add($0.value) }
        default: contents = []
        }
        offsets.append(output.count)
        append(node, contents)
        if case .string(let text) = node { strings[text] = offsets.count - 1 }
        return offsets.count - 1
    }

    private mutating func append(_ node: PropertyListNode, _ contents: [Int]) {
        switch node {
        case .null: output.append(0)
        case .date(let seconds): appendMarked(0x33, seconds.bitPattern, size: 8)
        case .bool(let value): output.append(value ? 0x09 : 0x08)
        case .integer(let value): appendInteger(value)
        case .real(let value): appendMarked(0x23, value.bitPattern, size: 8)
        case .string(let text): append(text)
        case .data(let bytes):
            appendMarker(0x40, count: bytes.count)
            output += bytes
        case .reference(let index): appendMarked(UInt8(0x80 + Self.size(of: index) - 1), UInt64(index), size: Self.size(of: index))
        case .array: appendContainer(0xa0, count: contents.count, contents)
        case .dictionary: appendContainer(0xd0, count: contents.count / 2, contents)
        }
    }

    private mutating func append(_ text: String) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            appendMarker(0x50, count: text.utf8.count)
            output += text.utf8
        } else {
            appendMarker(0x60, count: text.utf16.count)
            for unit in text.utf16 { append(UInt64(unit), size: 2) }
        }
    }

    private mutating func appendContainer(_ marker: UInt8, count: Int, _ contents: [Int]) {
        appendMarker(marker, count: count)
        for index in contents { append(UInt64(index), size: indexSize) }
    }

    /// Counts up to 14 fit into the marker; larger ones follow as an integer.
    private mutating func appendMarker(_ marker: UInt8, count: Int) {
        output.append(marker | UInt8(min(count, 15)))
        if count >= 15 { appendInteger(Int64(count)) }
    }

    /// NB: integers of 1, 2 and 4 bytes are unsigned, so a negative one takes 8.
    private mutating func appendInteger(_ value: Int64) {
        let size = value < 0 ? 8 : Self.size(of: Int(value))
        appendMarked(UInt8(0x10 + size.trailingZeroBitCount), UInt64(bitPattern: value), size: size)
    }

    private mutating func appendMarked(_ marker: UInt8, _ number: UInt64, size: Int) {
        output.append(marker)
        append(number, size: size)
    }

    private mutating func append(_ number: UInt64, size: Int) {
        for shift in stride(from: (size - 1) * 8, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    private mutating func finished() -> [UInt8] {
        let table = output.count
        let offsetSize = Self.size(of: table)
        for offset in offsets { append(UInt64(offset), size: offsetSize) }
        output += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(indexSize)]
        // The root is added last.
        for number in [offsets.count, offsets.count - 1, table] { append(UInt64(number), size: 8) }
        return output
    }

    /// The bytes that a number takes: 1, 2, 4 or 8.
    private static func size(of number: Int) -> Int {
        switch number {
        case ...0xff: 1
        case ...0xffff: 2
        case ...0xffff_ffff: 4
        default: 8
        }
    }
}
