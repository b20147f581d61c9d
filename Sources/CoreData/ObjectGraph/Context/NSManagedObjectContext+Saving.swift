import Foundation

extension NSManagedObjectContext {
    /// As `save()`; what validation throws comes as a `ValidationFailure`.
    package func saveMarkingValidation() throws {
        checkQueue("save()")
        try saveChanges()
    }

    /// - Parameter letsChildrenIn: whether child contexts may ask and save while a store writes. Not where the context has less than they have
    ///   saved into it.
    func saveChanges(letsChildrenIn: Bool = true, validation: SaveValidation = .full) throws {
        precondition(!isSaving, "save() was called while this context is saving. Save from a block that runs after the save.")
        precondition(
            !tracker.isPropagating,
            "save() was called while deletes are carried along relationships. In prepareForDeletion(), leave the save to who deletes."
        )
        let parent = parentSource
        hearNews()
        catchUp()
        try takeIncoming()
        renewNames()
        returnFoundRows()
        try readWhatWasSetUnread()
        processPendingChanges()
        let save = ContextSave(of: self, into: parent, letsChildrenIn: letsChildrenIn, validation)
        latestSave = save
        isSaving = true
        beginChildSaves()
        defer { end(save) }
        try save.run()
    }

    private func end(_ save: ContextSave) {
        isSaving = false
        endChildSaves()
        do { try takeIncoming() } catch { logFailure("taking what a child context saved during a save", error) }
        if incoming == nil { latestSave = nil }
        // Where the save failed: what the policy has changed stays changed.
        tellChildren(of: save.takeCorrections())
        if tracker.hasNews { tracker.turn?.changesBegan() }
    }

    /// What a merge policy changed is not what child contexts believe to be saved: they are told when the save is over, or now where none is
    /// under way.
    func noteCorrections(_ corrections: SavedReferences) {
        guard hasHadChildren else { return }
        if isSaving, let latestSave { latestSave.note(corrections) } else { tellChildren(of: corrections) }
    }
}
