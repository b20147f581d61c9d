import Foundation

/// Who is related to objects that have not read their own end of it.
enum UnreadPartners {
    /// Lets objects whose deletes are carried along what is known here know who has them among the members of a many-to-many relationship: their
    /// delete rules reach them, and so does a return.
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

    /// The same of who leads to them by a to-one relationship. Those that nobody has used are read anew when somebody does.
    ///
    /// - Complexity: O(objects of the context) where one of the deleted has not read its members, else O(1) for each.
    static func noteReferrers(to deleted: [NSManagedObject], in context: NSManagedObjectContext) {
        let asked = Dictionary(deleted.filter(hasUnreadReferrers).map { ($0.rowReference.identity, $0) }) { first, _ in first }
        guard !asked.isEmpty else { return }
        for referrer in context.registry.objects where referrer.state.isDisjoint(with: [.fault, .rowless, .deleted]) {
            for case let (slot, relationship?) in referrer.scope.shape.toOnes.enumerated() {
                guard let index = relationship.inverse?.toManyIndex, let reference = referrer.forwardedReference(slot) else { continue }
                asked[reference.identity]?.contents(index).notePartner(referrer)
            }
        }
    }

    private static func hasUnreadReferrers(_ object: NSManagedObject) -> Bool {
        object.scope.shape.toManys.enumerated().contains { index, relationship in
            relationship.inverse?.isToMany == false && relationship.deleteRule != .noActionDeleteRule
                && object.existingContents(index)?.members == nil
        }
    }

    private static func isManyToMany(_ relationship: NSRelationshipDescription) -> Bool { relationship.inverse?.isToMany == true }
}
