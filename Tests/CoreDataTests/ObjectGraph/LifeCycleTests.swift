import CoreData
import Foundation
import Testing

/// A class that notes its life-cycle calls in its context's `userInfo`, and does there what a test says.
final class Witness: NSManagedObject {
    private enum Keys {
        static let name = Attribute<String?>("name")
        static let stamp = Attribute<Int64>("stamp")
        static let parent = ToOne<Witness>("parent")
        static let children = ToMany<Witness>("children")
    }
    var name: String? {
        get { self[Keys.name] }
        set { self[Keys.name] = newValue }
    }
    var stamp: Int64 {
        get { self[Keys.stamp] }
        set { self[Keys.stamp] = newValue }
    }
    var parent: Witness? {
        get { self[Keys.parent] }
        set { self[Keys.parent] = newValue }
    }
    var children: Set<Witness> {
        get { self[Keys.children] }
        set { self[Keys.children] = newValue }
    }
    /// Stored Swift properties live as long as the instance.
    var scratch: [String] = ["fresh"]

    /// What a context's objects note, and what they do.
    final class Log {
        var lines: [String] = []
        var actions: [String: (Witness) -> Void] = [:]
        func take() -> [String] {
            defer { lines = [] }
            return lines
        }
    }

    private var log: Log? { managedObjectContext?.userInfo["log"] as? Log }

    private func note(_ hook: String) {
        log?.lines.append(hook)
        log?.actions[hook]?(self)
    }

    override func awakeFromInsert() { note("awakeFromInsert") }
    override func awakeFromFetch() { note("awakeFromFetch") }
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) { note("awake(\(flags.rawValue))") }
    override func prepareForDeletion() { note("prepareForDeletion") }
    override func willSave() { note("willSave") }
    override func didSave() { note("didSave") }
    override func willTurnIntoFault() { note("willTurnIntoFault") }
    override func didTurnIntoFault() { note("didTurnIntoFault") }

    static func entities() -> [NSEntityDescription] {
        let witness = LibraryModel.entity(
            "Witness",
            Witness.self,
            [
                LibraryModel.attribute("name", .stringAttributeType, default: "default"),
                LibraryModel.attribute("stamp", .integer64AttributeType, default: 7),
            ]
        )
        LibraryModel.relate(witness, "parent", toMany: false, .nullifyDeleteRule, witness, "children", toMany: true, .cascadeDeleteRule)
        return [witness]
    }
}

@Suite("The life cycle of an object")
struct LifeCycleTests {
    let stage: Stage
    let log = Witness.Log()
    var context: NSManagedObjectContext { stage.context }

    init() throws {
        stage = try Stage(Witness.entities)
        stage.context.userInfo["log"] = log
    }

    private func observed() throws -> NSManagedObjectContext {
        let other = try stage.separateContext()
        other.userInfo["log"] = log
        return other
    }

    @Test("begins with awakeFromInsert, once, when defaults are set and the object is inserted")
    func awakeFromInsert() throws {
        var seen: [String] = []
        log.actions["awakeFromInsert"] = { object in
            seen = [object.name ?? "nil", "\(object.stamp)", "\(object.isInserted)", "\(object.objectID.isTemporaryID)"]
            object.name = "awake"
            object.setPrimitiveValue(99, forKey: "stamp")
        }
        let object = Witness(context: context)
        #expect(seen == ["default", "7", "true", "true"])
        #expect(object.name == "awake" && object.stamp == 99)
        try context.save()
        #expect(log.take() == ["awakeFromInsert", "willSave", "didSave"])
        #expect(try stage.sql("SELECT ZNAME, ZSTAMP FROM ZWITNESS") == "awake|99")
    }

    @Test(
        "is told of each object that is to be saved, also of one that another willSave made before a third one fetched",
        arguments: [true, false]
    )
    func auditing(makesFirst: Bool) throws {
        log.actions["willSave"] = { [context] object in
            switch object.name {
            case "maker":
                if context.registeredObjects.count < 3 { Witness(context: context).name = "audit" }
            case "reader": _ = try? context.all(Witness.self, "Witness")
            default: if object.stamp != 1 { object.stamp = 1 }
            }
        }
        for name in makesFirst ? ["maker", "reader"] : ["reader", "maker"] { Witness(context: context).name = name }
        try context.save()
        #expect(try stage.sql("SELECT ZSTAMP FROM ZWITNESS WHERE ZNAME = 'audit'") == "1")
    }

    @Test("may delete others in prepareForDeletion which delete the first again")
    func mutualDeletion() throws {
        let (parent, child) = (Witness(context: context), Witness(context: context))
        child.parent = parent
        try context.save()
        _ = log.take()
        log.actions["prepareForDeletion"] = { [context] object in
            #expect(!object.isDeleted)
            context.delete(object)
            object.children.forEach(context.delete)
            object.parent.map(context.delete)
        }
        context.delete(parent)
        #expect(log.take() == ["prepareForDeletion", "prepareForDeletion"])
        #expect(context.deletedObjects == [parent, child])
        try context.save()
        #expect(try stage.sql("SELECT COUNT(*) FROM ZWITNESS") == "0")
    }

    @Test("may set relationships in awakeFromFetch, which changes nobody else and makes nothing unsaved")
    func relatingWhenFetched() throws {
        let (parent, child) = (Witness(context: context), Witness(context: context))
        (parent.name, child.name) = ("parent", "child")
        try context.save()
        let other = try observed()
        let found = try #require(other.all(Witness.self, "Witness", by: "name").last)
        #expect(found.name == "parent")
        log.actions["awakeFromFetch"] = { $0.parent = found }
        let fetched = try #require(other.all(Witness.self, "Witness", by: "name").first)
        #expect(fetched.name == "child" && fetched.parent === found)
        #expect(!other.hasChanges && !found.hasChanges && !fetched.hasChanges && found.children.isEmpty)
        log.actions["awakeFromFetch"] = { $0.children = [fetched] }
        other.refresh(found, mergeChanges: false)
        #expect(found.name == "parent" && !other.hasChanges && fetched.hasChanges == false)
    }

    @Test("may change others when a rollback sets an object back: that is a change like any other, and later ones are saved too")
    func changingInRollback() throws {
        let (parent, child) = (Witness(context: context), Witness(context: context))
        child.parent = parent
        try context.save()
        let rollback = "awake(\(NSSnapshotEventType.rollback.rawValue))"
        log.actions[rollback] = { $0.children.forEach { $0.stamp = 99 } }
        for changesBoth in [false, true] {
            parent.stamp += 1
            if changesBoth { child.stamp = 1 }
            context.rollback()
            #expect(child.stamp == 99 && child.hasChanges && context.updatedObjects == [child])
            child.name = "\(changesBoth)"
            try context.save()
            #expect(try stage.sql("SELECT ZNAME, ZSTAMP FROM ZWITNESS WHERE ZPARENT") == "\(changesBoth)|99")
            child.stamp = 7
            try context.save()
        }
        // * Or delete: the object, and another.
        log.actions[rollback] = { [context] in ($0.children + [$0]).forEach(context.delete) }
        parent.stamp += 1
        context.rollback()
        #expect(parent.isDeleted && child.isDeleted)
        try context.save()
        #expect(try stage.sql("SELECT COUNT(*) FROM ZWITNESS") == "0")
    }

    @Test("of an object made in no context begins when it is inserted")
    func insertLater() throws {
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Witness", in: context))
        let object = Witness(entity: entity, insertInto: nil)
        #expect(object.name == "default" && object.managedObjectContext == nil && !object.isInserted && !object.hasChanges)
        object.name = "set before"
        #expect(log.take() == [])
        context.insert(object)
        context.insert(object)
        #expect(log.take() == ["awakeFromInsert"])
        #expect(object.isInserted && object.name == "set before")
        try context.save()
        #expect(try stage.sql("SELECT ZNAME FROM ZWITNESS") == "set before")
    }

    @Test("calls awakeFromFetch when the fault fires and not before, once until it is a fault again, and tracks nothing in it")
    func awakeFromFetch() throws {
        _ = Witness(context: context)
        try context.save()
        let other = try observed()
        _ = log.take()
        log.actions["awakeFromFetch"] = { $0.stamp += 1 }
        let object = try other.only(Witness.self, "Witness")
        #expect(log.take() == [])
        #expect(object.stamp == 8 && object.name == "default")
        #expect(log.take() == ["awakeFromFetch"])
        #expect(!object.hasChanges && !other.hasChanges && other.updatedObjects.isEmpty)
        other.refresh(object, mergeChanges: false)
        #expect(log.take() == ["willTurnIntoFault", "didTurnIntoFault"])
        _ = object.name
        #expect(log.take() == ["awakeFromFetch"])
    }

    @Test("gives the values in willTurnIntoFault, and a fault in didTurnIntoFault")
    func turnIntoFault() throws {
        let object = Witness(context: context)
        try context.save()
        object.name = "unsaved"
        var seen: [String] = []
        log.actions["willTurnIntoFault"] = { seen.append("\($0.name ?? "") \($0.isFault)") }
        log.actions["didTurnIntoFault"] = { seen.append("\($0.isFault)") }
        context.refresh(object, mergeChanges: false)
        #expect(seen == ["unsaved false", "true"])
        #expect(object.name == "default" && !object.hasChanges)
    }

    @Test("saves what willSave sets, and asks again only who changed")
    func willSave() throws {
        let (first, second) = (Witness(context: context), Witness(context: context))
        second.stamp = 100
        _ = log.take()
        log.actions["willSave"] = { object in if object.stamp < 9 { object.stamp += 1 } }
        try context.save()
        #expect(first.stamp == 9)
        #expect(log.take().filter { $0 == "willSave" }.count == 4)
        #expect(try stage.sql("SELECT ZSTAMP FROM ZWITNESS ORDER BY 1") == "9\n100")
        #expect(!context.hasChanges)
    }

    @Test("writes a primitive value set in willSave without asking again")
    func primitiveInWillSave() throws {
        let object = Witness(context: context)
        try context.save()
        _ = log.take()
        log.actions["willSave"] = { $0.setPrimitiveValue($0.stamp + 1, forKey: "stamp") }
        object.name = "changed"
        try context.save()
        #expect(log.take() == ["willSave", "didSave"])
        #expect(try stage.sql("SELECT ZNAME, ZSTAMP FROM ZWITNESS") == "changed|8")
    }

    @Test("takes along objects that willSave inserts, changes and deletes")
    func graphInWillSave() throws {
        let (object, other) = (Witness(context: context), Witness(context: context))
        (object.name, other.name) = ("object", "other")
        try context.save()
        log.actions["willSave"] = { saved in
            guard saved.name == "object", let context = saved.managedObjectContext else { return }
            saved.name = "done"
            Witness(context: context).name = "inserted"
            context.delete(other)
        }
        object.stamp = 1
        try context.save()
        #expect(try stage.sql("SELECT ZNAME FROM ZWITNESS ORDER BY 1") == "done\ninserted")
    }

    @Test("traps with the cure when willSave changes its object every time")
    func endlessWillSave() async {
        await #expect(processExitsWith: .failure) {
            let stage = try Stage(Witness.entities)
            let log = Witness.Log()
            stage.context.userInfo["log"] = log
            log.actions["willSave"] = { $0.stamp += 1 }
            _ = Witness(context: stage.context)
            try stage.context.save()
        }
    }

    @Test("ends with prepareForDeletion while relationships are whole, for each cascaded object too, then willSave and didSave")
    func deletion() throws {
        let (parent, child) = (Witness(context: context), Witness(context: context))
        child.parent = parent
        try context.save()
        _ = log.take()
        var seen: [String] = []
        log.actions["prepareForDeletion"] = {
            seen.append("\($0 === parent ? "parent" : "child") \($0.children.count) \($0.parent == nil)")
        }
        context.delete(parent)
        #expect(seen == ["parent 1 true"])
        context.processPendingChanges()
        #expect(seen == ["parent 1 true", "child 0 false"])
        #expect(log.take() == ["prepareForDeletion", "prepareForDeletion"])
        try context.save()
        #expect(log.take() == ["willSave", "willSave", "didSave", "didSave"])
    }

    @Test("tells of values that were set back or replaced: on rollback and on a merging refresh")
    func snapshotEvents() throws {
        let object = Witness(context: context)
        try context.save()
        _ = log.take()
        object.name = "x"
        var seen = ""
        log.actions["awake(16)"] = { seen = $0.name ?? "nil" }
        context.rollback()
        #expect(seen == "default")
        object.name = "y"
        context.refresh(object, mergeChanges: true)
        #expect(log.take() == ["awake(\(NSSnapshotEventType.rollback.rawValue))", "awake(\(NSSnapshotEventType.refresh.rawValue))"])
        #expect(object.name == "y")
    }

    @Test("asks nothing of objects when a save has nothing to do")
    func emptySave() throws {
        _ = Witness(context: context)
        try context.save()
        _ = log.take()
        try context.save()
        #expect(log.take() == [])
    }

    @Test("leaves changes made in didSave pending for the next save")
    func didSave() throws {
        let object = Witness(context: context)
        log.actions["didSave"] = { if $0.stamp == 7 { $0.stamp = 8 } }
        try context.save()
        #expect(object.isUpdated && context.hasChanges)
        try context.save()
        #expect(try stage.sql("SELECT ZSTAMP FROM ZWITNESS") == "8")
    }

    @Test("loses with the rest what willTurnIntoFault sets of the object, which is changed and saved as any other after that")
    func setsInWillTurnIntoFault() throws {
        let object = Witness(context: context)
        try context.save()
        log.actions["willTurnIntoFault"] = { $0.name = "gone" }
        context.refresh(object, mergeChanges: false)
        log.actions = [:]
        #expect(!context.hasChanges && !object.hasChanges && object.name == "default")
        object.stamp = 3
        try context.save()
        #expect(try stage.sql("SELECT ZSTAMP, ZNAME FROM ZWITNESS") == "3|default")
    }

    @Test("is related for the next save, or until a rollback, to what awakeFromFetch inserts", arguments: [true, false])
    func insertsInAwakeFromFetch(isRolledBack: Bool) throws {
        let object = Witness(context: context)
        try context.save()
        context.reset()
        let fetched = try context.only(Witness.self, "Witness")
        log.actions["awakeFromFetch"] = { $0.mutableSetValue(forKey: "children").add(Witness(context: context)) }
        #expect(fetched.name == "default")
        log.actions = [:]
        #expect(fetched.children.count == 1 && object.managedObjectContext == nil)
        if isRolledBack { context.rollback() }
        fetched.stamp = 1
        try context.save()
        #expect(fetched.children.count == (isRolledBack ? 0 : 1))
        #expect(try stage.sql("SELECT COUNT(*), COUNT(ZPARENT) FROM ZWITNESS") == (isRolledBack ? "1|0" : "2|1"))
    }

    @Test("keeps stored Swift properties of the instance, which start as declared for fetched objects too")
    func storedProperties() throws {
        let object = Witness(context: context)
        #expect(object.scratch == ["fresh"])
        object.scratch.append("more")
        try context.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.scratch == ["fresh", "more"] && !object.hasChanges)
        #expect(try stage.separateContext().only(Witness.self, "Witness").scratch == ["fresh"])
    }

    @Test("traps with the cure when prepareForDeletion of a cascaded object saves")
    func saveInPropagation() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stage = try Stage(Witness.entities)
            let (log, context) = (Witness.Log(), stage.context)
            context.userInfo["log"] = log
            let (parent, child) = (Witness(context: context), Witness(context: context))
            child.parent = parent
            try context.save()
            log.actions["prepareForDeletion"] = { if $0 !== parent { try? context.save() } }
            context.delete(parent)
            context.processPendingChanges()
        }
        #expect(complaint(result).contains("leave the save to who deletes"))
    }
}
