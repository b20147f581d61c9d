/// New objects whose saves have gone back, so that nobody else can refer to them; and what was deleted by such saves, and is there again.
struct GoneObjects {
    private var inserted: [RowReference: any Error] = [:]
    private var undeleted: Set<RowReference> = []

    var isEmpty: Bool { inserted.isEmpty && undeleted.isEmpty }

    mutating func add(_ changes: ChangeSet, _ error: any Error, in context: NSManagedObjectContext) {
        let inserted = changes.insertedReferences
        add(inserted, error, in: context)
        context.identityMap.forwardingTable.noteReturned(inserted.map { context.forwarded($0).identity }, ErrorObjects.removed(from: error))
        for reference in changes.deletedReferences { undeleted.insert(context.forwarded(reference).identity) }
    }

    mutating func add(_ references: [RowReference], _ error: any Error, in context: NSManagedObjectContext) {
        for reference in references { inserted[context.forwarded(reference).identity] = error }
        if !references.isEmpty { context.identityMap.forwardingTable.noteDropped(references) }
    }

    func contains(_ reference: RowReference, in context: NSManagedObjectContext) -> Bool {
        !inserted.isEmpty && inserted[context.forwarded(reference).identity] != nil
    }

    /// Why saves cannot stay: they refer to an object that is gone. What a context has changed itself is mended instead.
    func cause(of parts: [ChildSave.Part], in context: NSManagedObjectContext) -> (any Error)? {
        guard !inserted.isEmpty else { return nil }
        var cause: (any Error)?
        for part in parts where part.save.parts.isEmpty {
            part.changes.forEachRequirement { if cause == nil { cause = inserted[context.forwarded($0).identity] } }
        }
        return cause
    }

    /// What is left of a context's own changes: none to what is gone, no references to it, and no consequences of deletes that went back.
    func rest(of changes: ChangeSet, in context: NSManagedObjectContext) -> ChangeSet {
        var rest = inserted.isEmpty ? changes : changes.without { contains($0, in: context) }
        if !undeleted.isEmpty { removeConsequences(from: &rest, context) }
        return rest
    }

    private func removeConsequences(from changes: inout ChangeSet, _ context: NSManagedObjectContext) {
        var undeleted = undeleted
        func leads(_ row: Row?, _ slot: Int) -> Bool {
            row?.reference(slot).map { undeleted.contains(context.forwarded($0).identity) } ?? false
        }
        var count = -1
        // Deletes follow from one another.
        while count != undeleted.count {
            count = undeleted.count
            for index in changes.groups.indices {
                let group = changes.groups[index]
                changes.groups[index].deletes.removeAll { delete in
                    guard let base = delete.base, base.layout.referenceSlots.contains(where: { leads(base, $0) }) else { return false }
                    undeleted.insert(context.forwarded(group.reference(delete.key)).identity)
                    return true
                }
            }
        }
        changes.keepLinks { undeleted.contains(context.forwarded($0).identity) }
        for index in changes.groups.indices {
            changes.groups[index].updates = ContiguousArray(
                changes.groups[index].updates.compactMap { update in
                    var slots = update.slots
                    for slot in slots.filter(update.row.layout.referenceSlots) where update.row.isNull(slot) && leads(update.base, slot) {
                        slots.remove(slot)
                    }
                    return slots.isEmpty ? nil : ChangeSet.Update(row: update.row, key: update.key, base: update.base, slots: slots)
                }
            )
        }
    }
}

extension ChangeSet {
    /// Takes out what has taken objects out of many-to-many relationships, at either end: they are there again.
    fileprivate mutating func keepLinks(of isThere: (RowReference) -> Bool) {
        links = links.compactMap { link in
            let isOwnerThere = isThere(link.owner)
            let removed = isOwnerThere ? [] : link.removed.filter { !isThere($0) }
            guard removed.count < link.removed.count else { return link }
            guard !link.added.isEmpty || !removed.isEmpty else { return nil }
            return LinkChange(relationship: link.relationship, owner: link.owner, added: link.added, removed: removed)
        }
    }
}
