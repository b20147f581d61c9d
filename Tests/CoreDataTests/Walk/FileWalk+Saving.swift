import Foundation

@testable import CoreData

/// Saves, and whether the file has what they should have written.
extension FileWalk {
    func save(_ step: WalkStep, _ walked: WalkedContext) throws {
        let policies: [NSMergePolicyType] = [
            .errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
            .overwriteMergePolicyType, .rollbackMergePolicyType,
        ]
        let policy = groups.contains(.policies) ? policies[step.a % policies.count] : .errorMergePolicyType
        walked.context.mergePolicy = NSMergePolicy(merge: policy)
        walked.context.processPendingChanges()
        try observe(walked)
        let (hadChanges, new) = (walked.context.hasChanges, walked.context.insertedObjects)
        // A policy may write one that was updated anew.
        let serials =
            try new.map { ($0, try require($0, walked)) }
            + walked.context.updatedObjects.compactMap { object in serial(of: object).map { (object, $0) } }
        _ = walked.takeLastSave()
        // Also a save that fails may have given out keys.
        func noteKeys() { for (object, serial) in serials where object.managedObjectContext != nil { note(object, serial) } }
        do {
            try walked.context.save()
        } catch {
            noteKeys()
            try checkRefusal(error as NSError, policy, walked)
            guard walked.parent == nil else { return }
            try expect(try reader.read(&keys), "after a save that failed with \((error as NSError).code)")
            // What the policy has given up by then is not worth following.
            if policy != .errorMergePolicyType { try reset(walked) }
            return
        }
        noteKeys()
        if let parent = walked.parent {
            try push(walked)
            return try observe(parent)
        }
        try finish(walked, policy, hadChanges)
    }

    private func require(_ object: NSManagedObject, _ walked: WalkedContext) throws -> Int {
        guard let serial = serial(of: object) else { throw fail("a new object that nobody made: \(object)", walked) }
        return serial
    }

    private func finish(_ walked: WalkedContext, _ policy: NSMergePolicyType, _ hadChanges: Bool) throws {
        let after = try reader.read(&keys)
        try WalkTransition(before: truth, after: after, walked: walked, policy: policy).check()
        let note = walked.takeLastSave()
        if hadChanges { try record(note, walked, after) }
        let back = Set(after.kinds.keys).subtracting(truth.kinds.keys).subtracting(walked.inserted.keys)
        let written = Set(truth.versions.keys.filter { after.versions[$0] != truth.versions[$0] }).union(back)
        // An end whose change was dropped has no new version, though the other has been saved.
        let changed = written.union(walked.tainted.filter { after.kinds[$0] != nil })
        for other in contexts where other !== walked && other.parent == nil {
            let known = try changed.filter { try mayKnow($0, other, walked) }
            other.behind = other.behind.subtracting(written).union(known)
            other.child?.isStale = true
            other.child?.behind.formUnion(changed)
        }
        // Where the store wins, a delete may be taken back because of a row in the cache that the store has no more.
        let gone = policy == .errorMergePolicyType ? walked.deleted : walked.deleted.subtracting(walked.behind)
        truth = after
        walked.clear()
        walked.behind.subtract(written)
        // Reading finds out whose rows are gone.
        if walked.context.hasChanges { throw fail("changes are left after a save: \(walked.context.updatedObjects)", walked) }
        try checkSaved(note, walked)
        for serial in gone where truth.kinds[serial] == nil && walked.held[serial]?.managedObjectContext != nil {
            throw fail("\(serial) was deleted, saved, and is in the context still", walked)
        }
    }

    /// Whether a context may have an older row of an object than was just saved: it uses the object, or the row may be in its row cache.
    private func mayKnow(_ serial: Int, _ other: WalkedContext, _ saver: WalkedContext) throws -> Bool {
        try other.side != saver.side || other.child != nil || registered(serial, other) != nil
    }

    /// What DidSave names must be what was written.
    private func record(_ note: Notification?, _ walked: WalkedContext, _ after: WalkFile) throws {
        guard let note else { throw fail("a save of changes posted no DidSave", walked) }
        let inserted = try serials(note.objects(NSInsertedObjectsKey), walked),
            updated = try serials(note.objects(NSUpdatedObjectsKey), walked)
        let deleted = try serials(note.objects(NSDeletedObjectsKey), walked)
        let written = (
            inserted: Set(after.kinds.keys).subtracting(truth.kinds.keys), deleted: Set(truth.kinds.keys).subtracting(after.kinds.keys),
            updated: after.versions.keys.filter { truth.versions[$0] != nil && truth.versions[$0] != after.versions[$0] }
        )
        if inserted != written.inserted { throw fail("DidSave says inserted \(inserted), the file \(written.inserted)", walked) }
        if !deleted.isSuperset(of: written.deleted) { throw fail("DidSave says deleted \(deleted), the file \(written.deleted)", walked) }
        if !updated.isSuperset(of: written.updated) {
            throw fail("DidSave says updated \(updated), the file \(written.updated.sorted())", walked)
        }
        let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey]
        let uris = keys.map { (AnyHashable($0), note.objects($0).map { $0.objectID.uriRepresentation() } as Any) }
        news.append(
            WalkNews(
                author: walked.name,
                side: walked.side,
                notification: note,
                uris: Dictionary(uniqueKeysWithValues: uris),
                versions: after.versions.filter { written.updated.contains($0.key) },
                deleted: deleted
            )
        )
        if news.count > 30 { news.removeFirst() }
    }

    /// What was saved has in the context the values that it has in the file.
    private func checkSaved(_ note: Notification?, _ walked: WalkedContext) throws {
        for object in (note?.objects(NSInsertedObjectsKey) ?? []).union(note?.objects(NSUpdatedObjectsKey) ?? []) {
            // One that was set to what it was is not written, and may be behind.
            guard let serial = serial(of: object), !walked.behind.contains(serial) else { continue }
            self.note(object, serial)
            if object.objectID.isTemporaryID { throw fail("the ID of \(serial) is temporary after a save", walked) }
            for key in cellKeys(of: object) {
                let cell = WalkCell(serial: serial, key: key), value = try value(object, cell)
                if value != truth[cell] { throw fail("\(cell) is \(value) after the save and \(truth[cell]) in the file", walked) }
            }
        }
    }

    func cellKeys(of object: NSManagedObject) -> [String] {
        ["number", "text"] + (kind(of: object).map { WalkModel.toOnes(of: $0).map(\.name) } ?? [])
    }

    /// A save may fail because of rows that others changed, and of a desk that still has an owner.
    private func checkRefusal(_ error: NSError, _ policy: NSMergePolicyType, _ walked: WalkedContext) throws {
        switch error.code {
        case NSManagedObjectMergeError where walked.parent == nil:
            let conflicts = error.userInfo["conflictList"] as? [NSMergeConflict] ?? []
            let serials = try conflicts.map { try require($0.sourceObject, walked) }
            if policy != .errorMergePolicyType { throw fail("a conflict of \(serials) under policy \(policy.rawValue)", walked) }
            if serials.isEmpty || !walked.behind.isSuperset(of: serials) {
                throw fail("a false conflict of \(Set(serials).subtracting(walked.behind)), which nobody has changed", walked)
            }
        // A child changed what its parent has dropped.
        case NSManagedObjectMergeError where walked.isStale: break
        case 1550...1680:
            guard walked.context.deletedObjects.contains(where: { kind(of: $0) == .desk }) || walked.isStale else {
                throw fail("a save was refused: \(error)", walked)
            }
        default: throw fail("a save failed: \(error) \(error.userInfo)", walked)
        }
    }

    /// What a child saved is its parent's to save.
    private func push(_ walked: WalkedContext) throws {
        guard let parent = walked.parent else { return }
        for (serial, kind) in walked.inserted { parent.inserted[serial] = kind }
        // A policy of the child may bring back what the parent has dropped.
        if groups.contains(.policies) {
            for object in parent.context.insertedObjects {
                guard let serial = serial(of: object), parent.inserted[serial] == nil else { continue }
                parent.inserted[serial] = kind(of: object)
                parent.announcedDeletions[serial] = nil
                // With all values that the child had.
                parent.behind.insert(serial)
                for key in cellKeys(of: object) {
                    let cell = WalkCell(serial: serial, key: key)
                    parent.edits[cell] = .init(value: try value(object, cell), certainty: .unknown)
                }
            }
        }
        let known = visible(parent)
        for (cell, edit) in walked.edits {
            guard known[cell.serial] != nil, cell.other == 0 || known[cell.other] != nil else {
                // The row is gone from the file, which the parent need not know: its policy may bring it back.
                if truth.kinds[cell.serial] == nil { parent.behind.insert(cell.serial) }
                parent.edits[cell]?.certainty = .unknown
                continue
            }
            if edit.value == edit.base, parent.edits[cell] != nil {
                // Nothing has changed in the child: the parent's own edit may stay.
                parent.edits[cell]?.certainty = .unknown
            } else if let target = edit.value.target, known[target] == nil {
                parent.edits[cell] = .init(value: edit.value, certainty: .unknown)
            } else if edit.certainty == .sure {
                // What others have saved meanwhile may be the same.
                parent.edits[cell] = edit
                if edit.value == truth[cell] { parent.edits[cell]?.certainty = .orAsBefore }
            } else {
                parent.edits[cell] = .init(value: edit.value, certainty: .unknown)
            }
        }
        // Who had the other end in the parent, the child may not have known.
        for cell in parent.edits.keys where WalkModel.isOneToOne(cell.key, of: known[cell.serial]) {
            parent.edits[cell]?.certainty = .unknown
        }
        parent.requested.formUnion(walked.deleted)
        // What others have saved since the child read it is a conflict of the parent's, whatever the parent itself has heard of.
        parent.behind.formUnion(walked.behind.intersection(walked.deleted.union(walked.edits.keys.flatMap { [$0.serial, $0.other] })))
        for serial in walked.notes.keys { parent.notes[serial] = nil }
        parent.tainted.formUnion(walked.tainted)
        for cell in walked.edits.keys { parent.orders[cell.serial] = nil }
        for edit in walked.edits.values { if let target = edit.value.target { parent.orders[target] = nil } }
        parent.orders.merge(walked.orders) { $1 }
        walked.clear()
    }

    func expect(_ found: WalkFile, _ when: String) throws {
        guard found != truth else { return }
        let cells = Set(found.cells.keys).union(truth.cells.keys).filter { found[$0] != truth[$0] }.sorted()
        let rows = Set(found.kinds.keys).symmetricDifference(truth.kinds.keys).sorted()
        throw fail("the file is another \(when): rows \(rows), \(cells.map { "\($0) \(truth[$0]) is \(found[$0])" })")
    }
}
