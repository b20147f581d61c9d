/// A property whose value is the result of a fetch. It has no place in the store.
// Sendable: as for NSPropertyDescription.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {}
