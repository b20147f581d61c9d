import Foundation
import Testing

@testable import CoreData

// * A child has related something to an object, unsaved. Its parent deletes that object, saves, and the child saves while everybody is told of it:
//   in `didSave()`, or as the notification comes.
// => Nothing in the file leads to the row that is gone.
@Suite("What a child relates to an object whose delete has just been saved above")
struct RelatedToDeletedTests {
    enum Kind: CaseIterable { case oneToOne, oneToMany, ordered, manyToMany }

    private let stage: Stage
    private let child: NSManagedObjectContext
    private let nodes: [NSManagedObject]

    init() throws {
        stage = try Stage {
            let node = LibraryModel.entity("Node", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(node, "oneToOne", toMany: false, .nullifyDeleteRule, node, "other", toMany: false, .nullifyDeleteRule)
            LibraryModel.relate(node, "oneToMany", toMany: false, .nullifyDeleteRule, node, "members", toMany: true, .nullifyDeleteRule)
            let order = LibraryModel.relate(
                node,
                "ordered",
                toMany: false,
                .nullifyDeleteRule,
                node,
                "list",
                toMany: true,
                .nullifyDeleteRule
            )
            order.inverseRelationship?.isOrdered = true
            LibraryModel.relate(node, "manyToMany", toMany: true, .nullifyDeleteRule, node, "fans", toMany: true, .nullifyDeleteRule)
            return [node]
        }
        let context = stage.context
        child = Layers.child(of: context, "child")
        nodes = (0..<2).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Node", into: context) }
        try context.save()
    }

    @Test("leads nowhere", arguments: Kind.allCases, [true, false])
    func nowhere(kind: Kind, hasRead: Bool) throws {
        let (context, child) = (stage.context, child)
        let (lasting, doomed) = (child.object(with: nodes[0].objectID), child.object(with: nodes[1].objectID))
        if hasRead { for node in [lasting, doomed] + nodes { _ = node.committedValues(forKeys: nil).count } }
        let key = "\(kind)"
        lasting.setValue(kind == .manyToMany ? Set([doomed]) : doomed, forKey: key)
        // What has been read of both ends is saved.
        doomed.setValue("late", forKey: "name")
        context.delete(nodes[1])
        // The observer runs within the save below, on this thread.
        nonisolated(unsafe) var result: Result<Void, any Error>?
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) { _ in
            if result == nil { result = Result { try child.save() } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.save()
        try #require(result).get()
        try context.save()
        #expect(!context.hasChanges)
        #expect(try stage.sql("SELECT count(*), ifnull(ZONETOONE, 0) + ifnull(ZONETOMANY, 0) + ifnull(ZORDERED, 0) FROM ZNODE") == "1|0")
        #expect(try stage.sql("SELECT count(*) FROM Z_1MANYTOMANY") == "0")
        let value = nodes[0].value(forKey: key)
        #expect(value == nil || (value as? Set<NSManagedObject>)?.isEmpty == true)
    }

    // * A context deletes an object, and saves that into its parent; then its child saves what it had related to that object.
    // => Nothing leads to the object in the context either, once all is saved.
    @Test("leads nowhere in the context that has deleted it", arguments: Kind.allCases, [true, false])
    func nowhereBetween(kind: Kind, fromTheMany: Bool) throws {
        let (root, main) = (stage.context, child)
        let worker = Layers.child(of: main, "worker")
        let object = main.object(with: nodes[0].objectID)
        _ = object.committedValues(forKeys: nil)
        let (lasting, doomed) = (worker.object(with: nodes[0].objectID), worker.object(with: nodes[1].objectID))
        let (key, inverse) = ("\(kind)", ["other", "members", "list", "fans"][Kind.allCases.firstIndex(of: kind)!])
        if fromTheMany, kind != .oneToOne {
            if kind == .ordered {
                lasting.mutableOrderedSetValue(forKey: inverse).add(doomed)
            } else {
                lasting.mutableSetValue(forKey: inverse).add(doomed)
            }
        } else {
            lasting.setValue(kind == .manyToMany ? Set([doomed]) : doomed, forKey: key)
        }
        main.delete(main.object(with: nodes[1].objectID))
        try main.save()
        for context in [worker, main, root] { try context.save() }
        main.processPendingChanges()
        for name in ["oneToOne", "oneToMany", "ordered"] { #expect(object.value(forKey: name) == nil) }
        for name in ["members", "manyToMany", "fans"] { #expect(object.mutableSetValue(forKey: name).count == 0) }
        #expect(object.mutableOrderedSetValue(forKey: "list").count == 0)
        #expect(!main.hasChanges && !root.hasChanges)
        #expect(try stage.sql("SELECT count(*) FROM Z_1MANYTOMANY") == "0")
    }
}
