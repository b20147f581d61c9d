/// The words and signs of Swift source, without comments and without the text of strings. What is put into strings is code.
struct SwiftTokens {
    let bytes: [UInt8]
    private(set) var tokens: [Token] = []
    private var position = 0
    private var line = 1
    private var lineStart = 0
    /// Strings with other strings put into them are in a list: no depth of them is a reason to run out of stack.
    private var open: [OpenString] = []

    struct Token {
        /// Places of bytes in the file.
        let range: Range<Int>
        let place: SourcePlace
        let text: String

        var line: Int { place.line }
    }

    /// Reads to the end whatever the text is: what nobody closed ends with the file, or with the line.
    init(_ text: String) {
        bytes = Array(text.utf8)
        while let byte = byte(at: position) {
            if let string = open.last, string.parentheses == 0 { readText(byte, string) } else { readCode(byte) }
        }
    }

    /// The text of a token; nothing where there is none.
    subscript(index: Int) -> String { tokens.indices.contains(index) ? tokens[index].text : "" }

    private func byte(at place: Int) -> UInt8? { place < bytes.count ? bytes[place] : nil }

    private func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < bytes.count {
            position += 1
            if bytes[position - 1] == UInt8(ascii: "\n") { (line, lineStart) = (line + 1, position) }
        }
    }

    private mutating func readCode(_ byte: UInt8) {
        if isAt("//") {
            skip { $0 == UInt8(ascii: "\n") }
        } else if isAt("/*") {
            skipComment()
        } else if isAt("\"") || isAt("#") && stringHashes != nil {
            openString()
        } else if let end = regexEnd {
            advance(end - position)
        } else if Self.isWord(byte) {
            append { !Self.isWord($0) }
        } else if byte > 32 {
            readSign(byte)
        } else {
            advance()
        }
    }

    /// The parentheses around what is put into a string belong to the string.
    private mutating func readSign(_ byte: UInt8) {
        if !open.isEmpty, byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")") {
            open[open.count - 1].parentheses += byte == UInt8(ascii: "(") ? 1 : -1
            if open[open.count - 1].parentheses == 0 { return advance() }
        }
        append { _ in true }
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
        let (start, place) = (position, SourcePlace(line: line, column: position - lineStart + 1))
        advance()
        skip(to: isEnd)
        tokens.append(Token(range: start..<position, place: place, text: String(decoding: bytes[start..<position], as: UTF8.self)))
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

/// Strings.
extension SwiftTokens {
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

    /// The number of `#` before a quotation mark; nil where something else follows them.
    private var stringHashes: Int? {
        let count = bytes[position...].prefix { $0 == UInt8(ascii: "#") }.count
        return byte(at: position + count) == UInt8(ascii: "\"") ? count : nil
    }

    private mutating func openString() {
        let hashes = [UInt8](repeating: UInt8(ascii: "#"), count: stringHashes ?? 0)
        advance(hashes.count)
        let string = OpenString(hashes: hashes, isLong: isAt("\"\"\""))
        advance(string.isLong ? 3 : 1)
        open.append(string)
    }

    private mutating func readText(_ byte: UInt8, _ string: OpenString) {
        if bytes[position...].starts(with: string.end) {
            advance(string.end.count)
            open.removeLast()
        } else if bytes[position...].starts(with: string.interpolation) {
            advance(string.interpolation.count)
            open[open.count - 1].parentheses = 1
        } else if byte == UInt8(ascii: "\n"), !string.isLong {
            open = []
        } else {
            advance(bytes[position...].starts(with: string.escape) ? string.escape.count + 1 : 1)
        }
    }
}

/// Regular expressions.
extension SwiftTokens {
    /// Where the literal `/…/` or `#/…/#` ends that begins here: only where a value can begin, and within its line.
    private var regexEnd: Int? {
        let isExtended = isAt("#/")
        guard isExtended || isAt("/") && canBeginValue else { return nil }
        let start = position + (isExtended ? 2 : 1)
        guard let first = byte(at: start), isExtended || ![32, UInt8(ascii: "="), UInt8(ascii: "\n")].contains(first) else { return nil }
        var place = start
        while let byte = byte(at: place), byte != UInt8(ascii: "\n") {
            if byte == UInt8(ascii: "/"), !isExtended { return place + 1 }
            if byte == UInt8(ascii: "/"), self.byte(at: place + 1) == UInt8(ascii: "#") { return place + 2 }
            place += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    private var canBeginValue: Bool {
        guard let last = tokens.last else { return true }
        return last.line < line || ["(", ",", "=", ":", "[", "{", ";", "!", "&", "|", "?", "return", "in", "try"].contains(last.text)
    }
}
