/// A computed column of a fetch that answers with dictionaries, or an element of an index. It belongs to no entity.
// Sendable: as for NSPropertyDescription.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    public var expressionResultType = NSAttributeType.undefinedAttributeType { willSet { requireEditable() } }

    /// The expression.
    var expressionObject: NSObject? { willSet { requireEditable() } }

    /// `expressionResultType` in Swift's spelling.
    public var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    override func saysTheSame(as other: NSPropertyDescription) -> Bool {
        guard let other = other as? NSExpressionDescription else { return false }
        return expressionResultType == other.expressionResultType && expressionObject == other.expressionObject
    }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        guard let other = other as? NSExpressionDescription else { return }
        expressionResultType = other.expressionResultType
        expressionObject = other.expressionObject
    }
}
