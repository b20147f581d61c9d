import Foundation

/// A value in a predicate: a constant, a key path, a function of other values.
///
/// Immutable; a copy is the object itself.
open class NSExpression: NSObject, NSCopying {
    /// The expression as an enumeration, to be switched over.
    public let tree: ExpressionTree
    /// The keys of a key path, split once.
    let keys: [String]
    /// A constant's value, converted once.
    let constant: Value?
    /// What a subquery's elements must satisfy, or what TERNARY depends on.
    let condition: PredicateTree?
    /// The elements of a constant collection.
    let members: ConstantMembers?

    public init(_ tree: ExpressionTree) {
        self.tree = tree
        keys = if case .keyPath(_, let path) = tree { path.split(separator: ".").map(String.init) } else { [] }
        constant = if case .constant(let value) = tree { Value(value) } else { nil }
        condition =
            switch tree {
            case .subquery(_, _, let predicate), .conditional(let predicate, _, _): predicate.tree
            default: nil
            }
        members = constant?.elements.map(ConstantMembers.init)
        super.init()
    }

    /// The commonest constant, of which it is known what it is.
    private init(text: String) {
        (tree, keys, constant, condition, members) = (.constant(text), [], .text(text), nil, nil)
        super.init()
    }

    public convenience init(forConstantValue object: Any?) {
        if let object, type(of: object) == String.self, let text = object as? String {
            self.init(text: text)
        } else {
            self.init(.constant(flattened(object)))
        }
    }

    public convenience init(forVariable name: String) {
        self.init(.variable(name))
    }

    /// The key path `SELF` or an empty one stands for the evaluated object.
    public convenience init(forKeyPath keyPath: String) {
        self.init(keyPath.isEmpty || keyPath.uppercased() == "SELF" ? .evaluatedObject : .keyPath(operand: nil, keyPath))
    }

    @available(
        *,
        unavailable,
        message:
            "A Swift key path has a name on Linux where its class says so (KeyPathNaming), as generated and adopted ones do; generic code says T: NSManagedObject & KeyPathNaming; otherwise NSExpression(forKeyPath: \"estimate\")."
    )
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) { fatalError("unavailable") }

    /// One of the predefined functions, named as Apple names them (`sum:`, `add:to:`, `now`).
    ///
    /// Arguments that are not expressions are taken as constants. A name nobody knows is found out when the expression is evaluated.
    public convenience init(forFunction name: String, arguments: [Any]) {
        self.init(.function(name, arguments.map(expression)))
    }

    /// A function of `target`, which is a `FunctionReceiver` in memory; of anything else only a name without arguments can be evaluated: it is read
    /// as a key.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
        self.init(.call(target: target, name, (arguments ?? []).map(expression)))
    }

    /// A list of values; elements that are not expressions are taken as constants.
    public convenience init(forAggregate subexpressions: [Any]) {
        self.init(.aggregate(subexpressions.map(expression)))
    }

    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.union, left, right))
    }

    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.intersect, left, right))
    }

    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.minus, left, right))
    }

    /// The elements of a collection for which `predicate` holds with `variable` bound to the element.
    public convenience init(forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate) {
        self.init(.subquery(expression, variable: variable, predicate))
    }

    public convenience init(forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression) {
        self.init(.conditional(predicate, then: trueExpression, else: falseExpression))
    }

    /// A value computed by a closure from the evaluated object, the arguments' values and the variables.
    public convenience init(block: @escaping Block, arguments: [NSExpression]?) {
        self.init(.block(block, arguments ?? []))
    }

    open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.evaluatedObject) }

    open class func expressionForAnyKey() -> NSExpression { NSExpression(.anyKey) }

    /// The value for an object, with Foundation's meaning of nil; `context` holds the variables. A number is an `NSNumber`.
    ///
    /// - Precondition: keys, variables and functions exist. `value(for:semantics:variables:)` throws instead.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        do {
            return boxed(try value(for: object, variables: context.map(variables(in:)) ?? [:]))
        } catch {
            let reason = error.localizedDescription
            fatalError("NSExpression '\(self)' cannot be evaluated: \(reason) (value(for:semantics:variables:) throws this instead.)")
        }
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
    open override func copy() -> Any { self }

    open override var description: String { PrintedText(self).string }
    open override var debugDescription: String { description }

    open override var hash: Int { structuralHash }
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return StructureComparison.areEqual(self, other)
    }
}

/// Arguments may be given as expressions or as plain values.
private func expression(_ value: Any) -> NSExpression {
    value as? NSExpression ?? NSExpression(forConstantValue: value)
}

private func variables(in context: NSMutableDictionary) -> [String: Any] {
    var result: [String: Any] = [:]
    for (key, value) in context { if let key = key as? String { result[key] = value } }
    return result
}
