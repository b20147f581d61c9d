import Foundation

@testable import CoreData

/// What must be so after each step, and what is looked at now and then.
extension FileWalk {
    /// Takes notice of deletes that followed from others, each of which must follow from something.
    func observe(_ walked: WalkedContext) throws {
        walked.context.processPendingChanges()
        let inserted = try serials(walked.context.insertedObjects, walked), deleted = try serials(walked.context.deletedObjects, walked)
        let extra = inserted.subtracting(walked.inserted.keys)
        if !extra.isEmpty { throw fail("\(extra.sorted()) are inserted, which nobody inserted or saved", walked) }
        // One that others have deleted, too, needs no save; nor does one that a context above has.
        let above = walked.parent.map(visible) ?? truth.kinds
        walked.deletesOfOthers.formUnion(deleted.subtracting(walked.deleted).filter { truth.kinds[$0] == nil || above[$0] == nil })
        let undone = walked.deleted.subtracting(deleted).subtracting(walked.deletesOfOthers).filter { truth.kinds[$0] != nil }
        if !undone.isEmpty { throw fail("the deletes of \(undone.sorted()) are gone", walked) }
        for serial in walked.deleted.subtracting(deleted) { walked.announcedDeletions[serial] = nil }
        let gone = Set(walked.inserted.keys).subtracting(inserted).union(deleted.subtracting(walked.deleted))
        for serial in gone where !isExplained(serial, gone, walked) { throw fail("\(serial) was deleted, and nothing says why", walked) }
        for serial in gone {
            walked.inserted[serial] = nil
            walked.announcedInsertions[serial] = nil
        }
        for serial in gone { walked.forget(serial) }
        walked.deleted = deleted
    }

    /// An attribute that was set to what the file or a context above says by now is no edit any more, once the context hears of that: what
    /// others do then counts.
    func noteAgreements(_ walked: WalkedContext) {
        let above = walked.chain.dropLast()
        for (cell, edit) in walked.edits where edit.certainty == .sure && ["number", "text"].contains(cell.key) {
            guard truth[cell] == edit.value || above.contains(where: { $0.edits[cell]?.value == edit.value }) else { continue }
            walked.edits[cell]?.certainty = .orAsBefore
        }
    }

    private func isExplained(_ serial: Int, _ gone: Set<Int>, _ walked: WalkedContext) -> Bool {
        if walked.requested.contains(serial) || walked.isStale || walked.behind.contains(serial) { return true }
        let isInserted = walked.chain.contains { $0.inserted[serial] != nil }
        if truth.kinds[serial] == nil, !isInserted { return true }
        guard let kind = visible(walked)[serial] ?? walked.inserted[serial] ?? truth.kinds[serial] else { return true }
        return WalkModel.toOnes(of: kind).contains { toOne in
            guard toOne.isCascade else { return false }
            let owners = possibleValues(of: WalkCell(serial: serial, key: toOne.name), walked).compactMap(\.target)
            return owners.contains { gone.contains($0) || walked.deleted.contains($0) || visible(walked)[$0] == nil }
        }
    }

    /// What a cell may be in a context: what was set for sure, and what may have come to nothing since.
    private func possibleValues(of cell: WalkCell, _ walked: WalkedContext) -> [WalkValue] {
        let edits = walked.chain.reversed().compactMap { $0.edits[cell] }
        guard let sure = edits.firstIndex(where: { $0.certainty == .sure }) else { return edits.map(\.value) + [truth[cell]] }
        return edits[...sure].map(\.value)
    }

    /// What is cheap to check after each step of a context.
    func check(_ walked: WalkedContext) throws {
        let context = walked.context
        let inserted = try serials(context.insertedObjects, walked)
        if inserted != Set(walked.inserted.keys) {
            throw fail("inserted are \(inserted.sorted()), should be \(walked.inserted.keys.sorted())", walked)
        }
        for object in context.updatedObjects where object.isInserted || object.isDeleted { throw fail("updated twice: \(object)", walked) }
        for (cell, edit) in walked.edits where edit.certainty == .sure && cell.other == 0 {
            guard !walked.deleted.contains(cell.serial) else { continue }
            guard let object = try registered(cell.serial, walked) else { throw fail("\(cell) was edited, and its object is gone", walked) }
            let value = try value(object, cell)
            if value != edit.value { throw fail("\(cell) was set to \(edit.value) and is \(value)", walked) }
            if !object.hasChanges { throw fail("\(cell) was edited, and its object has no changes", walked) }
        }
        if context.hasChanges != (!context.insertedObjects.isEmpty || !context.updatedObjects.isEmpty || !context.deletedObjects.isEmpty) {
            throw fail("hasChanges is \(context.hasChanges)", walked)
        }
        for (serial, note) in walked.notes {
            guard note.object.managedObjectContext === context, !note.object.isFault, !note.object.isDeleted else { continue }
            let text = note.object.value(forKey: "note") as? String
            if text != note.text { throw fail("the note of \(serial) is \(text ?? "gone"), was set to \(note.text)", walked) }
        }
        for serial in walked.deleted where walked.announcedDeletions[serial] != 1 && groups.contains(.events) {
            throw fail("the delete of \(serial) was announced \(walked.announcedDeletions[serial] ?? 0) times", walked)
        }
        for serial in walked.inserted.keys {
            let count = walked.announcedInsertions[serial] ?? 0
            if count != 1, groups.contains(.events) { throw fail("the insertion of \(serial) was announced \(count) times", walked) }
        }
    }

    func registered(_ serial: Int, _ walked: WalkedContext) throws -> NSManagedObject? {
        guard let id = ids[serial]?.last else { throw fail("nobody has an ID of \(serial)") }
        return walked.context.registeredObject(for: id)
    }

    /// The file, the whole graph of each context, and what held IDs say.
    func checkEverything() throws {
        try expect(try reader.read(&keys), "though nobody saved")
        try reader.checkIntegrity()
        for walked in contexts { try checkGraph(walked) }
        for (id, uri, isTemporary) in sayings {
            if id.uriRepresentation() != uri || id.isTemporaryID != isTemporary { throw fail("an ID said \(uri) and says \(id)") }
        }
        if sayings.count > 300 { sayings.removeFirst(100) }
        try strangers?.check()
    }

    private func checkGraph(_ walked: WalkedContext) throws {
        let objects = walked.context.registeredObjects
        _ = try serials(objects, walked)
        for (serial, held) in walked.held where held.managedObjectContext === walked.context {
            guard let id = ids[serial]?.last, let registered = walked.context.registeredObject(for: id) else { continue }
            if registered !== held { throw fail("two objects are \(serial)", walked) }
        }
        for (cell, edit) in walked.edits where edit.certainty == .sure && cell.other != 0 {
            guard let object = try registered(cell.serial, walked), !walked.isStale else { continue }
            if try value(object, cell) != edit.value { throw fail("\(cell) was set to \(edit.value), and is not", walked) }
        }
        for object in objects where !object.isFault && !object.isDeleted { try checkEnds(of: object, walked) }
    }

    /// Relationships that have been read agree with each other, and with what is deleted.
    private func checkEnds(of object: NSManagedObject, _ walked: WalkedContext) throws {
        guard let kind = kind(of: object), let serial = serial(of: object), isCertain(object, walked) else { return }
        for toOne in WalkModel.toOnes(of: kind) {
            guard let target = object.value(forKey: toOne.name) as? NSManagedObject else { continue }
            if target.isDeleted, !toOne.mayDangle, kind.root != .owner || toOne.name != "desk" {
                throw fail("\(serial).\(toOne.name) is \(target), which is deleted", walked)
            }
            guard isCertain(target, walked), !target.isFault, !target.isDeleted, !toOne.mayDangle else { continue }
            if toOne.isInverseToMany {
                guard !target.hasFault(forRelationshipNamed: toOne.inverse), !members(target, toOne.inverse).contains(object) else {
                    continue
                }
                throw fail("\(serial).\(toOne.name) is \(target), whose \(toOne.inverse) have it not", walked)
            } else if target.value(forKey: toOne.inverse) as? NSManagedObject !== object {
                throw fail("\(serial).\(toOne.name) is \(target), whose \(toOne.inverse) is another", walked)
            }
        }
        for toOne in WalkModel.toOnes where toOne.isInverseToMany && toOne.to == kind.root && !toOne.mayDangle {
            guard !object.hasFault(forRelationshipNamed: toOne.inverse) else { continue }
            for member in members(object, toOne.inverse) where isCertain(member, walked) && !member.isFault {
                if member.isDeleted { throw fail("\(member) is deleted and among \(serial).\(toOne.inverse)", walked) }
                if member.value(forKey: toOne.name) as? NSManagedObject === object { continue }
                throw fail("\(member) is among \(serial).\(toOne.inverse), its \(toOne.name) is another", walked)
            }
        }
        for (key, inverse) in [("labels", "items"), ("items", "labels")] where kind == (key == "labels" ? .item : .label) {
            guard !object.hasFault(forRelationshipNamed: key) else { continue }
            for member in members(object, key) where isCertain(member, walked) {
                if member.isDeleted { throw fail("\(member) is deleted and among \(serial).\(key)", walked) }
                if member.isFault || member.hasFault(forRelationshipNamed: inverse) || members(member, inverse).contains(object) {
                    continue
                }
                throw fail("\(member) is among \(serial).\(key), and its \(inverse) have it not", walked)
            }
        }
    }

    func members(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
        switch object.value(forKey: key) {
        case let set as Set<NSManagedObject>: Array(set)
        case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }

    /// Whether nobody has changed it behind the context's back.
    private func isCertain(_ object: NSManagedObject, _ walked: WalkedContext) -> Bool {
        guard let serial = serial(of: object) else { return false }
        return walked.behind.isEmpty && !walked.isStale && !walked.tainted.contains(serial)
    }
}
