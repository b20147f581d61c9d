import Foundation

extension Lexer {
    /// Escapes are those of C and `\uXXXX`; before any other character the backslash stays, for LIKE and MATCHES.
    mutating func string(quote: Unicode.Scalar) throws -> String {
        let start = position
        var result = String.UnicodeScalarView()
        position += 1
        while let scalar = peek() {
            position += 1
            if scalar == quote { return String(result) }
            guard scalar == "\\" else {
                result.append(scalar)
                continue
            }
            guard let escape = peek() else { break }
            position += 1
            try append(escape, to: &result)
        }
        throw error("expected \(quote) to end the string that begins here", at: start)
    }

    private mutating func append(_ escape: Unicode.Scalar, to result: inout String.UnicodeScalarView) throws {
        switch escape {
        case "\\", "'", "\"", "`": result.append(escape)
        case "n": result.append("\n")
        case "r": result.append("\r")
        case "t": result.append("\t")
        case "u": result.append(try hexadecimalScalar())
        default: result.append(contentsOf: ["\\", escape])
        }
    }

    private mutating func hexadecimalScalar() throws -> Unicode.Scalar {
        let start = position
        while position < start + 4, let scalar = peek(), scalar.properties.isASCIIHexDigit { position += 1 }
        guard position == start + 4, let code = UInt32(text(from: start), radix: 16), let scalar = Unicode.Scalar(code) else {
            throw error("expected four hexadecimal digits that name a character after '\\u'", at: start)
        }
        return scalar
    }

    mutating func number() throws -> Token.Kind {
        let start = position
        if peek() == "0", let radix = peek(1).flatMap(radix(of:)) {
            position += 2
            return try integer(radix: radix, from: start)
        }
        skipDigits()
        var isWhole = true
        if peek() == ".", peek(1).map(isDigit) == true {
            position += 1
            skipDigits()
            isWhole = false
        }
        if skipExponent() { isWhole = false }
        let digits = text(from: start)
        if isWhole, let number = UInt64(digits) { return .integer(number) }
        guard let number = Double(digits), number.isFinite else { throw error("\(digits) is out of range", at: start) }
        return .real(number)
    }

    private func radix(of letter: Unicode.Scalar) -> Int? {
        switch letter {
        case "x", "X": 16
        case "o", "O": 8
        case "b", "B": 2
        default: nil
        }
    }

    private mutating func integer(radix: Int, from start: Int) throws -> Token.Kind {
        let digits = position
        while let scalar = peek(), scalar.properties.isASCIIHexDigit { position += 1 }
        guard let number = UInt64(text(from: digits), radix: radix) else {
            throw error("'\(text(from: start))' is not a number of base \(radix) that fits 64 bits", at: start)
        }
        return .integer(number)
    }

    private mutating func skipDigits() {
        while let scalar = peek(), isDigit(scalar) { position += 1 }
    }

    private mutating func skipExponent() -> Bool {
        guard peek() == "e" || peek() == "E" else { return false }
        let sign = peek(1) == "+" || peek(1) == "-" ? 1 : 0
        guard peek(1 + sign).map(isDigit) == true else { return false }
        position += 1 + sign
        skipDigits()
        return true
    }

    /// A printf conversion: flags of length are read and dropped, arguments carry their own type here.
    mutating func argument() throws -> Token.Kind {
        let start = position
        position += 1
        while let scalar = peek(), "hlqLjzt".unicodeScalars.contains(scalar) { position += 1 }
        guard let letter = peek() else { throw error("expected a conversion such as '@' after '%'") }
        position += 1
        guard "@KdDiuUxXoOfFeEgGaAcCsS".unicodeScalars.contains(letter) else {
            let hint = letter == "%" ? ": a percent sign stands for itself only between quotation marks" : ""
            throw error("'\(text(from: start))' is not a conversion of the format language\(hint)", at: start)
        }
        return .argument(Character(letter))
    }
}
