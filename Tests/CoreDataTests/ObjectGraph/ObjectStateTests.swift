import CoreData
import Foundation
import Testing

@Suite("The state of an object")
struct ObjectStateTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    @Test("says what the next save does with it, and nothing after the save")
    func flags() throws {
        let book = Book(context: context)
        book.title = "T"
        #expect(book.isInserted && !book.isUpdated && !book.isDeleted && book.hasChanges && book.hasPersistentChangedValues)
        try context.save()
        #expect(!book.isInserted && !book.isUpdated && !book.hasChanges && !book.hasPersistentChangedValues && !context.hasChanges)
        book.pages = 3
        #expect(!book.isInserted && book.isUpdated && book.hasChanges && context.updatedObjects == [book])
        context.delete(book)
        #expect(book.isDeleted && book.hasChanges && context.deletedObjects == [book] && context.updatedObjects.isEmpty)
    }

    @Test("has all other values, and the old one to go back to, whichever is set first", arguments: ["title", "cover", "pages"])
    func firstSet(key: String) throws {
        let book = try library.savedBook("A title that is too long to lie in the value itself")
        (book.cover, book.pages, book.price) = (Data([7, 7]), 12, 2.5)
        try context.save()
        let other = try library.separateContext()
        let new: [String: Any] = ["title": "Another", "cover": Data([1]), "pages": 13]
        let before = ["title": "A title that is too long to lie in the value itself", "cover": "2 bytes", "pages": "12", "price": "2.5"]
        for (value, text) in [(new[key], ["title": "Another", "cover": "1 bytes", "pages": "13"][key]), (nil, "nil")] {
            let fetched = try #require(try other.fetch(NSFetchRequest<Book>(entityName: "Book")).first)
            fetched.setValue(value, forKey: key)
            // => Only that value differs, and what was read stays known.
            var after = before
            after[key] = text
            for name in before.keys { #expect(fetched.value(forKey: name).map { "\($0)" } ?? "nil" == after[name]) }
            #expect(fetched.committedValues(forKeys: [key])[key].map { "\($0)" } == before[key])
            other.rollback()
            for name in before.keys { #expect(fetched.value(forKey: name).map { "\($0)" } == before[name]) }
        }
    }

    @Test("counts an equal value as a change that is listed, but writes no statement and bumps no version")
    func equalValue() throws {
        let book = try library.savedBook()
        let saves = Notifications(.NSManagedObjectContextDidSave, from: context)
        book.title = book.title
        book.isLent = book.isLent
        book.price = book.price
        #expect(book.isUpdated && book.hasChanges && context.hasChanges && !book.hasPersistentChangedValues)
        #expect(book.changedValues().isEmpty)
        let statements = try library.statements { try context.save() }
        #expect(!statements.contains { $0.hasPrefix("UPDATE ZBOOK") })
        #expect(saves.objects(NSUpdatedObjectsKey) == [book])
        #expect(try library.sql("SELECT Z_OPT FROM ZBOOK") == "1")
        // * And the next change is measured against the same row.
        book.pages = 9
        try context.save()
        #expect(try library.sql("SELECT Z_OPT, ZPAGES, ZTITLE FROM ZBOOK") == "2|9|T")
    }

    @Test("gives changed and committed values, nil as NSNull")
    func values() throws {
        let book = try library.savedBook()
        #expect(book.committedValues(forKeys: ["title", "price"]) as NSDictionary == ["title": "T", "price": NSNull()])
        book.title = "U"
        book.price = 2.5
        let author = Author(context: context)
        book.author = author
        #expect(book.changedValues()["title"] as? String == "U")
        #expect(book.changedValues()["price"] as? Double == 2.5)
        #expect(book.changedValues()["author"] as? Author === author)
        #expect(book.changedValues().count == 3)
        #expect(book.committedValues(forKeys: nil)["title"] as? String == "T")
        #expect(book.committedValues(forKeys: nil)["author"] is NSNull)
        #expect(Set(book.committedValues(forKeys: nil).keys) == Set(book.entity.propertiesByName.keys))
        #expect(author.committedValues(forKeys: nil).isEmpty)
        book.title = nil
        #expect(book.changedValues()["title"] is NSNull)
        try #require(book.changedValues().count == 3)
        book.title = "T"
        #expect(book.changedValues()["title"] == nil && book.isUpdated)
    }

    @Test("gives to-many relationships among the changed and committed values, ordered ones in their order")
    func toManyValues() throws {
        let book = try library.savedBook()
        let chapters = ["a", "b", "c"].map { heading in
            let chapter = Chapter(context: context)
            chapter.heading = heading
            return chapter
        }
        book.chapters = chapters
        let tag = Tag(context: context)
        book.tags = [tag]
        try context.save()
        book.chapters = [chapters[2], chapters[0]]
        book.tags = []
        #expect((book.changedValues()["chapters"] as? NSOrderedSet)?.array as? [Chapter] == [chapters[2], chapters[0]])
        #expect((book.changedValues()["tags"] as? Set<NSManagedObject>)?.isEmpty == true)
        #expect((book.committedValues(forKeys: ["chapters"])["chapters"] as? NSOrderedSet)?.array as? [Chapter] == chapters)
        #expect(book.committedValues(forKeys: ["tags"])["tags"] as? Set<NSManagedObject> == [tag])
    }

    @Test("gives the values that changed in the current event only")
    func currentEvent() throws {
        let book = try library.savedBook()
        book.title = "1"
        #expect(book.changedValuesForCurrentEvent() as NSDictionary == ["title": "1"])
        context.processPendingChanges()
        #expect(book.changedValuesForCurrentEvent().isEmpty)
        book.pages = 2
        #expect(book.changedValuesForCurrentEvent() as NSDictionary == ["pages": 2])
        context.processPendingChanges()
        book.title = "3"
        #expect(book.changedValuesForCurrentEvent() as NSDictionary == ["title": "3"])
        #expect(book.changedValues() as NSDictionary == ["title": "3", "pages": 2])
        context.processPendingChanges()
        let tag = Tag(context: context)
        book.tags = [tag]
        #expect(book.changedValuesForCurrentEvent() as NSDictionary == ["tags": Set([tag])])
        try context.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "3|2")
    }

    @Test("gives the event's values to those who observe its end")
    func currentEventWhileObserved() throws {
        let book = try library.savedBook()
        book.pages = 1
        context.processPendingChanges()
        var seen: [String: Any] = [:]
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context) { _ in
            seen = book.changedValuesForCurrentEvent()
        }
        book.title = "seen"
        context.processPendingChanges()
        #expect(changes.received.count == 1)
        #expect(seen as NSDictionary == ["title": "seen"])
        context.rollback()
        #expect(book.title == "T" && book.pages == 0)
    }

    @Test("stays a fault while only identity is asked for, and fires on any property")
    func firing() throws {
        _ = try library.savedBook()
        let other = library.newContext()
        let book = try other.only(Book.self, "Book")
        _ = (book.objectID, book.entity, book.managedObjectContext, book.isInserted, book.hasChanges, book.hash, book.description)
        _ = (book.debugDescription, book.isEqual(book), book == book, book.hasFault(forRelationshipNamed: "tags"))
        _ = (book.hasPersistentChangedValues, book.changedValues())
        #expect(book.isFault && book.faultingState != 0)
        #expect(book.description.contains("fault"))
        let statements = library.statementsOf { #expect(book.title == "T") }
        #expect(!book.isFault && book.faultingState == 0 && statements == [])
        other.refreshAllObjects()
        #expect(book.isFault)
        book.willAccessValue(forKey: nil)
        #expect(!book.isFault)
        other.refreshAllObjects()
        book.pages = 1
        #expect(!book.isFault)
        other.refresh(book, mergeChanges: false)
        _ = book.author
        #expect(!book.isFault)
    }

    @Test("tells which relationships have been read, and their IDs without firing the other ends")
    func relationshipFaults() throws {
        let book = try library.savedBook()
        let (tag, author) = (Tag(context: context), Author(context: context))
        book.tags = [tag]
        book.author = author
        #expect(!book.hasFault(forRelationshipNamed: "tags"))
        try context.save()
        let other = library.newContext()
        let same = try other.only(Book.self, "Book")
        #expect(same.hasFault(forRelationshipNamed: "tags") && same.hasFault(forRelationshipNamed: "author"))
        #expect(same.objectIDs(forRelationshipNamed: "tags") == [tag.objectID])
        #expect(same.objectIDs(forRelationshipNamed: "author") == [author.objectID])
        #expect(same.objectIDs(forRelationshipNamed: "chapters") == [])
        #expect(same.tags.first?.isFault == true && same.author?.isFault == true)
        #expect(!same.hasFault(forRelationshipNamed: "tags"))
    }
}
