/// Reads a raw DEFLATE stream (RFC 1951), which has neither header nor checksum.
package struct Inflater {
    private let bytes: [UInt8]
    private let limit: Int
    private var position = 0
    private var bits: UInt64 = 0
    private var bitCount = 0
    private var output: [UInt8] = []

    private init(_ bytes: [UInt8], _ limit: Int) { (self.bytes, self.limit) = (bytes, limit) }

    /// What the stream stands for.
    ///
    /// - Throws: `ModelFormatError` with the byte at which the stream cannot be read, or where it stands for more than `limit` bytes.
    package static func inflated(_ bytes: [UInt8], limit: Int = 64 << 20) throws -> [UInt8] {
        var inflater = Inflater(bytes, limit)
        var isLast = false
        while !isLast { isLast = try inflater.readBlock() }
        return inflater.output
    }

    /// Whether the block was the last one.
    private mutating func readBlock() throws -> Bool {
        let isLast = try read(1) == 1
        switch try read(2) {
        case 0: try copyStored()
        case 1: try expand(.fixedLiterals, .fixedDistances)
        case 2:
            let (literals, distances) = try readCodes()
            try expand(literals, distances)
        default: throw error("there is no such kind of block")
        }
        return isLast
    }

    /// The bits come from each byte's low end.
    private mutating func read(_ count: Int) throws -> Int {
        while bitCount < count {
            guard position < bytes.count else { throw error("the data end in the middle of a block") }
            bits |= UInt64(bytes[position]) << UInt64(bitCount)
            position += 1
            bitCount += 8
        }
        defer {
            bits >>= UInt64(count)
            bitCount -= count
        }
        return Int(bits & (1 << UInt64(count) - 1))
    }

    private mutating func copyStored() throws {
        // The length begins at a byte; `read` never keeps a whole one.
        (bits, bitCount) = (0, 0)
        let (count, complement) = (try read(16), try read(16))
        guard count ^ complement == 0xffff else { throw error("the two lengths of a block contradict each other") }
        guard bytes.count - position >= count else { throw error("the data end in the middle of a block") }
        try requireRoom(count)
        output += bytes[position..<position + count]
        position += count
    }

    private mutating func expand(_ literals: PrefixCode, _ distances: PrefixCode) throws {
        while true {
            let symbol = try next(literals)
            switch symbol {
            case 256: return
            case ..<256:
                try requireRoom(1)
                output.append(UInt8(symbol))
            default: try copy(symbol - 257, distances)
            }
        }
    }

    /// Repeats what came before.
    private mutating func copy(_ symbol: Int, _ distances: PrefixCode) throws {
        guard symbol < Self.lengths.count else { throw error("there is no such length") }
        let length = try Self.lengths[symbol].base + read(Self.lengths[symbol].extraBits)
        let code = try next(distances)
        guard code < Self.distances.count else { throw error("there is no such distance") }
        let distance = try Self.distances[code].base + read(Self.distances[code].extraBits)
        guard distance <= output.count else { throw error("a distance leads to before the beginning") }
        try requireRoom(length)
        // What is copied may reach into what it makes.
        for _ in 0..<length { output.append(output[output.count - distance]) }
    }

    private func requireRoom(_ count: Int) throws {
        if output.count + count > limit { throw error("the data stand for more than \(limit) bytes") }
    }

    private func error(_ reason: String) -> ModelFormatError {
        ModelFormatError(.offset(position), "the compressed data cannot be read: \(reason)")
    }
}

/// Codes.
extension Inflater {
    private mutating func next(_ code: PrefixCode) throws -> Int {
        var (value, first, index) = (0, 0, 0)
        for count in code.counts.dropFirst() {
            value |= try read(1)
            if value - first < count { return code.symbols[index + value - first] }
            index += count
            (first, value) = ((first + count) << 1, value << 1)
        }
        throw error("there is no such code")
    }

    private mutating func readCodes() throws -> (PrefixCode, PrefixCode) {
        let (literalCount, distanceCount, count) = (try read(5) + 257, try read(5) + 1, try read(4) + 4)
        var lengths = [Int](repeating: 0, count: 19)
        for place in Self.orderOfLengths.prefix(count) { lengths[place] = try read(3) }
        let all = try readLengths(literalCount + distanceCount, code(lengths))
        return (try code(Array(all[..<literalCount])), try code(Array(all[literalCount...])))
    }

    private mutating func readLengths(_ count: Int, _ code: PrefixCode) throws -> [Int] {
        var lengths: [Int] = []
        while lengths.count < count {
            switch try next(code) {
            case 16:
                guard let last = lengths.last else { throw error("the first length repeats another") }
                lengths += Array(repeating: last, count: try read(2) + 3)
            case 17: lengths += Array(repeating: 0, count: try read(3) + 3)
            case 18: lengths += Array(repeating: 0, count: try read(7) + 11)
            case let length: lengths.append(length)
            }
        }
        guard lengths.count == count else { throw error("there are more lengths than codes") }
        return lengths
    }

    private func code(_ lengths: [Int]) throws -> PrefixCode {
        guard let code = PrefixCode(lengths: lengths) else { throw error("two codes are the same") }
        return code
    }

    private static let orderOfLengths = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private typealias Range = (base: Int, extraBits: Int)

    private static let lengths: [Range] = {
        let steps = (0..<28).map { $0 < 8 ? 0 : $0 / 4 - 1 }
        return ranges(steps, from: 3) + [(258, 0)]
    }()
    private static let distances: [Range] = ranges((0..<30).map { $0 < 4 ? 0 : $0 / 2 - 1 }, from: 1)

    private static func ranges(_ extraBits: [Int], from start: Int) -> [Range] {
        var base = start
        return extraBits.map { bits in
            defer { base += 1 << bits }
            return (base, bits)
        }
    }
}

/// A canonical prefix code: how many codes there are of each length, and what they stand for, in order.
private struct PrefixCode {
    let counts: [Int]
    let symbols: [Int]

    /// Nil where there are more codes than fit.
    init?(lengths: [Int]) {
        var counts = [Int](repeating: 0, count: 16)
        for length in lengths where length > 0 { counts[length] += 1 }
        var free = 1
        for count in counts.dropFirst() {
            free = free * 2 - count
            if free < 0 { return nil }
        }
        self.counts = counts
        symbols = lengths.indices.filter { lengths[$0] > 0 }.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
    }

    private init(known lengths: [Int]) {
        // The lengths are those of RFC 1951, which fit.
        self = PrefixCode(lengths: lengths)!
    }

    static let fixedLiterals = PrefixCode(
        known: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
    )
    static let fixedDistances = PrefixCode(known: Array(repeating: 5, count: 30))
}
