/// A value that each object of an entity has.
// Sendable: as for NSPropertyDescription.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    public var attributeType = NSAttributeType.undefinedAttributeType { willSet { requireEditable() } }
    /// The value of a new object; shared by all of them, not copied. Nil unless set.
    public var defaultValue: Any? { willSet { requireEditable() } }
    /// The name of the transformer between a transformable value and its stored data; nil means the default one.
    public var valueTransformerName: String? { willSet { requireEditable() } }
    /// Whether the store may keep large values in files of their own.
    public var allowsExternalBinaryDataStorage = false { willSet { requireEditable() } }
    /// Whether the history of a deletion keeps the value.
    public var preservesValueInHistoryOnDeletion = false { willSet { requireEditable() } }
    /// Kept with the model; without effect here.
    public var allowsCloudEncryption = false { willSet { requireEditable() } }

    /// The class of the values; follows from the type unless set.
    public var attributeValueClassName: String? {
        get { explicitValueClassName ?? attributeType.valueClassName }
        set { explicitValueClassName = newValue }
    }
    private var explicitValueClassName: String? { willSet { requireEditable() } }

    /// `attributeType` in Swift's spelling.
    public var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    override var hashBytes: [UInt8] { VersionHash.attribute(self) }

    /// Whether a store of today can keep the values: never false for a transient attribute.
    var isStorable: Bool { isTransient || attributeType.isStorable }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        guard let other = other as? NSAttributeDescription else { return }
        attributeType = other.attributeType
        defaultValue = other.defaultValue
        valueTransformerName = other.valueTransformerName
        allowsExternalBinaryDataStorage = other.allowsExternalBinaryDataStorage
        preservesValueInHistoryOnDeletion = other.preservesValueInHistoryOnDeletion
        allowsCloudEncryption = other.allowsCloudEncryption
        explicitValueClassName = other.explicitValueClassName
    }
}
