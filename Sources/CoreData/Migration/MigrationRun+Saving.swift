import Foundation

/// What is saved on the way, by the migration or by a policy.
extension MigrationRun {
    /// Saves what there is, and lets go of all objects that nobody uses.
    func flush(_ validation: SaveValidation = .storageOnly) throws {
        do {
            try destination.context.saveChanges(validation: validation)
        } catch {
            throw CocoaError.migration("What was migrated cannot be saved: \(error.localizedDescription)", mapping: current.name, error)
        }
        source.context.refreshAllObjects()
        destination.context.refreshAllObjects()
    }

    /// Saves what one mapping, or a part of it, has made. A document is written as a whole each time: once all mappings are through.
    func flushPart() throws { if destination.savesInParts { try flush() } }

    /// At each save the pairs of source and destination are noted as keys: a policy may save, too, and let go of all objects afterwards.
    func observeSaves() -> any NSObjectProtocol {
        // It is posted on the thread that saves, which is the migration's.
        nonisolated(unsafe) let run = self
        return NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave,
            object: destination.context,
            queue: nil
        ) { notification in
            let deleted = notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
            run.settle(deleted: Set(deleted.map(\.rowReference)))
        }
    }

    private func settle(deleted: Set<RowReference>) {
        for mapping in plan.mappings { mapping.associations.settle(deleted: deleted) }
    }
}
