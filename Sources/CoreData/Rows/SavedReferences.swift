/// Which rows a save has changed.
struct SavedReferences: Sendable {
    var inserted: [RowReference] = []
    var updated: [RowReference] = []
    var deleted: [RowReference] = []
    /// Those of the deleted that were never saved, and that a context above has dropped: nobody has wanted a delete that leads to others.
    var dropped: [RowReference] = []
    /// Whether a merge policy, or the store by derived attributes, has changed what contexts below believe to be saved: then it goes all the way down.
    var areCorrections = false
    /// Whether a program has said what is in it, which may not name those that the deleted were related to: as with the IDs of a batch delete.
    var mayLackRelated = false

    /// New objects that a merge policy has merged into others which have the same unique values.
    var replaced: [Replacement] = []

    struct Replacement: Sendable {
        let lost: RowReference
        let survivor: RowReference
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && replaced.isEmpty }

    /// These with what a policy has corrected.
    func corrected(by corrections: SavedReferences) -> SavedReferences {
        var all = self
        all.inserted += corrections.inserted
        all.updated += corrections.updated
        all.deleted += corrections.deleted
        all.replaced += corrections.replaced
        all.areCorrections = areCorrections || !corrections.isEmpty
        return all
    }
}
