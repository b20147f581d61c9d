import Foundation

@testable import CoreData

/// What drops unsaved changes, and what must not.
extension FileWalk {
    func rollback(_ walked: WalkedContext) {
        // What the child made of changes that are dropped here would never be saved.
        dropChild(of: walked)
        walked.notes = [:]
        walked.context.rollback()
        forgetInsertions(walked)
        walked.clear()
    }

    func reset(_ walked: WalkedContext) throws {
        dropChild(of: walked)
        let objects = walked.context.registeredObjects
        walked.context.reset()
        for object in objects where object.managedObjectContext != nil { throw fail("\(object) is registered after a reset", walked) }
        forgetInsertions(walked)
        walked.clear()
        // What its coordinator has in the row cache may be old still.
        (walked.held, walked.notes, walked.isStale, walked.strangers) = ([:], [:], false, [])
    }

    private func dropChild(of walked: WalkedContext) {
        guard let child = walked.child else { return }
        child.context.reset()
        forgetInsertions(child)
        child.clear()
        (child.held, child.notes, child.isStale, child.strangers, child.behind) = ([:], [:], false, [], [])
    }

    private func forgetInsertions(_ walked: WalkedContext) {
        for serial in walked.inserted.keys { walked.held[serial] = nil }
    }

    func refresh(_ step: WalkStep, _ walked: WalkedContext) throws {
        switch step.kind {
        case .refreshAll:
            // What has nothing unsaved becomes a fault.
            walked.notes = walked.notes.filter(\.value.object.hasChanges)
            walked.context.refreshAllObjects()
        case .refreshDeleted:
            guard let object = walked.context.deletedObjects.first(where: { serial(of: $0).map { $0 % 3 == step.a % 3 } ?? false }) else {
                return
            }
            walked.context.refresh(object, mergeChanges: step.b % 2 == 0)
            if let serial = serial(of: object) { walked.notes[serial] = nil }
        case .refreshInserted:
            guard let serial = walked.inserted.keys.chosen(by: step.a), let object = try object(serial, walked, step) else { return }
            walked.context.refresh(object, mergeChanges: false)
            walked.notes[serial] = nil
            // Its values are gone for good: all that is left to do with it.
            walked.requested.insert(serial)
            walked.context.delete(object)
        case .refreshDropping:
            guard let serial = chosen(walked, step.a), walked.inserted[serial] == nil, let object = try object(serial, walked, step) else {
                return
            }
            walked.context.refresh(object, mergeChanges: false)
            dropEdits(of: serial, walked)
        default:
            guard let serial = chosen(walked, step.a), let object = try object(serial, walked, step) else { return }
            walked.context.refresh(object, mergeChanges: true)
        }
    }

    private func dropEdits(of serial: Int, _ walked: WalkedContext) {
        walked.tainted.insert(serial)
        walked.notes[serial] = nil
        for (cell, edit) in walked.edits where cell.serial == serial || cell.other == serial {
            for end in [cell.serial, cell.other, edit.value.target, truth[cell].target] { if let end { walked.tainted.insert(end) } }
            if cell.other == 0 { walked.edits[cell] = nil } else { walked.edits[cell]?.certainty = .unknown }
        }
        for (cell, edit) in walked.edits where [edit.value.target, edit.base.target, truth[cell].target].contains(serial) {
            walked.tainted.insert(cell.serial)
            // Both ends of a one-to-one relationship give up what was set, and refer to each other as before. Of one that others have deleted
            // nobody knows which it was.
            let kind = visible(walked)[cell.serial]
            if edit.value.target == serial || edit.base.target == serial, kind == nil || WalkModel.isOneToOne(cell.key, of: kind) {
                walked.edits[cell]?.certainty = .unknown
            }
        }
        walked.orders[serial] = nil
        for (item, order) in walked.orders where order.contains(serial) { walked.orders[item] = nil }
    }
}
