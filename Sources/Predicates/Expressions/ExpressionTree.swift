import Foundation

/// What an `NSExpression` says, for code that translates or evaluates it.
public enum ExpressionTree {
    case constant(Any?)
    /// SELF.
    case evaluatedObject
    case anyKey
    case variable(String)
    /// A key path read from `operand`, or from the evaluated object when there is none.
    case keyPath(operand: NSExpression?, String)
    /// One of the predefined functions, such as `sum:` or `add:to:`.
    case function(String, [NSExpression])
    /// `FUNCTION(target, "name", arguments…)`.
    case call(target: NSExpression, String, [NSExpression])
    case index(NSExpression, CollectionIndex)
    case aggregate([NSExpression])
    case set(SetOperation, NSExpression, NSExpression)
    case subquery(NSExpression, variable: String, NSPredicate)
    case conditional(NSPredicate, then: NSExpression, else: NSExpression)
    case block(NSExpression.Block, [NSExpression])
}

/// What stands between the brackets of `items[…]`.
public enum CollectionIndex {
    case at(NSExpression)
    case first
    case last
    /// The number of elements.
    case size
}

/// The raw value is the keyword.
public enum SetOperation: String, Sendable {
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
}

extension NSExpression {
    public typealias Block = (Any?, [Any], NSMutableDictionary?) -> Any?

    /// Apple's raw values.
    public enum ExpressionType: UInt, Sendable {
        case constantValue = 0
        case evaluatedObject = 1
        case variable = 2
        case keyPath = 3
        case function = 4
        case unionSet = 5
        case intersectSet = 6
        case minusSet = 7
        case subquery = 13
        case aggregate = 14
        case anyKey = 15
        case block = 19
        case conditional = 20
    }

    public var expressionType: ExpressionType {
        switch tree {
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .anyKey: .anyKey
        case .variable: .variable
        case .keyPath(nil, _): .keyPath
        case .keyPath, .function, .call, .index: .function
        case .aggregate: .aggregate
        case .set(.union, _, _): .unionSet
        case .set(.intersect, _, _): .intersectSet
        case .set(.minus, _, _): .minusSet
        case .subquery: .subquery
        case .conditional: .conditional
        case .block: .block
        }
    }
}
