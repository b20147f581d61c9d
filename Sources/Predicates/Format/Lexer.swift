import Foundation

/// Cuts a format into tokens.
struct Lexer {
    let format: String
    private(set) var scalars: [Unicode.Scalar]
    var position = 0
    private var tokens: [Token] = []

    init(_ format: String) {
        self.format = format
        scalars = Array(format.unicodeScalars)
    }

    static func tokens(of format: String) throws -> [Token] {
        var lexer = Lexer(format)
        while try lexer.appendToken() {}
        return lexer.tokens
    }

    /// The scalar that is `distance` ahead; nil behind the end.
    func peek(_ distance: Int = 0) -> Unicode.Scalar? {
        position + distance < scalars.count ? scalars[position + distance] : nil
    }

    func error(_ reason: String, at offset: Int? = nil) -> PredicateFormatError {
        PredicateFormatError(format: format, offset: offset ?? position, reason: reason)
    }

    private mutating func appendToken() throws -> Bool {
        while let scalar = peek(), isSpace(scalar) { position += 1 }
        let start = position
        guard let first = peek() else {
            tokens.append(Token(kind: .end, offset: start))
            return false
        }
        tokens.append(Token(kind: try kind(startingWith: first), offset: start))
        return true
    }

    private mutating func kind(startingWith first: Unicode.Scalar) throws -> Token.Kind {
        switch first {
        case "'", "\"": return .string(try string(quote: first))
        case "%": return try argument()
        case "$": return .variable(try prefixedName("a variable's name after '$'"))
        case "#": return .escapedName(try prefixedName("a key after '#'"))
        case "@": return .collectionOperator("@" + (try prefixedName("a collection operator such as @count after '@'")))
        case "0"..."9": return try number()
        case "." where peek(1).map(isDigit) == true && !followsOperand: return try number()
        case _ where startsName(first): return .name(name())
        default: return .symbol(try symbol())
        }
    }

    /// Whether a dot here reads a key of what stands before it.
    private var followsOperand: Bool {
        switch tokens.last?.kind {
        case nil, .end: false
        case .symbol(let symbol): symbol == ")" || symbol == "]" || symbol == "}"
        default: true
        }
    }

    private mutating func prefixedName(_ expected: String) throws -> String {
        position += 1
        guard let first = peek(), startsName(first) else { throw error("expected \(expected)") }
        return name()
    }

    private mutating func name() -> String {
        let start = position
        while let scalar = peek(), startsName(scalar) || isDigit(scalar) || scalar == "$" || isMark(scalar) { position += 1 }
        return text(from: start)
    }

    func text(from start: Int) -> String {
        if scalars[start..<position].allSatisfy(\.isASCII) {
            return String(unsafeUninitializedCapacity: position - start) { bytes in
                for index in start..<position { bytes[index - start] = UInt8(ascii: scalars[index]) }
                return position - start
            }
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[start..<position])
        return String(view)
    }

    private static let symbols: Set = [
        "==", "=<", "=>", "=", "!=", "!", "<>", "<=", "<<", "<", ">=", ">>", ">", "&&", "&", "||", "|", "^", "~",
        "(", ")", "{", "}", "[", "]", ",", ".", ":", "+", "-", "**", "*", "/",
    ]

    /// The longest symbol that begins here.
    private mutating func symbol() throws -> String {
        let start = position
        for length in [2, 1] where start + length <= scalars.count {
            position = start + length
            let symbol = text(from: start)
            if Self.symbols.contains(symbol) { return symbol }
        }
        throw error("'\(scalars[start])' means nothing here", at: start)
    }
}

func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

// NB: ASCII is told apart by hand: Unicode's tables are slow to ask, and formats are nearly all ASCII.

private func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? scalar == " " || ("\t"..."\r").contains(scalar) : scalar.properties.isWhitespace
}

private func startsName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_": true
    default: !scalar.isASCII && scalar.properties.isXIDStart
    }
}

private func isMark(_ scalar: Unicode.Scalar) -> Bool { !scalar.isASCII && scalar.properties.isXIDContinue }
