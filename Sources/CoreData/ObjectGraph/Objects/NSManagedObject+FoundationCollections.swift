import Foundation

/// To-many relationships as Xcode's classes have them. What was read stays as it is when the relationship changes.
///
/// - Precondition: the entity has a to-many relationship of that name; ordered or not is what is asked for, whatever the model says.
/// - Complexity: O(n), with one statement where the relationship has not been read; O(1) for one of more than a few members that has not
///   changed since it was last asked for.
extension NSManagedObject {
    public final func foundationCollection<Target: NSManagedObject>(of relationship: ToMany<Target>) -> NSSet {
        let set = realizedContents(toManyIndex(relationship.name)).collection
        return set as? NSSet ?? NSSet(array: members(of: toManyIndex(relationship.name)))
    }

    public final func foundationCollection<Target: NSManagedObject>(of relationship: OrderedToMany<Target>) -> NSOrderedSet {
        let list = realizedContents(toManyIndex(relationship.name)).collection
        return list as? NSOrderedSet ?? NSOrderedSet(array: members(of: toManyIndex(relationship.name)))
    }
}
