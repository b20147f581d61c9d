import Foundation

/// What objects refer to whose values are written as a whole, to bring a row back or to overwrite it: that may be gone by now, and where it is
/// not, it has them among its members again.
struct RowReturn {
    private let objects: [NSManagedObject]
    private let context: NSManagedObjectContext

    /// - Parameter objects: some may be deleted.
    init(of objects: [NSManagedObject], in context: NSManagedObjectContext) {
        self.objects = objects.filter { !$0.state.isDisjoint(with: .pending) && $0.state.isDisjoint(with: [.deleted, .rowless]) }
        self.context = context
    }

    /// - Throws: a store's error.
    func run() throws {
        guard !objects.isEmpty else { return }
        let gone = try goneTargets()
        for object in objects {
            let committed = object.committedRow
            for case let (slot, relationship?) in object.scope.shape.toOnes.enumerated() {
                if let committed, committed.reference(slot) == object.currentRow.reference(slot) { continue }
                guard let target = object.target(slot) else { continue }
                if target.state.contains(.deleted) || gone.contains(target.rowReference) {
                    object.writeTarget(nil, slot)
                } else if let inverse = relationship.inverse {
                    join(object, target, inverse)
                    // Somebody else may have the position by now.
                    if let position = object.scope.shape.positionSlots[slot] { object.writeNull(position) }
                }
            }
        }
    }

    private func join(_ object: NSManagedObject, _ target: NSManagedObject, _ inverse: NSRelationshipDescription) {
        // What has been read of it says what was so before the row was gone.
        if let index = inverse.toManyIndex {
            target.existingContents(index)?.forgetStored()
        } else {
            context.refresh(target, mergeChanges: true)
        }
        target.link(object, along: inverse)
    }

    /// Whether it will be in the store after the save, whether or not it is now: it is new, or a conflict of its own brings it back.
    private func comesBack(_ target: NSManagedObject) -> Bool {
        target.state.contains(.inserted) || (target.state.contains(.updated) && target.state.isDisjoint(with: [.deleted, .rowless]))
    }

    /// The targets that the store has no more; a row cache may not know it.
    private func goneTargets() throws -> Set<RowReference> {
        let references = Set(
            objects.flatMap { object in
                object.scope.shape.layout.referenceSlots.compactMap { object.target($0) }
                    .filter { !comesBack($0) }.map(\.rowReference)
            }
        )
        var gone: Set<RowReference> = []
        for group in Dictionary(grouping: references, by: { $0.entity }).values {
            context.parentSource.forgetRows(group)
            for (reference, row) in zip(group, try context.parentSource.rows(for: group)) where row == nil { gone.insert(reference) }
        }
        return gone
    }
}
