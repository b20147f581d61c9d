/// An attribute whose value the store computes from others at each save.
// Sendable: as for NSPropertyDescription.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// The expression; its description is what the version hash covers.
    var derivation: NSObject? { willSet { requireEditable() } }

    override var hashBytes: [UInt8] { VersionHash.derivedAttribute(derivation?.description ?? "") }
    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        derivation = (other as? NSDerivedAttributeDescription)?.derivation
    }
}
