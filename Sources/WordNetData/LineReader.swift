import Foundation

/// Reads a WordNet file field by field. Whatever is not as expected becomes an error that names the file and the line.
///
/// A field ends at the next space or at the end of its line; a reader never leaves its line but by `nextLine()`.
struct LineReader {
    private let file: String
    private let bytes: [UInt8]
    /// The number of the current line, from 1.
    private(set) var line = 0
    /// The byte offset of the current line.
    private(set) var lineStart = 0
    private var position = 0
    private var lineEnd = 0
    private var next = 0
    private var isInLicence = true

    /// Reads the whole file.
    ///
    /// - Throws: `WordNetDataError` when there is none, when it cannot be read, or when it is empty.
    init(_ name: String, in folder: URL) throws {
        let url = folder.appendingPathComponent(name)
        file = url.path
        do {
            bytes = try [UInt8](Data(contentsOf: url))
        } catch {
            let isThere = FileManager.default.fileExists(atPath: url.path)
            throw WordNetDataError(
                file: file,
                line: nil,
                message: isThere ? "cannot be read: \(error.localizedDescription)" : "is missing"
            )
        }
        guard !bytes.isEmpty else { throw failure(at: 1, "the file is empty") }
        guard bytes.count < Int32.max else { throw WordNetDataError(file: file, line: nil, message: "is too large for WordNet") }
    }

    var count: Int { bytes.count }

    subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// Moves to the next line after the licence, whose lines begin with two spaces; false at the end of the file.
    mutating func nextLine() throws -> Bool {
        repeat {
            guard next < bytes.count else { return false }
            try moveToNextLine()
        } while isInLicence && bytes[lineStart..<lineEnd].starts(with: "  ".utf8)
        isInLicence = false
        return true
    }

    private mutating func moveToNextLine() throws {
        line += 1
        lineStart = next
        position = next
        guard let end = bytes[next...].firstIndex(of: UInt8(ascii: "\n")) else {
            throw failure("the file breaks off in the middle of this line")
        }
        lineEnd = end
        next = end + 1
        if end > lineStart, bytes[end - 1] == UInt8(ascii: "\r") {
            throw failure("expected the line to end in LF, found CR LF")
        }
    }

    /// The bytes up to the next space, which is passed. Not empty, and valid UTF-8.
    mutating func field(_ expected: StaticString) throws -> Range<Int> {
        let start = position
        var isASCII = true
        while position < lineEnd, bytes[position] != UInt8(ascii: " ") {
            isASCII = isASCII && bytes[position] < 0x80
            position += 1
        }
        let field = start..<position
        guard !field.isEmpty, isASCII || isUTF8(field) else { throw mismatch(expected, field) }
        position = min(position + 1, lineEnd)
        return field
    }

    mutating func byte(_ expected: StaticString) throws -> UInt8 {
        let field = try field(expected)
        guard field.count == 1 else { throw mismatch(expected, field) }
        return bytes[field.lowerBound]
    }

    mutating func literal(_ byte: UInt8, _ expected: StaticString) throws {
        let field = try field(expected)
        guard field.count == 1, bytes[field.lowerBound] == byte else { throw mismatch(expected, field) }
    }

    /// A number in `base` 10 or 16; with `digits`, of exactly so many.
    mutating func number(
        _ expected: StaticString,
        base: Int = 10,
        digits: Int? = nil,
        in allowed: ClosedRange<Int> = 0...99_999_999
    ) throws -> Int {
        let field = try field(expected)
        guard field.count <= 8, field.count == digits ?? field.count,
            let number = number(in: field, base: base), allowed.contains(number)
        else { throw mismatch(expected, field) }
        return number
    }

    /// The digits of `range` as a number; nil when one is no digit of the base.
    func number(in range: Range<Int>, base: Int) -> Int? {
        var number = 0
        for index in range {
            guard let digit = hexDigit(bytes[index]), digit < base else { return nil }
            number = number * base + digit
        }
        return number
    }

    /// The rest of the line, without the spaces around it.
    mutating func rest(_ expected: StaticString) throws -> Range<Int> {
        var end = lineEnd
        while end > position, bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
        while position < end, bytes[position] == UInt8(ascii: " ") { position += 1 }
        let rest = position..<end
        position = lineEnd
        guard isUTF8(rest) else { throw mismatch(expected, rest) }
        return rest
    }

    mutating func endOfLine() throws {
        let rest = try rest("the end of the line")
        guard rest.isEmpty else { throw mismatch("the end of the line", rest) }
    }

    func mismatch(_ expected: StaticString, _ found: Range<Int>) -> WordNetDataError {
        let text = String(decoding: bytes[found].prefix(40), as: UTF8.self)
        return failure("expected \(expected), found " + (text.isEmpty ? "nothing" : "\"\(text)\""))
    }

    /// An error about the current line, or about another.
    func failure(at line: Int? = nil, _ message: String) -> WordNetDataError {
        WordNetDataError(file: file, line: line ?? self.line, message: message)
    }

    private func isUTF8(_ range: Range<Int>) -> Bool {
        bytes[range].allSatisfy { $0 < 0x80 } || String(validating: bytes[range], as: UTF8.self) != nil
    }
}

private func hexDigit(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
}
