import Foundation

/// Members of many-to-many relationships that are known at the other end only.
enum OneSidedMembers {
    /// Takes deleted objects out of the relationships of those that have them among their members, though nobody has asked the deleted ones
    /// for whom they are related to: what is shown must not hold an object that is gone.
    ///
    /// - Complexity: O(members that are known) where one of the objects has such a relationship that it has not read, else O(1) for each.
    static func drop(_ deleted: [NSManagedObject], in context: NSManagedObjectContext) {
        let lost = MemberList(deleted.filter(hasUnreadPartners))
        guard !lost.isEmpty else { return }
        for owner in context.registry.objects where owner.state.contains(.extras) && !owner.state.contains(.deleted) {
            owner.existingExtras?.forEachToMany { drop(lost, from: $0, of: owner) }
        }
    }

    private static func drop(_ lost: MemberList, from contents: ToManyContents, of owner: NSManagedObject) {
        guard isManyToMany(owner.scope.shape.toManys[contents.index]), let known = contents.members else { return }
        let members = known.count < lost.count ? known.array.filter(lost.contains) : lost.array.filter(known.contains)
        guard !members.isEmpty else { return }
        for member in members {
            // What others have deleted leaves nothing to be saved.
            if member.state.contains(.rowGone) { contents.remove(member) } else { owner.unlinkMember(member, contents.index) }
        }
        owner.registeredContext?.tracker.noteRefresh(of: owner)
    }

    private static func hasUnreadPartners(_ object: NSManagedObject) -> Bool {
        object.scope.shape.toManys.enumerated().contains { index, relationship in
            isManyToMany(relationship) && object.existingContents(index)?.members == nil
        }
    }

    private static func isManyToMany(_ relationship: NSRelationshipDescription) -> Bool { relationship.inverse?.isToMany == true }
}
