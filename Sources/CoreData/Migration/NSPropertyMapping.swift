import Foundation
import Predicates
import class Predicates.NSExpression

/// Where the value of one property of a destination object comes from.
open class NSPropertyMapping: NSObject {
    public override init() {}

    /// The property of the destination entity.
    open var name: String?
    /// What the value is computed from; nil for a property that gets none, and keeps its default.
    open var valueExpression: NSExpression?
    /// What the program notes of the mapping.
    open var userInfo: [AnyHashable: Any]?

    /// Whether the value without an expression is that of the same name in the source: so it is in the source of a mapping model.
    final var followsFromName = false
}
