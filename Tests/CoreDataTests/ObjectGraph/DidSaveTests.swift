import Foundation
import Testing

@testable import CoreData

@Suite("What didSave is told, and what it relates")
struct DidSaveTests {
    /// Where the context saves to.
    enum Parent: CaseIterable { case store, context }

    let stage: Stage
    let log = Witness.Log()

    init() throws { stage = try Stage(Witness.entities) }

    private func context(_ parent: Parent) -> NSManagedObjectContext {
        let context = parent == .store ? stage.context : NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        if parent == .context { context.parent = stage.context }
        context.userInfo["log"] = log
        return context
    }

    private static func state(_ object: NSManagedObject) -> String {
        [(object.isInserted, "inserted"), (object.isUpdated, "updated"), (object.isDeleted, "deleted"), (object.hasChanges, "changed")]
            .filter(\.0).map(\.1).joined(separator: " ")
    }

    @Test("An object says in didSave what was saved of it, and no more when the save is over", arguments: Parent.allCases)
    func states(parent: Parent) throws {
        let context = context(parent)
        var seen: [String] = []
        log.actions["didSave"] = { seen.append("\(Self.state($0)), \($0.changedValues().count) values, \(context.hasChanges)") }
        let object = Witness(context: context)
        try context.save()
        seen.append(Self.state(object))
        object.name = "other"
        try context.save()
        seen.append(Self.state(object))
        context.delete(object)
        try context.save()
        seen.append(Self.state(object))
        let told = ["inserted", "updated", "deleted"].map { "\($0) changed, 0 values, false" }
        #expect(seen == [told[0], "", told[1], "", told[2], ""])
    }

    @Test("Others that were saved with it say so too, and what only followed a relationship")
    func others() throws {
        let context = context(.store)
        let (parent, child) = (Witness(context: context), Witness(context: context))
        child.parent = parent
        var seen: Set<String> = []
        log.actions["didSave"] = { object in
            if let parent = object.parent { seen.insert("\(Self.state(object)) below \(Self.state(parent))") }
        }
        try context.save()
        let other = Witness(context: context)
        other.parent = parent
        try context.save()
        context.delete(parent)
        try context.save()
        let expected = [
            "inserted changed below inserted changed", "inserted changed below updated changed", "deleted changed below deleted changed",
        ]
        #expect(seen == Set(expected))
    }

    @Test("What didSave changes is another change, also of what was just inserted, and a save in it saves that")
    func changes() throws {
        let context = context(.store)
        let object = Witness(context: context)
        var seen: [String] = []
        log.actions["didSave"] = { [log] object in
            log.actions["didSave"] = { seen.append("inner: " + Self.state($0)) }
            object.name = "again"
            seen.append("outer: " + Self.state(object))
            do { try context.save() } catch { seen.append("\(error)") }
            seen.append("after: \(context.hasChanges)")
        }
        try context.save()
        #expect(seen == ["outer: inserted updated changed", "inner: updated changed", "after: false"])
        #expect(Self.state(object) == "" && !context.hasChanges)
        #expect(try stage.sql("SELECT ZNAME, Z_OPT FROM ZWITNESS") == "again|2")
    }

    @Test("Who asks in didSave, or where it was reset there, finds nothing of a deleted object", arguments: Parent.allCases, [false, true])
    func asks(parent: Parent, isReset: Bool) throws {
        let context = context(parent)
        let (gone, left) = (try saved(context), try saved(context))
        var seen: [Int] = []
        log.actions["didSave"] = { object in
            guard object === gone else { return }
            do {
                let request = NSFetchRequest<Witness>(entityName: "Witness")
                seen += [try context.count(for: request), try context.fetch(request).count, context.deletedObjects.count]
            } catch { seen.append(-1) }
            if isReset { context.reset() } else { context.rollback() }
        }
        context.delete(gone)
        try context.save()
        #expect(seen == [1, 1, 0] && !context.hasChanges)
        #expect(Self.state(gone) == "" && gone.managedObjectContext == nil)
        #expect((left.managedObjectContext == nil) == isReset)
        try stage.context.save()
        #expect(try stage.sql("SELECT COUNT(*) FROM ZWITNESS") == "1")
    }

    /// What happens to a new object that didSave relates to one that was deleted.
    private func lateChild(_ parent: Parent, _ relate: @escaping (_ late: Witness, _ gone: Witness) -> Void) throws -> Witness? {
        let context = context(parent)
        let gone = Witness(context: context)
        gone.name = "gone"
        try context.save()
        var late: Witness?
        log.actions["didSave"] = { object in
            guard object.isDeleted else { return }
            late = Witness(context: context)
            late?.name = "late"
            if let late { relate(late, object) }
        }
        context.delete(gone)
        try context.save()
        log.actions = [:]
        #expect(gone.managedObjectContext == nil)
        try context.save()
        try stage.context.save()
        #expect(!context.hasChanges && !stage.context.hasChanges)
        return late
    }

    @Test("What it relates to an object that was just deleted goes with that one where the rule says so", arguments: Parent.allCases)
    func cascades(parent: Parent) throws {
        let late = try lateChild(parent) { $0.parent = $1 }
        #expect(late?.managedObjectContext == nil)
        #expect(try stage.sql("SELECT ZNAME FROM ZWITNESS") == "")
    }

    @Test("So does what prepareForDeletion of that one relates to it, or to another that has gone with it")
    func relatesAgain() throws {
        let context = context(.store)
        let (first, second) = (try saved(context), try saved(context))
        var rest = [first, second, first]
        log.actions["didSave"] = { [log] object in
            log.actions["didSave"] = nil
            Witness(context: context).parent = object
        }
        log.actions["prepareForDeletion"] = { object in
            if object.name == "late", let gone = rest.popLast() { Witness(context: context).parent = gone }
        }
        log.actions["awakeFromInsert"] = { $0.name = "late" }
        context.delete(first)
        context.delete(second)
        try context.save()
        #expect(rest.isEmpty)
        try context.save()
        #expect(!context.hasChanges && context.registeredObjects.isEmpty)
        #expect(try stage.sql("SELECT COUNT(*) FROM ZWITNESS") == "0")
    }

    @Test("Else it leads nowhere", arguments: Parent.allCases, [true, false])
    func nullifies(parent: Parent, fromBelow: Bool) throws {
        let late = try lateChild(parent) { late, gone in
            if fromBelow { gone.parent = late } else { late.children = [gone] }
        }
        #expect(late?.children.isEmpty == true)
        #expect(try stage.sql("SELECT ZNAME, ZPARENT FROM ZWITNESS") == "late|")
    }

    @Test("An observer of DidSave that does the same leaves nothing behind either")
    func observers() throws {
        let context = context(.store)
        context.delete(try saved(context))
        let center = NotificationCenter.default
        let observer = center.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) { note in
            let gone = note.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
            for object in gone { Witness(context: context).parent = object as? Witness }
        }
        defer { center.removeObserver(observer) }
        _ = log.take()
        try context.save()
        #expect(log.take().contains("awakeFromInsert"))
        try context.save()
        #expect(context.registeredObjects.isEmpty && !context.hasChanges)
        #expect(try stage.sql("SELECT COUNT(*) FROM ZWITNESS") == "0")
    }

    /// What somebody does to an object whose delete was just saved.
    enum LateDeed: CaseIterable { case change, relate, refresh, delete }

    private func perform(_ deed: LateDeed, on gone: Witness, _ other: Witness, in context: NSManagedObjectContext) {
        switch deed {
        case .change: gone.name = "late"
        case .relate: gone.parent = other
        case .refresh: context.refresh(gone, mergeChanges: false)
        case .delete: context.delete(gone)
        }
    }

    @Test("What is done to an object that was just deleted is nothing to save or to tell", arguments: Parent.allCases, LateDeed.allCases)
    func lateDeeds(parent: Parent, deed: LateDeed) throws {
        let context = context(parent)
        let (gone, other) = (try saved(context), try saved(context))
        let request = NSFetchRequest<Witness>(entityName: "Witness")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let list = NSFetchedResultsController(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let follower = Follower()
        list.delegate = follower
        try list.performFetch()
        // The observer runs within the saves below, on this thread.
        nonisolated(unsafe) var tellings = 0
        // So does this.
        nonisolated(unsafe) let it: NSManagedObject = gone
        let center = NotificationCenter.default
        let observer = center.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil) { note in
            let sets = note.userInfo?.values.compactMap { $0 as? Set<NSManagedObject> } ?? []
            tellings += sets.filter { $0.contains(it) }.count
        }
        defer { center.removeObserver(observer) }
        log.actions["didSave"] = { [log] object in
            log.actions["didSave"] = nil
            perform(deed, on: object, other, in: context)
            context.processPendingChanges()
            #expect(list.fetchedObjects == [other])
            #expect(throws: Never.self) { try context.save() }
        }
        _ = log.take()
        context.delete(gone)
        try context.save()
        #expect(tellings == 1 && log.take().filter { $0.hasPrefix("prepareForDeletion") }.count == 1)
        #expect(list.fetchedObjects == [other] && gone.managedObjectContext == nil && !gone.hasChanges)
        try context.save()
        #expect(!context.hasChanges && other.children.isEmpty)
        try stage.context.save()
        #expect(try stage.sql("SELECT COUNT(*) FROM ZWITNESS") == "1")
    }

    private func saved(_ context: NSManagedObjectContext) throws -> Witness {
        let object = Witness(context: context)
        try context.save()
        return object
    }
}

/// Makes a results controller follow its context.
private final class Follower: NSObject, NSFetchedResultsControllerDelegate {}
