import Foundation

/// References without an inverse to objects that have gone: only objects with unsaved changes can have them, and these are looked through.
struct OneWayReferences {
    private let successions: [(lost: NSManagedObject, survivor: NSManagedObject)]
    private let context: NSManagedObjectContext

    init(to successions: [(NSManagedObject, NSManagedObject)], in context: NSManagedObjectContext) {
        self.successions = successions.map { ($0, $1) }
        self.context = context
    }

    /// Lets them lead to the survivors.
    func move() {
        let properties = context.parentSource.managedObjectModel.entitiesInIndexOrder.lazy.flatMap(\.declaredProperties)
        guard properties.contains(where: { ($0 as? NSRelationshipDescription).map { $0.inverse == nil } ?? false }) else { return }
        let survivors = Dictionary(successions.map { (ObjectIdentifier($0.lost), $0.survivor) }) { $1 }
        let byReference = Dictionary(successions.map { ($0.lost.rowReference, $0.survivor) }) { $1 }
        let objects = context.tracker.objects
        objects.forEachBorrowed { object in
            if object.state.isDisjoint(with: .pending) || object.state.contains(.deleted) { return }
            moveTargets(of: object, byReference)
            moveMembers(of: object, survivors)
        }
    }

    private func moveTargets(of object: NSManagedObject, _ survivors: [RowReference: NSManagedObject]) {
        for (slot, relationship) in object.scope.shape.toOnes.enumerated() where relationship != nil && relationship?.inverse == nil {
            guard let reference = object.reference(slot).map(context.forwarded), let survivor = survivors[reference] else { continue }
            object.setTarget(survivor, slot)
        }
    }

    private func moveMembers(of object: NSManagedObject, _ survivors: [ObjectIdentifier: NSManagedObject]) {
        object.forEachChangedToMany { index, contents in
            guard object.scope.shape.toManys[index].inverse == nil else { return }
            for member in contents.members?.array ?? contents.added.array {
                guard let survivor = survivors[ObjectIdentifier(member)] else { continue }
                // It is in no store: there is nothing to take out of one.
                if member.state.contains(.detached) { contents.forget(member) } else { object.removeMember(member, from: index) }
                object.addMember(survivor, to: index)
            }
        }
    }
}
