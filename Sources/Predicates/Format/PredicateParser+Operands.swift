import Foundation

extension PredicateParser {
    /// An operand with the operators before it.
    mutating func prefixed() throws -> Node {
        switch prefix {
        case nil: try postfixed(try primary())
        case .not: try negation()
        case .minus: try negative()
        case .complement: try complement()
        case .any: try modified(.any)
        case .all: try modified(.all)
        case .noneOf: try none()
        }
    }

    private enum Prefix {
        case not, minus, complement, any, all, noneOf
    }

    /// The operator at the current token that stands before its operand.
    private var prefix: Prefix? {
        switch current.kind {
        case .symbol("!"): .not
        case .symbol("-"): .minus
        case .symbol("~"): .complement
        case .name(let name): prefix(word: name)
        default: nil
        }
    }

    private func prefix(word: String) -> Prefix? {
        switch ReservedWord(word: word) {
        case .not: .not
        case .any, .someOf: .any
        case .all: .all
        case .noneOf: .noneOf
        default: nil
        }
    }

    private mutating func complement() throws -> Node {
        let start = current.offset
        advance()
        let operand = try parse(Precedence.prefix)
        return try node(call("onesComplement:", [operand]), over: [operand], at: start)
    }

    private func call(_ name: String, _ operands: [Node]) throws -> Node.Content {
        .expression(NSExpression(.function(name, try expressions(operands))))
    }

    private mutating func negation() throws -> Node {
        advance()
        let operand = try parse(Precedence.not)
        return try negated(operand)
    }

    private mutating func none() throws -> Node {
        let operand = try modified(.any)
        return try negated(operand)
    }

    private func negated(_ operand: Node) throws -> Node {
        let negation = CompoundPredicate(type: .not, subpredicates: [try predicate(operand)])
        return try node(.predicate(negation), over: [operand], at: operand.offset)
    }

    private mutating func modified(_ modifier: NSComparisonPredicate.Modifier) throws -> Node {
        advance()
        return try comparison(try parse(Precedence.set), modifier: modifier)
    }

    /// A negative number, or zero minus a value.
    private mutating func negative() throws -> Node {
        let start = current.offset
        advance()
        if let number = negativeNumber(current.kind) {
            advance()
            return try postfixed(Node(content: .expression(NSExpression(forConstantValue: number)), offset: start))
        }
        let operand = try parse(Precedence.prefix)
        let zero = NSExpression(forConstantValue: 0)
        return try node(
            .expression(NSExpression(.function("from:subtract:", [zero, try expression(operand)]))),
            over: [operand],
            at: start
        )
    }

    private func negativeNumber(_ kind: Token.Kind) -> Any? {
        switch kind {
        case .real(let number): -number
        case .integer(let magnitude): magnitude <= UInt64(Int.max) + 1 ? Int(truncatingIfNeeded: 0 &- magnitude) : -Double(magnitude)
        default: nil
        }
    }

    private mutating func primary() throws -> Node {
        if isAt("(") { return try parenthesised() }
        if isAt("{") { return try aggregate() }
        if case .name(let name) = current.kind, following.kind == .symbol("(") || following.kind == .symbol(":") {
            return try function(name)
        }
        return try leaf()
    }

    /// An operand that has no parts.
    private mutating func leaf() throws -> Node {
        switch current.kind {
        case .name(let name): try named(name)
        case .escapedName(let name), .collectionOperator(let name): constantNode(.keyPath(operand: nil, name))
        case .variable(let name): constantNode(.variable(name))
        case .string(let text): constantNode(.constant(text))
        case .integer(let number): constantNode(.constant(number <= UInt64(Int.max) ? Int(number) : number))
        case .real(let number): constantNode(.constant(number))
        case .argument(let conversion): try argument(conversion)
        case .symbol, .end: throw expected("a value")
        }
    }

    /// A node for the current token.
    private mutating func constantNode(_ tree: ExpressionTree) -> Node {
        defer { advance() }
        return Node(content: .expression(NSExpression(tree)), offset: current.offset)
    }

    private mutating func named(_ name: String) throws -> Node {
        switch ReservedWord(word: name) {
        case nil: return constantNode(.keyPath(operand: nil, name))
        case .null, .nil: return constantNode(.constant(nil))
        case .true, .yes: return constantNode(.constant(true))
        case .false, .no: return constantNode(.constant(false))
        case .`self`: return constantNode(.evaluatedObject)
        case .anykey: return constantNode(.anyKey)
        case .truepredicate: return constantPredicate(true)
        case .falsepredicate: return constantPredicate(false)
        default: throw error("expected a value, found the keyword '\(name)'; write #\(name) for a key of that name")
        }
    }

    private mutating func constantPredicate(_ value: Bool) -> Node {
        defer { advance() }
        return Node(content: .predicate(ConstantPredicate(value: value)), offset: current.offset)
    }

    private mutating func argument(_ conversion: Character) throws -> Node {
        let offset = current.offset
        let value = try takeArgument(conversion)
        if let predicate = value as? NSPredicate { return Node(content: .predicate(predicate), offset: offset) }
        if let expression = value as? NSExpression { return Node(content: .expression(expression), offset: offset) }
        let argument = ArgumentExpression(conversion, value)
        argumentExpressions.append(argument)
        return Node(content: .expression(argument.expression), offset: offset)
    }

    mutating func takeArgument(_ conversion: Character) throws -> Any? {
        defer { advance() }
        switch arguments.take(for: conversion) {
        case .success(let value): return value
        case .failure(let mismatch): throw error(mismatch.reason)
        }
    }

    private mutating func parenthesised() throws -> Node {
        advance()
        let inner = try parse(Precedence.or)
        try expect(")", "to close the parenthesis")
        return inner
    }

    private mutating func aggregate() throws -> Node {
        let start = current.offset
        advance()
        let elements = isAt("}") ? [] : try list()
        try expect("}", "or ',' in the list")
        return try node(.expression(NSExpression(.aggregate(try expressions(elements)))), over: elements, at: start)
    }

    /// Values separated by commas.
    mutating func list() throws -> [Node] {
        var elements = [try parse(Precedence.set)]
        while skip(",") { elements.append(try parse(Precedence.set)) }
        return elements
    }

    func expressions(_ nodes: [Node]) throws -> [NSExpression] {
        var result: [NSExpression] = []
        for node in nodes { result.append(try expression(node)) }
        return result
    }
}
