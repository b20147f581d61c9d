import Foundation

/// Reads a format. Operators are taken by precedence, so that a level of nesting costs few stack frames.
struct PredicateParser {
    /// How deep a format may nest. What is parsed is walked recursively, on threads with small stacks too.
    static let maximumDepth = 200

    /// What stands between two operators: a predicate, or an expression that a comparison is still to be made of.
    struct Node {
        enum Content {
            case predicate(NSPredicate)
            case expression(NSExpression)
        }
        let content: Content
        let offset: Int
        /// The height of the tree.
        var depth = 1
    }

    let format: String
    private let tokens: [Token]
    private var index = 0
    private var nesting = 0
    var arguments: FormatArguments
    /// The arguments that have become expressions of their own.
    var argumentExpressions: [ArgumentExpression] = []

    init(_ format: String, _ arguments: [Any?]) throws {
        self.format = format
        self.arguments = FormatArguments(arguments)
        tokens = try Lexer.tokens(of: format)
    }

    static func predicate(_ format: String, _ arguments: [Any?]) throws -> NSPredicate {
        if let known = FormatCache.shared.predicate(format, arguments) { return known }
        var parser = try PredicateParser(format, arguments)
        let node = try parser.parse(Precedence.or)
        // An operand alone is the likelier mistake than what follows it.
        let predicate = try parser.predicate(node)
        try parser.expectEnd()
        if parser.argumentExpressions.count == arguments.count, let template = FormatTemplate(predicate, parser.argumentExpressions) {
            FormatCache.shared.keep(template, of: format)
        }
        return predicate
    }

    static func expression(_ format: String, _ arguments: [Any?]) throws -> NSExpression {
        var parser = try PredicateParser(format, arguments)
        let expression = try parser.expression(try parser.parse(Precedence.set))
        try parser.expectEnd()
        return expression
    }

    var current: Token { tokens[index] }

    /// The token behind the current one; the end stays the end.
    var following: Token { tokens[min(index + 1, tokens.count - 1)] }

    mutating func advance() { index = min(index + 1, tokens.count - 1) }

    func isAt(_ symbol: String) -> Bool { current.kind == .symbol(symbol) }

    mutating func skip(_ symbol: String) -> Bool {
        guard isAt(symbol) else { return false }
        advance()
        return true
    }

    mutating func expect(_ symbol: String, _ purpose: String) throws {
        guard skip(symbol) else { throw expected("'\(symbol)' \(purpose)") }
    }

    func error(_ reason: String, at offset: Int? = nil) -> PredicateFormatError {
        PredicateFormatError(format: format, offset: offset ?? current.offset, reason: reason)
    }

    func expected(_ what: String) -> PredicateFormatError { error("expected \(what), found \(current.text)") }

    private func expectEnd() throws {
        guard current.kind == .end else { throw expected("AND, OR or the end") }
        guard arguments.remaining == 0 else {
            let (given, hint) = (arguments.count, isQuoted ? "; in quotation marks %@ is text, and no place for an argument" : "")
            throw error("\(given) argument\(given == 1 ? "" : "s") given, the format uses \(given - arguments.remaining)\(hint)")
        }
    }

    /// Whether a text of the format is a conversion: `'%@'`.
    private var isQuoted: Bool { ["'%@'", "\"%@\""].contains(where: format.contains) }

    func predicate(_ node: Node) throws -> NSPredicate {
        guard case .predicate(let predicate) = node.content else {
            let hint = if case .name(let word) = current.kind, ReservedWord(word: word) == .not { "; write NOT (… IN …)" } else { "" }
            let found = "found \(current.text)\(hint)"
            throw error("expected an operator such as == after the value at offset \(node.offset), \(found)")
        }
        return predicate
    }

    func expression(_ node: Node) throws -> NSExpression {
        guard case .expression(let expression) = node.content else {
            throw error("expected a value, found a predicate", at: node.offset)
        }
        return expression
    }

    /// A node over `parts`, unless that makes the tree too high.
    func node(_ content: Node.Content, over parts: [Node], at offset: Int) throws -> Node {
        let depth = (parts.map(\.depth).max() ?? 0) + 1
        guard depth <= Self.maximumDepth else { throw tooDeep(offset) }
        return Node(content: content, offset: offset, depth: depth)
    }

    private func tooDeep(_ offset: Int) -> PredicateFormatError {
        error("nested more than \(Self.maximumDepth) levels deep", at: offset)
    }

    /// An operand and all operators behind it that bind at least as tightly as `minimum`.
    mutating func parse(_ minimum: Int) throws -> Node {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= Self.maximumDepth else { throw tooDeep(current.offset) }
        var left = try prefixed()
        while let infix = infix, infix.precedence >= minimum { left = try combine(left, infix) }
        return left
    }
}
