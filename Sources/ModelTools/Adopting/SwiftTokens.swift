/// The words and signs of Swift source, without comments and without what is in strings.
struct SwiftTokens {
    let bytes: [UInt8]
    private(set) var tokens: [Token] = []
    private var position = 0
    private var line = 1

    struct Token {
        /// Places of bytes in the file.
        let range: Range<Int>
        /// The first being 1.
        let line: Int
        let text: String
    }

    /// Reads to the end whatever the text is: what nobody closed ends with the file, or with the line.
    init(_ text: String) {
        bytes = Array(text.utf8)
        while let byte = byte(at: position) { read(byte) }
    }

    private func byte(at place: Int) -> UInt8? { place < bytes.count ? bytes[place] : nil }

    private func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private mutating func read(_ byte: UInt8) {
        if isAt("//") {
            skip { $0 == UInt8(ascii: "\n") }
        } else if isAt("/*") {
            skipComment()
        } else if isAt("\"") || isAt("#") && stringHashes != nil {
            skipString()
        } else if Self.isWord(byte) {
            append { !Self.isWord($0) }
        } else if byte > 32 {
            append { _ in true }
        } else {
            advance()
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte >= 128 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "`") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 32)
    }

    private mutating func skip(to isEnd: (UInt8) -> Bool) {
        while let byte = byte(at: position), !isEnd(byte) { advance() }
    }

    /// Appends a token of the present byte and those after it.
    private mutating func append(to isEnd: (UInt8) -> Bool) {
        let (start, number) = (position, line)
        advance()
        skip(to: isEnd)
        tokens.append(Token(range: start..<position, line: number, text: String(decoding: bytes[start..<position], as: UTF8.self)))
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            let (opens, closes) = (isAt("/*"), isAt("*/"))
            depth += opens ? 1 : closes ? -1 : 0
            advance(opens || closes ? 2 : 1)
        } while depth > 0 && position < bytes.count
    }
}

extension SwiftTokens {
    /// The number of `#` before a quotation mark; nil where something else follows them.
    private var stringHashes: Int? {
        let count = bytes[position...].prefix { $0 == UInt8(ascii: "#") }.count
        return byte(at: position + count) == UInt8(ascii: "\"") ? count : nil
    }

    /// Skips a string with all that is put into it. What is put in can have strings in it, which is no reason to run out of stack: the
    /// open ones are in a list.
    private mutating func skipString() {
        var open: [OpenString] = []
        openString(&open)
        while let string = open.last, let byte = byte(at: position) {
            if string.parentheses > 0 {
                readCode(byte, &open)
            } else if bytes[position...].starts(with: string.end) {
                advance(string.end.count)
                open.removeLast()
            } else if bytes[position...].starts(with: string.interpolation) {
                advance(string.interpolation.count)
                open[open.count - 1].parentheses = 1
            } else if byte == UInt8(ascii: "\n"), !string.isLong {
                return
            } else {
                advance(bytes[position...].starts(with: string.escape) ? string.escape.count + 1 : 1)
            }
        }
    }

    private struct OpenString {
        let isLong: Bool
        let end, escape, interpolation: [UInt8]
        /// How many are open in what is put in; none in the text itself.
        var parentheses = 0

        init(hashes: [UInt8], isLong: Bool) {
            self.isLong = isLong
            end = Array(repeating: UInt8(ascii: "\""), count: isLong ? 3 : 1) + hashes
            escape = [UInt8(ascii: "\\")] + hashes
            interpolation = escape + [UInt8(ascii: "(")]
        }
    }

    private mutating func openString(_ open: inout [OpenString]) {
        let hashes = [UInt8](repeating: UInt8(ascii: "#"), count: stringHashes ?? 0)
        advance(hashes.count)
        let string = OpenString(hashes: hashes, isLong: isAt("\"\"\""))
        advance(string.isLong ? 3 : 1)
        open.append(string)
    }

    private mutating func readCode(_ byte: UInt8, _ open: inout [OpenString]) {
        switch byte {
        case UInt8(ascii: "\""): return openString(&open)
        case UInt8(ascii: "#") where stringHashes != nil: return openString(&open)
        case UInt8(ascii: "("): open[open.count - 1].parentheses += 1
        case UInt8(ascii: ")"): open[open.count - 1].parentheses -= 1
        default: break
        }
        advance()
    }
}
