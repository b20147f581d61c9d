/// The relationship that a live collection changes, as long as the change in place lasts.
///
/// A live collection is a value all the same: the one that is changed while somebody has a copy of it leaves the relationship first.
final class RelationshipAccess {
    let owner: NSManagedObject
    let index: Int
    /// What those see who kept a copy beyond the change.
    var snapshot: MemberList?

    init(_ owner: NSManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
    }

    var members: MemberList { snapshot ?? owner.realizedContents(index).members ?? MemberList() }
}

/// A collection that can be bound to a relationship.
protocol RelatedCollection {
    init(_ access: RelationshipAccess)
    init(_ list: MemberList)
    init()
    var access: RelationshipAccess? { get }
    var objects: [NSManagedObject] { get }
}

extension NSManagedObject {
    final func currentMembers(_ index: Int) -> MemberList { realizedContents(index).members ?? MemberList() }

    /// The members of a to-many relationship, by its index; changed in place, they change one by one.
    final subscript<Members: RelatedCollection>(members index: Int) -> Members {
        get { Members(currentMembers(index)) }
        set { setMembers(newValue.objects, of: index) }
        _modify {
            var members = Members(RelationshipAccess(self, index))
            weak let access = members.access
            defer { endAccess(&members, { access }, index) }
            yield &members
        }
    }

    /// Ends a change in place: what was not changed at once is now, and copies keep what they had.
    private func endAccess<Members: RelatedCollection>(_ members: inout Members, _ access: () -> RelationshipAccess?, _ index: Int) {
        let isOurs = members.access.map { $0 === access() } ?? false
        if !isOurs {
            access()?.snapshot = currentMembers(index)
            return setMembers(members.objects, of: index)
        }
        members = Members()
        access()?.snapshot = currentMembers(index)
    }

    final func target<Target: NSManagedObject>(_ object: NSManagedObject) -> Target {
        guard let target = object as? Target else {
            misuse(
                """
                A relationship to \(Target.self) holds \(typeName(object)): set managedObjectClassName of entity \
                \(object.scope.entity.name ?? "?") to NSStringFromClass(\(Target.self).self).
                """
            )
        }
        return target
    }
}
