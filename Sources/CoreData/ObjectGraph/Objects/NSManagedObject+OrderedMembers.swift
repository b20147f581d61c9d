import Foundation

/// What generated classes are built on beyond single members: several at once, and members of an ordered relationship by index.
extension NSManagedObject {
    /// Adds objects to a to-many relationship.
    public final func add<Target: NSManagedObject>(_ objects: some Sequence<Target>, to relationship: ToMany<Target>) {
        for object in objects { add(object, to: relationship) }
    }

    /// Takes objects out of a to-many relationship.
    public final func remove<Target: NSManagedObject>(_ objects: some Sequence<Target>, from relationship: ToMany<Target>) {
        for object in objects { remove(object, from: relationship) }
    }

    /// Adds objects at the end of an ordered to-many relationship, in order.
    public final func add<Target: NSManagedObject>(_ objects: some Sequence<Target>, to relationship: OrderedToMany<Target>) {
        for object in objects { add(object, to: relationship) }
    }

    /// Takes objects out of an ordered to-many relationship.
    public final func remove<Target: NSManagedObject>(_ objects: some Sequence<Target>, from relationship: OrderedToMany<Target>) {
        for object in objects { remove(object, from: relationship) }
    }

    /// Adds the objects of a set to a to-many relationship.
    ///
    /// - Precondition: the set has objects of the relationship's class only; the same holds for the three that follow.
    public final func add<Target: NSManagedObject>(_ objects: NSSet, to relationship: ToMany<Target>) {
        add(targets(objects.allObjects, Target.self, relationship.name), to: relationship)
    }

    public final func remove<Target: NSManagedObject>(_ objects: NSSet, from relationship: ToMany<Target>) {
        remove(targets(objects.allObjects, Target.self, relationship.name), from: relationship)
    }

    public final func add<Target: NSManagedObject>(_ objects: NSOrderedSet, to relationship: OrderedToMany<Target>) {
        add(targets(objects.array, Target.self, relationship.name), to: relationship)
    }

    public final func remove<Target: NSManagedObject>(_ objects: NSOrderedSet, from relationship: OrderedToMany<Target>) {
        remove(targets(objects.array, Target.self, relationship.name), from: relationship)
    }

    private func targets<Target: NSManagedObject>(_ objects: [Any], _ type: Target.Type, _ name: String) -> [Target] {
        objects.map { object in
            guard let target = object as? Target else {
                misuse("Relationship \(name) takes \("\(type)".withArticle), not \(typeName(object)).")
            }
            return target
        }
    }
}

/// Members of an ordered to-many relationship by index. Each of these reads the relationship.
///
/// - Complexity: O(log n) for each object; O(n) where one that is put in is in already.
/// - Precondition: the indexes are in the relationship.
extension NSManagedObject {
    /// Puts one object at an index; those from there on move up.
    public final func insert<Target: NSManagedObject>(_ object: Target, into relationship: OrderedToMany<Target>, at index: Int) {
        insert([object], into: relationship, at: [index])
    }

    /// Puts each object at an index, the lowest first.
    public final func insert<Target: NSManagedObject>(
        _ objects: [Target],
        into relationship: OrderedToMany<Target>,
        at indexes: some Sequence<Int>
    ) {
        var members: RelatedList<Target> {
            get { self[relationship] }
            _modify { yield &self[relationship] }
        }
        for (index, object) in zip(indexes, objects) { members.insert(object, at: index) }
    }

    /// Removes the object at an index.
    public final func remove<Target: NSManagedObject>(at index: Int, from relationship: OrderedToMany<Target>) {
        remove(at: [index], from: relationship)
    }

    /// Removes the objects at several indexes.
    public final func remove<Target: NSManagedObject>(at indexes: some Sequence<Int>, from relationship: OrderedToMany<Target>) {
        let members = toManyIndex(relationship.name)
        for index in indexes.sorted().reversed() { removeMember(currentMembers(members)[index], from: members) }
    }

    /// Puts one object where another was.
    public final func replace<Target: NSManagedObject>(at index: Int, with object: Target, in relationship: OrderedToMany<Target>) {
        replaceMember(at: index, with: object, of: toManyIndex(relationship.name))
    }

    /// Puts objects where others were.
    public final func replace<Target: NSManagedObject>(
        at indexes: some Sequence<Int>,
        with objects: [Target],
        in relationship: OrderedToMany<Target>
    ) {
        // One change: an object may be in twice in its midst.
        func replace(in members: inout RelatedList<Target>) {
            for (index, object) in zip(indexes, objects) { members[index] = object }
        }
        replace(in: &self[relationship])
    }
}
