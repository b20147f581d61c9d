import Foundation

extension NSManagedObjectContext {
    /// Merges whatever others have saved, where nobody can tell any more what that is: as after `CocoaError` 134301 of a history, or once another
    /// program has written to a store that keeps none. An addition to Apple's interface.
    ///
    /// As with `mergeChanges(fromContextDidSave:)`, objects that are registered here take the newest values under their unsaved changes, and those
    /// whose rows are gone are deleted. Fetched results controllers and live results fetch once more, and tell what is different: new objects too.
    /// Children with `automaticallyMergesChangesFromParent` do the same, later. Of a parent and its children, the parent comes first.
    ///
    /// - Complexity: reads the row of every registered object, with one statement for each tree of entities.
    /// - Throws: a `CocoaError` where the rows cannot be read: nothing has changed then.
    ///
    /// > Concurrency: called on this context's queue.
    public func readAnew() throws {
        checkQueue()
        guard identityMap.registry != nil else { return }
        moveQueryGeneration()
        catchUp()
        let known = registry.objects.filter { $0.key > 0 && $0.state.isDisjoint(with: [.inserted, .detached]) && !$0.isForeign }
        parentSource.forgetRows(known.map(\.rowReference))
        let rows = try newestRows(of: known)
        tracker.noteUnknown()
        withExtendedLifetime(rows) { merge(differences(known, rows)) }
        processPendingChanges()
        for child in childContexts where child.automaticallyMergesChangesFromParent { child.perform { child.readAnewLoggingFailure() } }
    }

    private func readAnewLoggingFailure() { do { try readAnew() } catch { logFailure("reading everything anew", error) } }

    private func newestRows(of objects: [NSManagedObject]) throws -> [NSManagedObject: Row] {
        var rows: [NSManagedObject: Row] = [:]
        // Keys are those of one tree of entities.
        for group in Dictionary(grouping: objects, by: { $0.scope.root }).values {
            for (object, row) in zip(group, try parentSource.rows(for: group.map(\.rowReference))) { rows[object] = row }
        }
        return rows
    }

    /// What others may have done with objects, seen from their rows.
    private func differences(_ objects: [NSManagedObject], _ rows: [NSManagedObject: Row]) -> SavedReferences {
        var saved = SavedReferences()
        for object in objects {
            if rows[object] == nil {
                saved.deleted.append(object.rowReference)
            } else if object.state.contains(.rowGone) {
                saved.inserted.append(object.rowReference)
            } else {
                saved.updated.append(object.rowReference)
            }
        }
        return saved
    }
}
