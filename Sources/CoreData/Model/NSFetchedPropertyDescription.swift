/// A property whose value is the result of a fetch. It has no place in the store and no part in version hashes.
// Sendable: as for NSPropertyDescription.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    /// The fetch; requests are of a layer above.
    var template: FetchTemplate? { willSet { requireEditable() } }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        template = (other as? NSFetchedPropertyDescription)?.template
    }
}
