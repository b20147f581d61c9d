import Foundation

/// The parts of an expression. Asking for a part that its type does not have is a programming error and traps.
extension NSExpression {
    /// A number is an `NSNumber`.
    public var constantValue: Any? {
        guard case .constant(let value) = tree else { missing("constantValue") }
        return boxed(value)
    }

    public var keyPath: String {
        guard case .keyPath(_, let path) = tree else { missing("keyPath") }
        return path
    }

    public var variable: String {
        switch tree {
        case .variable(let name), .subquery(_, variable: let name, _): name
        default: missing("variable")
        }
    }

    /// The name of the function; `valueForKeyPath:` for a key path of another expression, `objectFrom:withIndex:` for an index.
    public var function: String {
        switch tree {
        case .function(let name, _), .call(_, let name, _): name
        case .keyPath(.some, _): "valueForKeyPath:"
        case .index: "objectFrom:withIndex:"
        default: missing("function")
        }
    }

    /// What the function is called with; nil for expressions that take no arguments.
    public var arguments: [NSExpression]? {
        switch tree {
        case .function(_, let arguments), .call(_, _, let arguments), .block(_, let arguments): arguments
        case .keyPath(.some, let path): [NSExpression(forKeyPath: path)]
        case .index(let collection, let index): [collection, index.expression]
        default: nil
        }
    }

    /// What a function is called on.
    public var operand: NSExpression {
        switch tree {
        case .call(target: let target, _, _): target
        case .keyPath(let operand, _): operand ?? NSExpression(.evaluatedObject)
        case .function, .index: NSExpression(.evaluatedObject)
        default: missing("operand")
        }
    }

    /// The expressions of an aggregate (`[NSExpression]`), or the collection of a subquery (`NSExpression`).
    public var collection: Any {
        switch tree {
        case .aggregate(let elements): elements
        case .subquery(let collection, _, _): collection
        default: missing("collection")
        }
    }

    public var predicate: NSPredicate {
        switch tree {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): predicate
        default: missing("predicate")
        }
    }

    public var left: NSExpression {
        guard case .set(_, let left, _) = tree else { missing("left") }
        return left
    }

    public var right: NSExpression {
        guard case .set(_, _, let right) = tree else { missing("right") }
        return right
    }

    public var `true`: NSExpression {
        guard case .conditional(_, let value, _) = tree else { missing("true") }
        return value
    }

    public var `false`: NSExpression {
        guard case .conditional(_, _, let value) = tree else { missing("false") }
        return value
    }

    public var expressionBlock: Block {
        guard case .block(let block, _) = tree else { missing("expressionBlock") }
        return block
    }

    private func missing(_ part: String) -> Never {
        preconditionFailure("NSExpression \"\(self)\" has no \(part): it is of type \(expressionType). Check expressionType first.")
    }
}

/// Numbers as objects, which can be cast to any type of number that holds them.
// NB: not decimals: an NSDecimalNumber overflows the stack on Linux when it is asked for its hash. They can be cast to one.
func boxed(_ value: Any?) -> Any? {
    guard let value, !(type(of: value) is AnyClass), !(value is Decimal) else { return value }
    return value as? NSNumber ?? value
}

extension CollectionIndex {
    var expression: NSExpression {
        switch self {
        case .at(let index): index
        case .first: NSExpression(forConstantValue: "FIRST")
        case .last: NSExpression(forConstantValue: "LAST")
        case .size: NSExpression(forConstantValue: "SIZE")
        }
    }
}
