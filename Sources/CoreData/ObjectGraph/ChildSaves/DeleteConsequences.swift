/// What children's saves come to together and none of them says: a delete reaches what another child has related to the object, and so does one
/// by somebody else, of whose object a save has just found no row. It goes with the delete, and is no change of the context itself.
struct DeleteConsequences {
    private let context: NSManagedObjectContext
    private var changes = ChangeSet()

    /// Tries what comes of the saves, and takes it back.
    ///
    /// - Parameter lost: what was deleted in the context, since it has no row.
    /// - Precondition: nothing is unsaved in the context, and nothing is afterwards.
    /// - Complexity: O(changes of the saves), where they delete anything.
    init(of saves: [ChangeSet], and lost: [NSManagedObject], in context: NSManagedObjectContext) {
        self.context = context
        guard !lost.isEmpty || saves.contains(where: { !$0.deletedReferences.isEmpty }) else { return }
        context.receiveWhatIsThere(ChangeSet.joined(saves), endsEvent: false)
        for object in lost { context.vanish(object, .missingRow) }
        DeletePropagation(context: context).run()
        let all = context.frozenChanges()
        _ = context.withdrawChanges()
        changes = ChangeSetRemainder(of: all, beyond: saves, newest: context.forwarded, current: context.savedRow).changes
        removeDeletes(of: Set(lost.map(\.rowReference)))
    }

    /// What is deleted in a context, since others have deleted its row.
    static func objectsWithoutRow(in context: NSManagedObjectContext) -> [NSManagedObject] {
        context.tracker.objects(.deleted).filter { $0.state.contains(.rowGone) }
    }

    private mutating func removeDeletes(of lost: Set<RowReference>) {
        for (index, group) in changes.groups.enumerated() {
            changes.groups[index].deletes.removeAll { lost.contains(group.reference($0.key)) }
        }
    }

    /// What the contexts below have to read again, should a delete go back: they took it for saved.
    var references: SavedReferences {
        let ends = changes.links.flatMap { [$0.owner] + $0.added + $0.removed } + changes.orders.map(\.owner)
        return SavedReferences(inserted: changes.deletedReferences, updated: changes.updatedReferences + ends)
    }

    /// What else has been changed.
    func removed(from others: ChangeSet) -> ChangeSet {
        if changes.changesNothing { return others }
        return ChangeSetRemainder(of: others, beyond: [changes], newest: context.forwarded, seesReversals: false) { _ in nil }.changes
    }

    /// What a context between this one and its children's has changed itself; nil where that is nothing. A child's save stays as it is.
    func removed(from part: ChildSave.Part) -> ChildSave.Part? {
        guard part.isOfContextBetween else { return part }
        let rest = removed(from: part.changes)
        if rest.changesNothing { part.save.end(.saved) }
        return rest.changesNothing ? nil : ChildSave.Part(save: part.save, changes: rest, isSingle: true)
    }
}
