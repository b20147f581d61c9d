import Foundation
import Testing

@testable import CoreData

/// Accessors as a programmer writes them by hand, around primitive values.
private final class Item: NSManagedObject {
    var name: String? {
        get {
            willAccessValue(forKey: "name")
            defer { didAccessValue(forKey: "name") }
            return primitiveValue(forKey: "name") as? String
        }
        set {
            willChangeValue(forKey: "name")
            setPrimitiveValue(newValue, forKey: "name")
            didChangeValue(forKey: "name")
        }
    }
    var box: Box? {
        get {
            willAccessValue(forKey: "box")
            defer { didAccessValue(forKey: "box") }
            return primitiveValue(forKey: "box") as? Box
        }
        set {
            willChangeValue(forKey: "box")
            setPrimitiveValue(newValue, forKey: "box")
            didChangeValue(forKey: "box")
        }
    }
    /// What `awakeFromFetch` puts into the transient attribute. The suite's tests that set it do so one at a time.
    nonisolated(unsafe) static var noteWhenFetched: String?
    override func awakeFromFetch() {
        if let note = Item.noteWhenFetched { setPrimitiveValue(note, forKey: "note") }
    }
    private static let rankKey = Attribute<Int>("rank")
    private static let optionalRankKey = Attribute<Int32?>("rank")
    var rank: Int {
        get { self[Item.rankKey] }
        set { self[Item.rankKey] = newValue }
    }
    var optionalRank: Int32? {
        get { self[Item.optionalRankKey] }
        set { self[Item.optionalRankKey] = newValue }
    }
}

private final class Box: NSManagedObject {
    private static let itemsKey = OrderedToMany<Item>("items")
    var items: [Item] {
        get { self[Box.itemsKey] }
        set { self[Box.itemsKey] = newValue }
    }
    func setItemsByHand(_ items: [Item]) {
        willChangeValue(forKey: "items")
        setPrimitiveValue(NSOrderedSet(array: items), forKey: "items")
        didChangeValue(forKey: "items")
    }
}

@Suite("Primitive values", .serialized)
struct PrimitiveValueTests {
    let stage: Stage
    var context: NSManagedObjectContext { stage.context }

    init() throws {
        Item.register()
        Box.register()
        stage = try Stage(Self.entities)
    }

    private static func entities() -> [NSEntityDescription] {
        let note = LibraryModel.attribute("note", .stringAttributeType)
        note.isTransient = true
        let mark = LibraryModel.attribute("mark", .stringAttributeType, default: "unmarked")
        mark.isTransient = true
        let item = LibraryModel.entity(
            "Item",
            Item.self,
            [LibraryModel.attribute("name", .stringAttributeType), LibraryModel.attribute("rank", .integer16AttributeType), note, mark]
        )
        let box = LibraryModel.entity("Box", Box.self, [LibraryModel.attribute("label", .stringAttributeType)])
        let many = (0..<40).map { LibraryModel.attribute(String(format: "a%02d", $0), .integer32AttributeType) }
        LibraryModel.relate(box, "items", toMany: true, .nullifyDeleteRule, item, "box", toMany: false, .nullifyDeleteRule).isOrdered = true
        return [item, box, LibraryModel.entity("Wide", NSManagedObject.self, many)]
    }

    @Test("under hand-written accessors track, save and keep inverses as generated ones do")
    func accessors() throws {
        let (item, left, right) = (Item(context: context), Box(context: context), Box(context: context))
        item.name = "n"
        item.box = left
        #expect(left.items == [item])
        item.box = right
        #expect(left.items.isEmpty && right.items == [item])
        try context.save()
        #expect(try stage.sql("SELECT ZNAME, ZBOX = (SELECT MAX(Z_PK) FROM ZBOX) FROM ZITEM").hasPrefix("n|"))
        item.name = "m"
        #expect(item.isUpdated && item.changedValues() as NSDictionary == ["name": "m"])
        try context.save()
        #expect(try stage.sql("SELECT ZNAME, Z_OPT FROM ZITEM") == "m|2")
        let other = try stage.separateContext()
        let same = try other.only(Item.self, "Item")
        #expect(same.isFault && same.name == "m" && same.box?.items == [same])
        item.box = nil
        #expect(right.items.isEmpty)
    }

    @Test("of a to-many relationship set by hand keep inverses and order")
    func toManyByHand() throws {
        let (box, one, two) = (Box(context: context), Item(context: context), Item(context: context))
        (one.name, two.name) = ("1", "2")
        box.setItemsByHand([one, two])
        #expect(one.box === box && two.box === box)
        try context.save()
        box.setItemsByHand([two, one])
        #expect(box.items == [two, one])
        try context.save()
        #expect(try stage.sql("SELECT ZNAME FROM ZITEM ORDER BY Z_FOK_BOX") == "2\n1")
        box.setItemsByHand([one])
        #expect(two.box == nil && box.items == [one])
    }

    @Test("of an object saved without an owner get a place when it finds one")
    func laterOwner() throws {
        let (box, items) = (Box(context: context), (0..<3).map { _ in Item(context: context) })
        for (index, item) in items.enumerated() { item.name = "\(index)" }
        items[2].box = box
        try context.save()
        let other = try stage.separateContext()
        let same = try other.only(Box.self, "Box")
        for item in try other.all(Item.self, "Item", by: "name") where item.box == nil { item.box = same }
        try other.save()
        #expect(try stage.sql("SELECT ZNAME FROM ZITEM ORDER BY Z_FOK_BOX") == "2\n0\n1")
    }

    @Test("are nil on a fault, and set without a notice the object is not changed nor any inverse")
    func withoutNotice() throws {
        let (item, box) = (Item(context: context), Box(context: context))
        item.name = "n"
        try context.save()
        item.setPrimitiveValue("quiet", forKey: "name")
        item.setPrimitiveValue(box, forKey: "box")
        #expect(!item.isUpdated && !context.hasChanges && box.items.isEmpty)
        #expect(item.name == "quiet")
        try context.save()
        #expect(try stage.sql("SELECT ZNAME FROM ZITEM") == "n")
        let other = try stage.separateContext()
        let same = other.object(
            with: try #require(other.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: item.objectID.uriRepresentation()))
        )
        #expect(same.primitiveValue(forKey: "name") == nil)
        same.willAccessValue(forKey: "name")
        #expect(same.primitiveValue(forKey: "name") as? String == "n")
    }

    @Test("set quietly are written with the object's next save, whichever column they are in", arguments: ["a00", "a39"])
    func quietThenSaved(key: String) throws {
        let wide = NSEntityDescription.insertNewObject(forEntityName: "Wide", into: context)
        try context.save()
        wide.setPrimitiveValue(5, forKey: key)
        wide.setValue(1, forKey: "a20")
        try context.save()
        #expect(try stage.sql("SELECT Z\(key.uppercased()), ZA20 FROM ZWIDE") == "5|1")
    }

    @Test("of forty attributes are tracked each for itself")
    func wide() throws {
        let wide = NSEntityDescription.insertNewObject(forEntityName: "Wide", into: context)
        try context.save()
        for index in 0..<40 { wide[String(format: "a%02d", index)] = index }
        #expect(wide.changedValues().count == 40)
        try context.save()
        wide["a35"] = 350
        #expect(wide.changedValues() as NSDictionary == ["a35": 350])
        context.rollback()
        #expect(wide["a35"] as? Int == 35)
        wide["a35"] = 36
        context.refresh(wide, mergeChanges: true)
        try context.save()
        #expect(try stage.sql("SELECT ZA00, ZA30, ZA31, ZA35, ZA39 FROM ZWIDE") == "0|30|31|36|39")
    }

    @Test("of transient attributes are tracked, not written, and lost with the fault")
    func transients() throws {
        let item = Item(context: context)
        item.setValue("x", forKey: "note")
        try context.save()
        #expect(item.value(forKey: "note") as? String == "x")
        item.setValue("y", forKey: "note")
        #expect(item.isUpdated && !item.hasPersistentChangedValues && item.changedValues().isEmpty)
        context.refresh(item, mergeChanges: true)
        #expect(item.value(forKey: "note") as? String == "y")
        try context.save()
        context.refresh(item, mergeChanges: false)
        #expect(item.value(forKey: "note") == nil)
    }

    @Test("of transient attributes are at their defaults in new objects, in faults and after a reset; nil can be set")
    func transientDefaults() throws {
        let item = Item(context: context)
        #expect(item.value(forKey: "mark") as? String == "unmarked")
        item.setValue("x", forKey: "mark")
        try context.save()
        #expect(item.value(forKey: "mark") as? String == "x")
        item.setValue(nil, forKey: "mark")
        #expect(item.value(forKey: "mark") == nil)
        context.refresh(item, mergeChanges: false)
        #expect(item.value(forKey: "mark") as? String == "unmarked")
        item.setValue("y", forKey: "mark")
        context.reset()
        #expect(item.isFault && item.value(forKey: "mark") as? String == "unmarked")
    }

    @Test("of transient attributes that are set on a fault stay what awakeFromFetch says something else about")
    func transientOfFault() throws {
        let item = Item(context: context)
        item.name = "n"
        try context.save()
        Item.noteWhenFetched = "fetched"
        defer { Item.noteWhenFetched = nil }
        context.refresh(item, mergeChanges: false)
        item.setValue("mine", forKey: "note")
        #expect(item.name == "n" && item.value(forKey: "note") as? String == "mine")
    }

    @Test("of transient attributes are set back by a rollback to what they were at the last save, and do not reach a parent later")
    func transientsRolledBack() throws {
        let item = Item(context: context)
        item.setValue("saved", forKey: "note")
        try context.save()
        item.setValue("lost", forKey: "note")
        item.setValue("lost", forKey: "mark")
        item.name = "lost"
        context.rollback()
        #expect(item.value(forKey: "note") as? String == "saved" && item.value(forKey: "mark") as? String == "unmarked" && item.name == nil)
        let child = Layers.child(of: context, "child")
        let mine = child.own(item)
        mine.setValue("draft", forKey: "note")
        child.rollback()
        #expect(mine.value(forKey: "note") == nil)
        mine.name = "n"
        try child.save()
        #expect(item.value(forKey: "note") as? String == "saved" && item.name == "n")
    }

    @Test("of transient attributes reach the parent with a child's save, in new and in changed objects, alone and with others")
    func transientsInParent() throws {
        let (old, only) = (Item(context: context), Item(context: context))
        try context.save()
        let child = Layers.child(of: context, "child")
        let new = Item(context: child)
        new.setValue("new", forKey: "note")
        let (mine, mineOnly) = (child.own(old), child.own(only))
        mine.name = "n"
        mine.setValue("changed", forKey: "note")
        mineOnly.setValue("only", forKey: "note")
        try child.save()
        #expect(old.value(forKey: "note") as? String == "changed" && only.value(forKey: "note") as? String == "only")
        #expect(only.isUpdated)
        #expect(context.own(new).value(forKey: "note") as? String == "new")
        // * What the child has not set again does not come again.
        old.setValue("parent's", forKey: "note")
        mine.name = "m"
        try child.save()
        #expect(old.value(forKey: "note") as? String == "parent's" && old.name == "m")
        try context.save()
    }

    @Test("set quietly, or while values come in, are no changed values")
    func quietValues() throws {
        let item = Item(context: context)
        item.name = "n"
        try context.save()
        item.setPrimitiveValue(7, forKey: "rank")
        #expect(item.changedValues().isEmpty)
        item.name = "m"
        #expect(item.changedValues() as NSDictionary == ["name": "m"])
        item.rank = 8
        #expect(item.changedValues().keys.sorted() == ["name", "rank"])
        try context.save()
        #expect(try stage.sql("SELECT ZNAME, ZRANK FROM ZITEM") == "m|8")
        item.setPrimitiveValue(9, forKey: "rank")
        item.name = "o"
        context.processPendingChanges()
        item.name = "p"
        #expect(item.changedValues() as NSDictionary == ["name": "p"])
        try context.save()
        #expect(try stage.sql("SELECT ZNAME, ZRANK FROM ZITEM") == "p|9")
        #expect(item.changedValues().isEmpty)
    }

    @Test("are reached by typed accessors of another width, by conversion")
    func otherWidth() throws {
        let item = Item(context: context)
        #expect(item.rank == 0 && item.optionalRank == nil)
        item.rank = -5
        #expect(item.rank == -5 && item.optionalRank == -5 && item.value(forKey: "rank") as? Int == -5)
        item.optionalRank = nil
        #expect(item.value(forKey: "rank") == nil)
        item.rank = 300
        try context.save()
        #expect(try stage.separateContext().only(Item.self, "Item").rank == 300)
    }

    @Test("of transient attributes that awakeFromFetch computes in a child are no change that its save carries up")
    func transientsComputedInChild() throws {
        let (item, new) = (Item(context: context), Item(context: context))
        try context.save()
        item.setValue("parent's", forKey: "note")
        Item.noteWhenFetched = "computed"
        defer { Item.noteWhenFetched = nil }
        let child = Layers.child(of: context, "child")
        let (mine, mineToo) = (child.own(item), child.own(new))
        (mine.name, mineToo.name) = ("n", "n")
        mineToo.setPrimitiveValue("set", forKey: "note")
        #expect(mine.value(forKey: "note") as? String == "computed")
        try child.save()
        #expect(item.value(forKey: "note") as? String == "parent's" && item.name == "n")
        #expect(new.value(forKey: "note") as? String == "set")
    }

    @Test("are nil on a fault, until it is fired")
    func fault() throws {
        let item = Item(context: context)
        item.name = "n"
        try context.save()
        context.refresh(item, mergeChanges: false)
        #expect(item.primitiveValue(forKey: "name") == nil && item.isFault)
        #expect(item.name == "n" && item.primitiveValue(forKey: "name") as? String == "n")
    }
}
