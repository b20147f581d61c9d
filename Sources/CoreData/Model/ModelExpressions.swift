import Predicates

extension NSDerivedAttributeDescription {
    /// What the value is computed from: a key path, a function of one, or `now()`.
    ///
    /// The only thing about a derived attribute that its version hash covers.
    public var derivationExpression: Predicates.NSExpression? {
        get { derivation as? Predicates.NSExpression }
        set { derivation = newValue }
    }
}

extension NSExpressionDescription {
    /// What each row of the fetch is asked for.
    public var expression: Predicates.NSExpression? {
        get { expressionObject as? Predicates.NSExpression }
        set { expressionObject = newValue }
    }
}
