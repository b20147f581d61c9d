/// Objects of a save whose derived attributes have other values once a store has computed them.
struct DerivedChanges {
    private let before: [(object: NSManagedObject, row: Row)]

    /// What objects have before their rows are completed: of entities with derived attributes only.
    init(before groups: [ChangeFreezer.Objects]) {
        before = groups.filter { !$0.scope.shape.derivedSlots.isEmpty }.flatMap { objects in
            (objects.inserted + objects.updated).map { ($0, Row($0.copiedRow())) }
        }
    }

    /// Those that have changed count as refreshed: no more than that, as they are saved.
    ///
    /// - Returns: what contexts below have to read anew, as they believe that their values were saved.
    func note(in tracker: ChangeTracker) -> SavedReferences {
        var corrections = SavedReferences()
        for (object, row) in before where !object.state.contains(.rowless) {
            let changes = object.currentRow.differences(from: row, among: object.scope.shape.derivedSlots)
            if changes.isEmpty { continue }
            tracker.noteRefresh(of: object)
            corrections.updated.append(object.rowReference)
        }
        return corrections
    }
}
