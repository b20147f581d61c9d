import Foundation

/// The values of one object as an incremental store has them, with their version.
open class NSIncrementalStoreNode: NSObject {
    public let objectID: NSManagedObjectID
    /// Which version of the object the values are; the same for all, where the class knows none. A newer one is higher, by whatever steps. Whether
    /// others have changed an object is told by the values.
    public private(set) var version: UInt64
    private(set) final var values: [String: Any]

    /// - Parameters:
    ///   - objectID: whose values they are.
    ///   - values: by name: those of attributes as objects have them; of to-one relationships the ID, or `NSNull` where there is none. A
    ///     to-one that is missing is asked for with `newValue(forRelationship:forObjectWith:with:)`; an attribute that is missing is nil.
    ///   - version: which version of the object the values are.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        (self.objectID, self.values, self.version) = (objectID, values, version)
        super.init()
    }

    /// Replaces all values.
    open func update(withValues values: [String: Any], version: UInt64) { (self.values, self.version) = (values, version) }

    /// The value of a property; nil where the node has none, and `NSNull` for a nil in an `Any`, as of `json["title"] as Any`.
    // NB: on a Mac that becomes NSNull where the values are bridged to Objective-C.
    open func value(for property: NSPropertyDescription) -> Any? { values[property.name].map { unwrapped($0) ?? NSNull() } }

    open override var description: String { "<\(type(of: self)) \(objectID.uriRepresentation().absoluteString), version \(version)>" }
}
