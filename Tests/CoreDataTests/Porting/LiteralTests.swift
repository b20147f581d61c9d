import CoreData
import Foundation
import Testing

/// A class as Xcode generates it, with a request of its own.
private final class Label: NSManagedObject {
    class func fetchRequest() -> NSFetchRequest<Label> { NSFetchRequest<Label>(entityName: "Label") }
    var text: String? {
        get { value(forKey: "text") as? String }
        set { setValue(newValue, forKey: "text") }
    }
}

private final class Card: NSManagedObject {
    var labels: NSSet? {
        get { value(forKey: "labels") as? NSSet }
        set { setValue(newValue, forKey: "labels") }
    }

    func addToLabels(_ label: Label) { mutableSetValue(forKey: "labels").add(label) }
    func addToLabels(_ labels: NSSet) { labels.forEach { mutableSetValue(forKey: "labels").add($0) } }
}

@Suite("Code written for a Mac")
struct LiteralTests {
    private struct Cards {
        let home: StoreHome
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)

        init(_ kind: StoreKind) throws {
            home = try StoreHome(kind)
            let label = LibraryModel.entity("Label", Label.self, [LibraryModel.attribute("text", .stringAttributeType)])
            let card = LibraryModel.entity("Card", Card.self, [])
            LibraryModel.relate(card, "labels", toMany: true, .nullifyDeleteRule, label, "cards", toMany: true, .nullifyDeleteRule)
            LibraryModel.relate(label, "parent", toMany: false, .nullifyDeleteRule, card, "children", toMany: true, .nullifyDeleteRule)
            let model = NSManagedObjectModel()
            model.entities = [label, card]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: home.url())
            context.persistentStoreCoordinator = coordinator
        }

        func label(_ text: String) -> Label {
            let label = Label(context: context)
            label.text = text
            return label
        }
    }

    @Test("sets a context's undo manager to nil, and finds that there is none")
    func noUndo() throws {
        let cards = try Cards(.memory)
        cards.context.undoManager = nil
        cards.context.undoManager?.disableUndoRegistration()
        #expect(cards.context.undoManager == nil)
    }

    @Test("casts values to CVarArg for predicates and texts")
    func arguments() {
        let (id, date) = (UUID(), Date(timeIntervalSinceReferenceDate: 0))
        let arguments: [any CVarArg] = [id as CVarArg, date as CVarArg, [1, 2], Set(["a"]), Decimal(1), URL(fileURLWithPath: "/"), 5, "b"]
        let format = "id == %@ AND date == %@ AND number IN %@ AND text IN %@"
        let predicate = NSPredicate(format: format, id as CVarArg, date as CVarArg, [1, 2] as CVarArg, Set(["a"]) as CVarArg)
        #expect(predicate.evaluate(with: ["id": id, "date": date, "number": 2, "text": "a"] as [String: Any]))
        #expect(!predicate.evaluate(with: ["id": UUID(), "date": date, "number": 2, "text": "a"] as [String: Any]))
        #expect(NSPredicate(format: format, argumentArray: Array(arguments.prefix(4))).printedFormat == predicate.printedFormat)
        #expect(String(format: "%@ %@ %d %@", arguments: [arguments[0], arguments[2], arguments[6], arguments[7]]) == "\(id) [1, 2] 5 b")
    }

    @Test("makes predicates in functions of its own, which take objects and Foundation's values as CVarArg")
    func objectArguments() throws {
        func count(_ format: String, _ arguments: any CVarArg...) throws -> Int {
            let request = NSFetchRequest<Label>(entityName: "Label")
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            return try cards.context.count(for: request)
        }
        let cards = try Cards(.memory)
        let (first, second) = (cards.label("a"), cards.label("b"))
        try cards.context.save()
        #expect(try count("SELF == %@ OR SELF == %@", first, second.objectID) == 2)
        #expect(try count("text IN %@ AND text IN %@ AND %@ > 0", NSSet(object: "a"), NSArray(object: "a"), NSNumber(value: 1)) == 1)
        #expect(String(format: "%@", NSNumber(value: 5) as CVarArg) == "5")
    }

    @Test("sets a relationship to a list in brackets, and adds one", arguments: StoreKind.allCases)
    func relationshipLiterals(kind: StoreKind) throws {
        let cards = try Cards(kind)
        let (card, first, second) = (Card(context: cards.context), cards.label("a"), cards.label("b"))
        card.labels = [first]
        #expect(card.labels as? Set<Label> == [first])
        card.addToLabels([second])
        card.addToLabels(first)
        #expect(card.labels == [first, second] && card.labels?.count == 2)
        try cards.context.save()
        card.labels = []
        #expect(first.value(forKey: "cards") as? Set<Card> == [])
    }

    @Test("says its request without a type, and gets the class' own", arguments: StoreKind.allCases)
    func typedRequest(kind: StoreKind) throws {
        let cards = try Cards(kind)
        let (first, second) = (cards.label("a"), cards.label("b"))
        let request = Label.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
        #expect(try cards.context.fetch(request) == [first, second])
        #expect(try cards.context.count(for: Label.fetchRequest()) == 2)
        let untyped: NSFetchRequest<NSFetchRequestResult> = Label.fetchRequest()
        #expect(try cards.context.fetch(untyped).count == 2)
    }

    @Test("has literals of plain values in a set, which are equal to those of an array")
    func plainSets() {
        struct Own: Hashable { let number = 3 }
        let set: NSSet = ["a", 1, 2.5, Own()]
        #expect(set.count == 4 && set.contains("a") && set.contains(1) && set.contains(2.5) && set.contains(Own()))
        #expect(set == NSSet(array: ["a", 1, 2.5, Own()]) && ([] as NSSet).count == 0)
        #expect((["a", "b"] as NSSet) as? Set<String> == ["a", "b"])
        let ordered: NSOrderedSet = ["b", "a"]
        #expect(ordered.array as? [String] == ["b", "a"])
    }

    @Test("has sets of every kind as a predicate's argument, in the store and in memory", arguments: StoreKind.allCases)
    func setsInPredicates(kind: StoreKind) throws {
        let cards = try Cards(kind)
        let (card, first) = (Card(context: cards.context), cards.label("a"))
        _ = cards.label("b")
        card.labels = [first]
        try cards.context.save()
        let labels = try #require(card.labels)
        let texts: Set = ["a", "z"]
        let formats: [(String, Any)] = [
            ("SELF IN %@", labels), ("SELF IN %@", labels as? Set<Label> ?? []), ("SELF IN %@", NSOrderedSet(array: [first])),
            ("SELF IN %@", Set([first.objectID])), ("text IN %@", texts), ("text IN %@", texts as NSSet), ("ANY cards IN %@", Set([card])),
            ("ANY cards IN %@", [card] as NSSet), ("ANY cards == %@", card),
        ]
        for (format, argument) in formats {
            let request = Label.fetchRequest()
            request.predicate = NSPredicate(format: format, argument)
            #expect(try cards.context.fetch(request) == [first], "\(format) \(type(of: argument))")
            #expect(request.predicate?.evaluate(with: first) == true, "\(format) \(type(of: argument))")
        }
    }

    @Test("changes the relationship at the end of a path", arguments: StoreKind.allCases)
    func setsAtPaths(kind: StoreKind) throws {
        let cards = try Cards(kind)
        let (card, label, other) = (Card(context: cards.context), cards.label("a"), cards.label("b"))
        #expect(label.mutableSetValue(forKeyPath: "parent.labels").count == 0)
        label.setValue(card, forKey: "parent")
        label.mutableSetValue(forKeyPath: "parent.labels").add(other)
        #expect(card.labels == [other] && card.mutableSetValue(forKeyPath: "labels").count == 1)
    }

    @Test("changes the ordered relationship at the end of a path")
    func orderedSetsAtPaths() throws {
        let library = try Library()
        let (book, first) = (Book(context: library.context), Chapter(context: library.context))
        first.book = book
        let second = Chapter(context: library.context)
        first.mutableOrderedSetValue(forKeyPath: "book.chapters").insert(second, at: 0)
        #expect(Array(book.chapters) == [second, first])
    }

    @Test("drains a pool, with what the block gives or throws")
    func autoreleasePools() {
        #expect(autoreleasepool { 3 } == 3)
        #expect(throws: CocoaError.self) { try autoreleasepool { throw CocoaError(.coreData) } }
    }

    @Test("finds places in lists with sections")
    func indexPaths() {
        var path = IndexPath(row: 2, section: 1)
        #expect(path == IndexPath(item: 2, section: 1) && path.count == 2 && (path.section, path.row, path.item) == (1, 2, 2))
        path.row = 5
        path.section = 4
        #expect(path == [4, 5])
    }

    @Test("names the errors of locks and of Spotlight's records")
    func rareErrors() {
        #expect(CocoaError.Code.managedObjectContextLocking.rawValue == NSManagedObjectContextLockingError)
        #expect(CocoaError.persistentStoreCoordinatorLocking.rawValue == NSPersistentStoreCoordinatorLockingError)
        #expect(CocoaError.externalRecordImport.rawValue == NSExternalRecordImportError && NSExternalRecordImportError == 134200)
        #expect(NSManagedObjectContextLockingError == 132000 && NSPersistentStoreCoordinatorLockingError == 132010)
    }
}
