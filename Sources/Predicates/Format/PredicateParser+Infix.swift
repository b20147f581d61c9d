import Foundation

extension PredicateParser {
    /// An operator between two operands.
    enum Infix {
        case and
        case or
        case comparison(NSComparisonPredicate.Operator)
        case set(SetOperation)
        case function(InfixFunction)

        var precedence: Int {
            switch self {
            case .or: Precedence.or
            case .and: Precedence.and
            case .comparison: Precedence.comparison
            case .set: Precedence.set
            case .function(let function): function.precedence
            }
        }
    }

    /// The operator at the current token, if there is one.
    var infix: Infix? {
        switch current.kind {
        case .symbol(let symbol): infix(symbol: symbol)
        case .name(let name): infix(word: name)
        default: nil
        }
    }

    private func infix(symbol: String) -> Infix? {
        switch symbol {
        case "&&": .and
        case "||": .or
        case "=", "==": .comparison(.equalTo)
        case "!=", "<>": .comparison(.notEqualTo)
        case "<": .comparison(.lessThan)
        case "<=", "=<": .comparison(.lessThanOrEqualTo)
        case ">": .comparison(.greaterThan)
        case ">=", "=>": .comparison(.greaterThanOrEqualTo)
        default: InfixFunction.symbol(symbol).map(Infix.function)
        }
    }

    private func infix(word: String) -> Infix? {
        if let set = SetOperation(rawValue: word.uppercased()) { return .set(set) }
        return switch ReservedWord(word: word) {
        case .and: .and
        case .or: .or
        case let word: word?.comparison.map(Infix.comparison)
        }
    }

    mutating func combine(_ left: Node, _ infix: Infix) throws -> Node {
        switch infix {
        case .and: try compound(.and, left, Precedence.and)
        case .or: try compound(.or, left, Precedence.or)
        case .comparison: try comparison(left, modifier: .direct)
        case .set(let operation): try setOperation(operation, left)
        case .function(let function): try call(function, left)
        }
    }

    /// All operands of a chain of ANDs or ORs, as one compound.
    private mutating func compound(
        _ type: NSCompoundPredicate.LogicalType,
        _ first: Node,
        _ precedence: Int
    ) throws -> Node {
        var parts = [try predicate(first)]
        var nodes = [first]
        while infix?.precedence == precedence {
            advance()
            let node = try parse(precedence + 1)
            parts.append(try predicate(node))
            nodes.append(node)
        }
        return try node(.predicate(CompoundPredicate(type: type, subpredicates: parts)), over: nodes, at: first.offset)
    }

    /// The comparison whose left side is `left` and whose operator is the current token.
    mutating func comparison(
        _ left: Node,
        modifier: NSComparisonPredicate.Modifier
    ) throws -> Node {
        let leftExpression = try expression(left)
        guard case .comparison(let type) = infix else { throw expected("a comparison operator such as ==") }
        advance()
        let options = try options()
        let right = try parse(Precedence.set)
        let rightExpression = try expression(right)
        if type == .between { try checkBounds(rightExpression, at: right.offset) }
        let predicate = NSComparisonPredicate(
            leftExpression: leftExpression,
            rightExpression: rightExpression,
            modifier: modifier,
            type: type,
            options: options
        )
        return try node(.predicate(predicate), over: [left, right], at: left.offset)
    }

    /// `[cd]` behind a comparison operator.
    private mutating func options() throws -> NSComparisonPredicate.Options {
        guard isAt("["), case .name(let letters) = following.kind else { return [] }
        advance()
        var options: NSComparisonPredicate.Options = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default: throw expected("options out of c, d, n and l")
            }
        }
        advance()
        try expect("]", "after the options")
        return options
    }

    private func checkBounds(_ bounds: NSExpression, at offset: Int) throws {
        let count: Int? =
            switch bounds.tree {
            case .aggregate(let elements): elements.count
            case .constant(let value): Value(value).elements?.count ?? 0
            default: nil
            }
        guard count == nil || count == 2 else { throw error("expected two bounds such as {1, 10} after BETWEEN", at: offset) }
    }

    private mutating func setOperation(_ operation: SetOperation, _ left: Node) throws -> Node {
        advance()
        let right = try parse(Precedence.set + 1)
        let combined = NSExpression(.set(operation, try expression(left), try expression(right)))
        return try node(.expression(combined), over: [left, right], at: left.offset)
    }

    private mutating func call(_ function: InfixFunction, _ left: Node) throws -> Node {
        advance()
        let right = try parse(function.isRightAssociative ? function.precedence : function.precedence + 1)
        let combined = NSExpression(.function(function.name, [try expression(left), try expression(right)]))
        return try node(.expression(combined), over: [left, right], at: left.offset)
    }
}
