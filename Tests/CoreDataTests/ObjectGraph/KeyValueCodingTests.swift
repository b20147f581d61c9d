import CoreData
import Foundation
import Testing

@Suite("Values by name")
struct KeyValueCodingTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    @Test("are NSNumbers for numbers, nil where there is none, and accept Swift's numbers")
    func numbers() throws {
        let (book, person) = (Book(context: context), Person(context: context))
        #expect(book.value(forKey: "pages") == nil && book.value(forKey: "isLent") as? NSNumber == false)
        book.setValue(5, forKey: "pages")
        book.setValue(NSNumber(value: 2.5), forKey: "price")
        book.setValue(true, forKey: "isLent")
        book.setValue(Float(0.5), forKey: "weight")
        book.setValue(Int8(-3), forKey: "copies")
        person.setValue(Int(41), forKey: "age")
        #expect(book.value(forKey: "pages") is NSNumber && book.value(forKey: "pages") as? Int == 5 && book.pages == 5)
        #expect(book.value(forKey: "price") as? NSNumber == 2.5 && book.price == 2.5)
        #expect(book.value(forKey: "isLent") as? Bool == true && book.isLent)
        #expect(book.weight == 0.5 && book.copies == -3 && person.age == 41)
        book.setValue(nil, forKey: "pages")
        #expect(book.pages == 0 && book.value(forKey: "pages") == nil)
        book.setValue(NSNull(), forKey: "price")
        #expect(book.price == nil)
        book.setValue("T", forKey: "title")
        book.setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "published")
        try context.save()
        #expect(try library.sql("SELECT ZPAGES IS NULL, ZISLENT, ZWEIGHT, ZCOPIES, ZPUBLISHED FROM ZBOOK") == "1|1|0.5|-3|1")
    }

    @Test(
        "that do not fit an integer attribute fail validation and are never cut to another number",
        arguments: [
            (70000, NSValidationNumberTooLargeError), (-40000, NSValidationNumberTooSmallError),
        ]
    )
    func overflow(age: Int, code: Int) throws {
        let person = Person(context: context)
        person.setValue(age, forKey: "age")
        #expect(errorCode { try context.save() } == code)
        person.setValue(7, forKey: "age")
        try context.save()
        #expect(try library.sql("SELECT ZAGE FROM ZPERSON") == "7")
    }

    @Test("of the wrong type trap with the attribute's name, unknown keys too")
    func misuse() async {
        await #expect(processExitsWith: .failure) { try Book(context: Library().context).setValue("five", forKey: "pages") }
        await #expect(processExitsWith: .failure) { try Book(context: Library().context).setValue(5, forKey: "title") }
        await #expect(processExitsWith: .failure) { try Book(context: Library().context).setValue("A", forKey: "author") }
        await #expect(processExitsWith: .failure) { _ = try Book(context: Library().context).value(forKey: "nothing") }
        await #expect(processExitsWith: .failure) { try Book(context: Library().context).setValue(1, forKey: "nothing") }
        await #expect(processExitsWith: .failure) {
            let library = try Library()
            Book(context: library.context).setValue(Tag(context: library.context), forKey: "author")
        }
        await #expect(processExitsWith: .failure) {
            let library = try Library()
            Book(context: library.context).author = Author(context: library.newContext())
        }
    }

    @Test("go along key paths, over to-many relationships, with @count and other collection operators")
    func keyPaths() throws {
        let author = Author(context: context)
        author.name = "A"
        for pages in [1, 2, 3] {
            let book = Book(context: context)
            book.pages = Int32(pages)
            book.author = author
        }
        let book = try #require(author.books.first)
        #expect(book.value(forKeyPath: "author.name") as? String == "A")
        #expect(author.value(forKeyPath: "books.@count") as? Int == 3)
        #expect((author.value(forKeyPath: "books.@sum.pages") as? NSNumber)?.intValue == 6)
        #expect(book.value(forKeyPath: "author.books.@count") as? Int == 3)
        #expect(book.value(forKeyPath: "author.boss.name") == nil)
        book.setValue("B", forKeyPath: "author.name")
        #expect(author.name == "B")
        book.setValue("nobody", forKeyPath: "author.boss.name")
    }

    @Test("come and go as dictionaries, and by subscript")
    func dictionaries() throws {
        let book = Book(context: context)
        book.setValuesForKeys(["title": "T", "pages": 3, "price": NSNull()])
        #expect(
            book.dictionaryWithValues(forKeys: ["title", "pages", "price"]) as NSDictionary == [
                "title": "T", "pages": 3, "price": NSNull(),
            ]
        )
        book["title"] = "U"
        #expect(book["title"] as? String == "U" && book.title == "U")
    }
}

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

@Suite("Primitive values")
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
        let item = LibraryModel.entity(
            "Item",
            Item.self,
            [LibraryModel.attribute("name", .stringAttributeType), LibraryModel.attribute("rank", .integer16AttributeType), note]
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
}

/// One class for entities whose rows differ.
private class Shape: NSManagedObject {
    private static let nameKey = Attribute<String?>("name")
    private static let sizeKey = Attribute<Int32>("size")
    var name: String? {
        get { self[Shape.nameKey] }
        set { self[Shape.nameKey] = newValue }
    }
    var size: Int32 {
        get { self[Shape.sizeKey] }
        set { self[Shape.sizeKey] = newValue }
    }
}

@Suite("Typed accessors")
struct TypedAccessorTests {
    private static func entities(extra: Int, sizeType: NSAttributeType = .integer32AttributeType) -> [NSEntityDescription] {
        Shape.register()
        let others = (0..<extra).map { LibraryModel.attribute("a\($0)", .doubleAttributeType, default: Double($0)) }
        let base = LibraryModel.entity(
            "Shape",
            Shape.self,
            others + [LibraryModel.attribute("name", .stringAttributeType), LibraryModel.attribute("size", sizeType)]
        )
        base.subentities = [LibraryModel.entity("Sub", Shape.self, [LibraryModel.attribute("aaa", .stringAttributeType, default: "sub")])]
        return [base] + base.subentities + [
            LibraryModel.entity(
                "Other",
                Shape.self,
                [
                    LibraryModel.attribute("size", sizeType), LibraryModel.attribute("b", .stringAttributeType),
                    LibraryModel.attribute("name", .stringAttributeType),
                ]
            )
        ]
    }

    @Test("never read a wrong place: sub-entities, other entities of the class, and other models in turn")
    func layouts() throws {
        let stages = [
            try Stage { Self.entities(extra: 0) }, try Stage { Self.entities(extra: 9) },
            try Stage { Self.entities(extra: 3, sizeType: .integer64AttributeType) },
        ]
        var shapes: [(Shape, Int32)] = []
        for (index, stage) in stages.enumerated() {
            for (offset, entity) in ["Shape", "Sub", "Other"].enumerated() {
                let object = try #require(NSEntityDescription.insertNewObject(forEntityName: entity, into: stage.context) as? Shape)
                shapes.append((object, Int32(10 * index + offset)))
            }
        }
        for (shape, number) in shapes.shuffled() { (shape.size, shape.name) = (number, "n\(number)") }
        for _ in 0..<3 { for (shape, number) in shapes.shuffled() { #expect(shape.size == number && shape.name == "n\(number)") } }
        for stage in stages { try stage.context.save() }
        for (shape, number) in shapes.shuffled() { #expect(shape.value(forKey: "size") as? Int32 == number && shape.name == "n\(number)") }
        let read = try stages.flatMap { try $0.separateContext().all(Shape.self, "Shape", by: "size") }
        #expect(read.map(\.size) == [0, 1, 10, 11, 20, 21])
        #expect(read.map(\.name) == [0, 1, 10, 11, 20, 21].map { "n\($0)" })
        #expect(read.compactMap { $0.entity.name == "Sub" ? $0.value(forKey: "aaa") as? String : nil } == ["sub", "sub", "sub"])
    }
}
