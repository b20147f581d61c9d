import Foundation
import Predicates
import class Predicates.NSExpression

/// What an entity mapping does with the objects of its source entity.
public enum NSEntityMappingType: UInt, Sendable {
    /// What the mapping model does not say.
    case undefinedEntityMappingType = 0
    /// A policy of the program's makes the destination objects.
    case customEntityMappingType = 1
    /// The entity is new: there are no source objects.
    case addEntityMappingType = 2
    /// The entity is gone, and its objects with it.
    case removeEntityMappingType = 3
    /// The entity is the same in both models.
    case copyEntityMappingType = 4
    /// The entity is another version of itself.
    case transformEntityMappingType = 5
}

/// How the objects of one entity become those of another.
open class NSEntityMapping: NSObject {
    public override init() {}

    /// Unique in its mapping model.
    open var name: String!
    open var mappingType = NSEntityMappingType.undefinedEntityMappingType
    /// Nil for an entity that is added.
    open var sourceEntityName: String?
    open var sourceEntityVersionHash: Data?
    /// Nil for an entity that is removed.
    open var destinationEntityName: String?
    open var destinationEntityVersionHash: Data?
    open var attributeMappings: [NSPropertyMapping]?
    open var relationshipMappings: [NSPropertyMapping]?
    /// What fetches the source objects; nil for all objects of the source entity.
    open var sourceExpression: NSExpression?
    open var userInfo: [AnyHashable: Any]?
    open var entityMigrationPolicyClassName: String?
}
