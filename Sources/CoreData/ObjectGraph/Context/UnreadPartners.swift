import Foundation

/// Who has objects among the members of many-to-many relationships that the objects themselves have not read.
enum UnreadPartners {
    /// Lets objects know them whose deletes are carried along what is known here: their delete rules reach them, and so does a return.
    ///
    /// - Complexity: O(objects of the context) where one of the deleted was read as a member of such a relationship and has not read its own
    ///   end, else O(1) for each.
    static func note(for deleted: [NSManagedObject], in context: NSManagedObjectContext) {
        let asked = MemberList(deleted.filter(hasUnread))
        guard !asked.isEmpty else { return }
        for owner in context.registry.objects where owner.state.contains(.extras) {
            owner.existingExtras?.forEachToMany { note(owner, for: asked, $0) }
        }
    }

    private static func note(_ owner: NSManagedObject, for asked: MemberList, _ contents: ToManyContents) {
        let relationship = owner.scope.shape.toManys[contents.index]
        guard isManyToMany(relationship), let known = contents.members, let index = relationship.inverse?.toManyIndex else { return }
        let members = known.count < asked.count ? known.array.filter(asked.contains) : asked.array.filter(known.contains)
        for member in members { member.contents(index).notePartner(owner) }
    }

    private static func hasUnread(_ object: NSManagedObject) -> Bool {
        guard object.state.contains(.readAsMember) else { return false }
        return object.scope.shape.toManys.enumerated().contains { index, relationship in
            isManyToMany(relationship) && object.existingContents(index)?.members == nil
        }
    }

    private static func isManyToMany(_ relationship: NSRelationshipDescription) -> Bool { relationship.inverse?.isToMany == true }
}
