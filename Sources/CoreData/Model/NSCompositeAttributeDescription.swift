/// An attribute made of named elements, each an attribute itself.
// Sendable: as for NSPropertyDescription.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    public required init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    public var elements: [NSAttributeDescription] = [] { willSet { requireEditable() } }

    override func freeze() {
        super.freeze()
        elements.forEach { $0.freeze() }
    }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        // copy() of an attribute makes an object of the same class.
        elements = ((other as? NSCompositeAttributeDescription)?.elements ?? []).map { $0.copy() as! NSAttributeDescription }
    }
}
