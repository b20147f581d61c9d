import Foundation

/// A change as delegates take it in one piece.
extension ResultsChange {
    /// The objects that were there and have changed.
    var changedIDs: [NSManagedObjectID] { moves.map(\.object.objectID) + updates.map(\.object.objectID) }

    /// The change of a list without sections. Nil is never the case: the offsets are those of one list before and after.
    var difference: CollectionDifference<NSManagedObjectID>? {
        typealias Change = CollectionDifference<NSManagedObjectID>.Change
        var changes: [Change] = []
        for (object, old) in deletions { changes.append(.remove(offset: old.item, element: object.objectID, associatedWith: nil)) }
        for (object, new) in insertions { changes.append(.insert(offset: new.item, element: object.objectID, associatedWith: nil)) }
        for (object, old, new) in moves + updates {
            changes.append(.remove(offset: old.item, element: object.objectID, associatedWith: new.item))
            changes.append(.insert(offset: new.item, element: object.objectID, associatedWith: old.item))
        }
        return CollectionDifference(changes)
    }
}
