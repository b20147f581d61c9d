/// Members that a relationship without inverse has led to from elsewhere. Their rows say one owner: whoever had them before has them no more.
struct TakenMembers {
    let context: NSManagedObjectContext

    /// Takes them from their former owners, as far as these are in the context: nothing of that is left to be saved.
    ///
    /// - Precondition: the links are saved, and the objects that they are of do not count as saved yet.
    /// - Complexity: O(n), n the number of the context's objects, for each link that leads to an object that is not new.
    func drop(after links: [ChangeSet.LinkChange]) {
        for link in links where link.relationship.inverse == nil {
            // Who is new was nobody's.
            let members = link.added.filter { $0.key > 0 }.compactMap { context.registeredObject(for: $0) }
            if !members.isEmpty { drop(members, link.relationship) }
        }
    }

    private func drop(_ members: [NSManagedObject], _ relationship: NSRelationshipDescription) {
        for object in context.registry.objects where object.entity.isKindOf(entity: relationship.entity) {
            guard case .toMany(let index, _)? = object.scope.shape.properties[relationship.name],
                let contents = object.existingContents(index), !contents.ownerIsNew, let known = contents.members
            else { continue }
            for member in members where known.contains(member) && !contents.added.contains(member) { contents.forget(member) }
        }
    }
}
