import Foundation

extension PredicateParser {
    /// What may follow an operand: keys, collection operators, an index.
    mutating func postfixed(_ operand: Node) throws -> Node {
        var operand = operand
        while true {
            if isAt(".") {
                operand = try reading(try keys(), from: operand)
            } else if isAt("["), case .expression(let collection) = operand.content {
                operand = try indexed(collection, operand)
            } else {
                return operand
            }
        }
    }

    /// The key behind a dot; keywords are keys there.
    private mutating func key() throws -> String {
        switch current.kind {
        case .name(let name), .escapedName(let name), .collectionOperator(let name):
            advance()
            return name
        case .argument("K"): return try takeArgument("K") as? String ?? ""
        default: throw expected("a key after '.'")
        }
    }

    /// The keys of a path, joined at once: a path may be long.
    private mutating func keys() throws -> String {
        var keys: [String] = []
        while skip(".") { keys.append(try key()) }
        return keys.joined(separator: ".")
    }

    private func reading(_ path: String, from operand: Node) throws -> Node {
        let expression = try expression(operand)
        switch expression.tree {
        case .evaluatedObject: return operand.replaced(by: .keyPath(operand: nil, path))
        case .keyPath(operand: let inner, let start): return operand.replaced(by: .keyPath(operand: inner, "\(start).\(path)"))
        default:
            return try node(.expression(NSExpression(.keyPath(operand: expression, path))), over: [operand], at: operand.offset)
        }
    }

    private mutating func indexed(_ collection: NSExpression, _ operand: Node) throws -> Node {
        advance()
        var parts = [operand]
        let index: CollectionIndex
        switch (current.kind, following.kind) {
        case (.name(let name), .symbol("]")) where CollectionIndex(word: name) != nil:
            index = CollectionIndex(word: name) ?? .first
            advance()
        default:
            let inner = try parse(Precedence.set)
            parts.append(inner)
            index = .at(try expression(inner))
        }
        try expect("]", "after the index")
        return try node(.expression(NSExpression(.index(collection, index))), over: parts, at: operand.offset)
    }

    /// `name(…)` or `name:name:(…)`.
    mutating func function(_ first: String) throws -> Node {
        let start = current.offset
        var name = first
        advance()
        while skip(":") {
            name += ":"
            if case .name(let next) = current.kind {
                name += next
                advance()
            }
        }
        try expect("(", "after the function '\(name)'")
        switch name.uppercased() {
        case "SUBQUERY": return try subquery(start)
        case "TERNARY": return try ternary(start)
        case "FUNCTION": return try selectorCall(start)
        case "CAST": return try cast(start)
        case "FETCH":
            let cure = "fetch before, and give what comes of it as an argument; a mapping's sourceExpression of all objects may be left out"
            throw error("no text can FETCH here: \(cure)", at: start)
        default: return try predefined(name, start)
        }
    }

    private mutating func predefined(_ name: String, _ start: Int) throws -> Node {
        guard let known = PredefinedFunctions.canonicalName(name) else {
            throw error("there is no function '\(name)'", at: start)
        }
        let parts = isAt(")") ? [] : try list()
        try expect(")", "after the arguments of '\(name)'")
        guard PredefinedFunctions.accepts(parts.count, known) else {
            throw error("'\(name)' cannot take \(parts.count) arguments", at: start)
        }
        return try node(.expression(NSExpression(.function(known, try expressions(parts)))), over: parts, at: start)
    }

    private mutating func subquery(_ start: Int) throws -> Node {
        let collection = try parse(Precedence.set)
        try expect(",", "after the collection of SUBQUERY")
        guard case .variable(let variable) = current.kind else { throw expected("a variable such as $x") }
        advance()
        try expect(",", "after the variable of SUBQUERY")
        let condition = try parse(Precedence.or)
        let tree = ExpressionTree.subquery(try expression(collection), variable: variable, try predicate(condition))
        try expect(")", "after SUBQUERY")
        return try node(.expression(NSExpression(tree)), over: [collection, condition], at: start)
    }

    private mutating func ternary(_ start: Int) throws -> Node {
        let condition = try parse(Precedence.or)
        let test = try predicate(condition)
        try expect(",", "after the predicate of TERNARY")
        let values = try list()
        guard values.count == 2 else { throw error("TERNARY takes a predicate and two values", at: start) }
        try expect(")", "after TERNARY")
        let tree = ExpressionTree.conditional(test, then: try expression(values[0]), else: try expression(values[1]))
        return try node(.expression(NSExpression(tree)), over: [condition] + values, at: start)
    }

    private mutating func selectorCall(_ start: Int) throws -> Node {
        let parts = try list()
        guard parts.count >= 2, case .constant(let name as String) = try expression(parts[1]).tree else {
            throw error("FUNCTION takes a target, a selector in quotation marks and its arguments", at: start)
        }
        try expect(")", "after FUNCTION")
        let rest = try expressions(Array(parts.dropFirst(2)))
        return try node(.expression(NSExpression(.call(target: try expression(parts[0]), name, rest))), over: parts, at: start)
    }

    /// A constant is converted at once, so that a printed date reads back as a date.
    private mutating func cast(_ start: Int) throws -> Node {
        let parts = try list()
        guard parts.count == 2, case .constant(let type as String) = try expression(parts[1]).tree else {
            throw error("CAST takes a value and the name of a class in quotation marks", at: start)
        }
        try expect(")", "after CAST")
        let operands = try expressions(parts)
        guard case .constant(let value) = operands[0].tree, let constant = PredefinedFunctions.cast(value, to: type) else {
            return try node(.expression(NSExpression(.function("castObject:toType:", operands))), over: parts, at: start)
        }
        return Node(content: .expression(NSExpression(forConstantValue: constant)), offset: start)
    }
}

extension PredicateParser.Node {
    /// Another expression of the same height in the same place.
    fileprivate func replaced(by tree: ExpressionTree) -> Self {
        Self(content: .expression(NSExpression(tree)), offset: offset, depth: depth)
    }
}

extension CollectionIndex {
    fileprivate init?(word: String) {
        switch word.uppercased() {
        case "FIRST": self = .first
        case "LAST": self = .last
        case "SIZE": self = .size
        default: return nil
        }
    }
}
