import Foundation

/// Expressions, those with operands without recursion: functions may be nested as deep as memory goes.
extension Evaluator {
    func value(of expression: NSExpression, for object: Any?) throws -> Any? {
        // What most expressions are.
        switch expression.tree {
        case .constant(let value): return value
        case .keyPath(nil, _): return try reader.value(of: expression.keys, in: object)
        default: return try valueOfNested(expression, object)
        }
    }

    private func valueOfNested(_ expression: NSExpression, _ object: Any?) throws -> Any? {
        var open: [OpenExpression] = []
        var expression = expression
        while true {
            if let branch = try branch(of: expression, object) {
                expression = branch
                continue
            }
            let operands = expression.operands
            if let first = operands.first {
                open.append(OpenExpression(expression: expression, operands: operands))
                expression = first
                continue
            }
            var value = try value(of: expression, [], object)
            while !open.isEmpty, open[open.count - 1].isComplete(with: value) {
                let complete = open.removeLast()
                value = try self.value(of: complete.expression, complete.values, object)
            }
            guard let next = open.last?.nextOperand else { return value }
            expression = next
        }
    }

    /// What TERNARY comes to; nil for every other expression.
    private func branch(of expression: NSExpression, _ object: Any?) throws -> NSExpression? {
        guard case .conditional(_, let yes, let no) = expression.tree, let condition = expression.condition else { return nil }
        return try truth(of: condition, for: object) == true ? yes : no
    }

    /// The value of an expression whose operands have these values.
    private func value(of expression: NSExpression, _ operands: [Any?], _ object: Any?) throws -> Any? {
        switch expression.tree {
        case .constant(let value): value
        case .evaluatedObject: flattened(object)
        case .anyKey: throw PredicateEvaluationError.unsupported("ANYKEY has no value outside a Spotlight query")
        case .variable(let name): try variable(name)
        case .keyPath(nil, _): try reader.value(of: expression.keys, in: object)
        case .keyPath: try reader.value(of: expression.keys, in: operands[0])
        case .function(let name, _): try PredefinedFunctions.call(name, operands)
        case .call(_, let name, _): try call(name, on: operands[0], Array(operands.dropFirst()))
        case .index(_, let index): try element(index, of: operands[0], at: operands.count > 1 ? operands[1] : nil)
        case .aggregate: operands
        case .set(let operation, _, _): operation.apply(Value(operands[0]), Value(operands[1]))
        case .subquery(_, let variable, _): try subquery(operands[0], variable, expression.condition, object)
        case .block(let block, _): call(block, operands, object)
        case .conditional: preconditionFailure("TERNARY is the value of one of its branches")
        }
    }

    private var reader: KeyPathReader { KeyPathReader(semantics: semantics) }

    private func variable(_ name: String) throws -> Any? {
        guard let value = variables[name] else { throw PredicateEvaluationError.undefinedVariable(name) }
        return flattened(value)
    }

    /// There is no way to send a selector here: who takes functions is told its name, values answer those that are known, and what has keys is read
    /// by them.
    private func call(_ name: String, on target: Any?, _ arguments: [Any?]) throws -> Any? {
        if let receiver = target as? any FunctionReceiver { return flattened(try receiver.value(forFunction: name, arguments: arguments)) }
        if target is any KeyValueSource, let keys = Self.keys(of: name, arguments) { return try reader.value(of: keys, in: target) }
        return try Messages.answer(name, of: target, arguments)
    }

    /// The keys that a message reads: its own name, or what key-value coding is told.
    private static func keys(of message: String, _ arguments: [Any?]) -> [String]? {
        switch (message, arguments.count, arguments.first as? String) {
        case ("valueForKey:", 1, let key?): [key]
        case ("valueForKeyPath:", 1, let path?): path.split(separator: ".").map(String.init)
        default: arguments.isEmpty && !message.contains(":") ? [message] : nil
        }
    }

    private func call(_ block: NSExpression.Block, _ arguments: [Any?], _ object: Any?) -> Any? {
        let context = NSMutableDictionary()
        for (name, value) in variables { context.setObject(value, forKey: name as NSString) }
        return flattened(block(object, arguments.map { $0 ?? NSNull() }, context))
    }

    private func subquery(_ collection: Any?, _ variable: String, _ condition: PredicateTree?, _ object: Any?) throws -> Any? {
        let elements = Value(collection).elements ?? []
        guard let condition else { return elements }
        var inner = self
        inner.iterated.insert(variable)
        return try elements.filter { element in
            inner.variables[variable] = element ?? NSNull()
            return try inner.truth(of: condition, for: object) == true
        }
    }

    private func element(_ index: CollectionIndex, of collection: Any?, at position: Any?) throws -> Any? {
        if let source = collection as? any KeyValueSource, case .at = index {
            return flattened(try source.predicateValue(forKey: "\(position ?? "")"))
        }
        let elements = Value(collection).elements ?? []
        switch index {
        case .first: return elements.first ?? nil
        case .last: return elements.last ?? nil
        case .size: return elements.count
        case .at: return PredefinedFunctions.element(Value(position), of: elements)
        }
    }
}

/// An expression whose operands are being evaluated.
private struct OpenExpression {
    let expression: NSExpression
    let operands: [NSExpression]
    private(set) var values: [Any?] = []

    init(expression: NSExpression, operands: [NSExpression]) {
        (self.expression, self.operands) = (expression, operands)
        values.reserveCapacity(operands.count)
    }

    var nextOperand: NSExpression { operands[values.count] }

    /// Notes the value of the next operand; true where it was the last.
    mutating func isComplete(with value: Any?) -> Bool {
        values.append(value)
        return values.count == operands.count
    }
}

extension NSExpression {
    /// The expressions whose values the expression's own is made of.
    fileprivate var operands: [NSExpression] {
        switch tree {
        case .constant, .evaluatedObject, .anyKey, .variable, .keyPath(nil, _), .conditional: []
        case .keyPath(let operand?, _): [operand]
        case .function(_, let arguments), .aggregate(let arguments), .block(_, let arguments): arguments
        case .call(let target, _, let arguments): [target] + arguments
        case .index(let collection, .at(let index)): [collection, index]
        case .index(let collection, _), .subquery(let collection, _, _): [collection]
        case .set(_, let left, let right): [left, right]
        }
    }
}

extension SetOperation {
    /// The elements of the result, each once, in the order of the left side.
    fileprivate func apply(_ left: Value, _ right: Value) -> [Any?] {
        let left = left.elements ?? []
        let right = ConstantMembers(right.elements ?? [])
        let kept: [Any?] =
            switch self {
            case .union: left + right.elements
            case .intersect: left.filter { right.contains(Value($0)) }
            case .minus: left.filter { !right.contains(Value($0)) }
            }
        return Aggregates.distinct(kept)
    }
}
