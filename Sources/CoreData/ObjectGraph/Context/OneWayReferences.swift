import Foundation

/// References without an inverse to objects that have gone: only objects with unsaved changes can have them, and these are looked through.
struct OneWayReferences {
    private let successions: [(lost: NSManagedObject, survivor: NSManagedObject)]
    private let context: NSManagedObjectContext

    init(to successions: [(NSManagedObject, NSManagedObject)], in context: NSManagedObjectContext) {
        self.successions = successions.map { ($0, $1) }
        self.context = context
    }

    private static func areThere(in context: NSManagedObjectContext) -> Bool {
        let properties = context.parentSource.managedObjectModel.entitiesInIndexOrder.lazy.flatMap(\.declaredProperties)
        return properties.contains { ($0 as? NSRelationshipDescription).map { $0.inverse == nil } ?? false }
    }

    /// Drops those to objects that were never saved: no file will ever have a row that they could lead to.
    static func drop(to lost: [NSManagedObject], in context: NSManagedObjectContext) {
        guard !lost.isEmpty, areThere(in: context) else { return }
        let (references, identities) = (Set(lost.map(\.rowReference)), Set(lost.map(ObjectIdentifier.init)))
        let objects = context.tracker.objects
        objects.forEachBorrowed { object in
            if object.state.isDisjoint(with: .pending) || object.state.contains(.deleted) { return }
            dropTargets(of: object, references, context)
            dropMembers(of: object, identities)
        }
    }

    private static func dropTargets(of object: NSManagedObject, _ lost: Set<RowReference>, _ context: NSManagedObjectContext) {
        guard !object.state.contains(.rowless) else { return }
        for (slot, relationship) in object.scope.shape.toOnes.enumerated() where relationship != nil && relationship?.inverse == nil {
            if let reference = object.reference(slot).map(context.forwarded), lost.contains(reference) { object.writeTarget(nil, slot) }
        }
    }

    private static func dropMembers(of object: NSManagedObject, _ lost: Set<ObjectIdentifier>) {
        object.forEachChangedToMany { index, contents in
            guard object.scope.shape.toManys[index].inverse == nil else { return }
            for member in contents.members?.array ?? contents.added.array where lost.contains(ObjectIdentifier(member)) {
                contents.forget(member)
            }
        }
    }

    /// Lets them lead to the survivors.
    func move() {
        guard Self.areThere(in: context) else { return }
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
