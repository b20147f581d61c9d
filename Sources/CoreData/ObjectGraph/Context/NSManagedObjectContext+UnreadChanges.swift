extension NSManagedObjectContext {
    /// Reads objects that were changed while that failed, and lays the changes over what they have: a store that takes whole objects would lose
    /// the rest of them, and other contexts would see rows without it.
    ///
    /// - Complexity: one statement at most for those of an entity, nothing where no read has failed since.
    /// - Throws: a store's error, where they can still not be read.
    func readWhatWasSetUnread() throws {
        let failures = tracker.failedReadCount
        guard failures > tracker.madeUpReadCount else { return }
        takeBackReturnedSaves()
        let unread = tracker.objects.filter(\.wasSetUnread)
        for objects in Dictionary(grouping: unread, by: { [$0.rowReference.entity, $0.rowReference.store] }).values {
            for (object, row) in zip(objects, try parentSource.rows(for: objects.map(\.rowReference))) {
                if let row = row ?? returningRow(of: object) { update(object, to: row, keeping: object.changedSlots, .refresh) }
                // Of one that is gone the store says so, as of any other that others have deleted.
            }
        }
        for object in tracker.objects.filter({ $0.state.intersection(.pending) == .updated }) { try takeOutReplacedMembers(of: object) }
        if !unread.contains(where: \.wasSetUnread) { tracker.madeUpReadCount = failures }
    }

    private func takeOutReplacedMembers(of object: NSManagedObject) throws {
        try object.existingExtras?.forEachToMany { contents in
            guard contents.replacement != nil else { return }
            if contents.members == nil { try read(object.scope.shape.toManys[contents.index], contents.index, of: [object]) }
            object.takeOutReplaced(contents)
        }
    }
}

extension NSManagedObject {
    /// Whether its changes were made to a fault that could not be filled.
    fileprivate var wasSetUnread: Bool {
        state.intersection(.pending.union(.inaccessible)) == .updated && committedRow?.owner === scope.shape.emptyRow
    }
}
