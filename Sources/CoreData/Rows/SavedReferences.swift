/// Which rows a save has changed.
struct SavedReferences: Sendable {
    var inserted: [RowReference] = []
    var updated: [RowReference] = []
    var deleted: [RowReference] = []
    /// Whether a merge policy has changed what contexts below believe to be saved: then it goes all the way down.
    var areCorrections = false

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
