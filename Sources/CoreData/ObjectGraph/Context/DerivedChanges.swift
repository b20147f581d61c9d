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
    func note(in tracker: ChangeTracker) {
        for (object, row) in before where !object.state.contains(.rowless) {
            let changes = object.currentRow.differences(from: row, among: object.scope.shape.derivedSlots)
            if !changes.isEmpty { tracker.noteRefresh(of: object) }
        }
    }
}
