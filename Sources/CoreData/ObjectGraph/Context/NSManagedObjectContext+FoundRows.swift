import Foundation

extension NSManagedObjectContext {
    /// What counted as deleted because its row was looked for while a context above had deleted it, or others had, and is there again: whom
    /// that delete has led away from it leads to it again, and no save tells of it.
    ///
    /// - Complexity: one statement at most for those of an entity.
    /// - Throws: a store's error; nothing has changed then.
    func returnFoundRows() throws {
        var missing: [RowReference] = []
        tracker.objects.forEachBorrowed { object in
            if object.state.isSuperset(of: [.deleted, .rowGone, .inaccessible]) { missing.append(object.rowReference) }
        }
        guard !missing.isEmpty else { return }
        var found: [RowReference] = []
        for group in Dictionary(grouping: missing, by: { $0.entity }).values {
            found += zip(group, try parentSource.rows(for: group)).lazy.filter { $1 != nil }.map(\.0)
        }
        for reference in found { if let object = registeredObject(for: reference) { takeBackDelete(of: object) } }
    }

    private func takeBackDelete(of object: NSManagedObject) {
        let wasPropagated = object.state.contains(.propagated)
        becomeFault(object)
        if wasPropagated { RelationshipReturn(of: object, hasRow: true).run() }
        tracker.noteRefresh(of: object)
    }
}
