import CoreData
import Foundation
import Testing

@Suite("Notifications of a context")
struct NotificationTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func tag(_ label: String) -> Tag {
        let tag = Tag(context: context)
        tag.label = label
        return tag
    }

    @Test("come in order around a save, with the objects in sets of their class")
    func save() throws {
        let (updated, deleted) = (tag("u"), tag("d"))
        try context.save()
        let inserted = tag("i")
        updated.label = "v"
        context.delete(deleted)
        var order: [String] = []
        let will = Notifications(.NSManagedObjectContextWillSave, from: context) { _ in order.append("will") }
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context) { _ in order.append("change") }
        let did = Notifications(.NSManagedObjectContextDidSave, from: context) { _ in order.append("did") }
        try context.save()
        #expect(order == ["change", "will", "did"])
        #expect(will.received.first?.userInfo == nil && did.received.first?.object as? NSManagedObjectContext === context)
        for notifications in [changes, did] {
            let info = notifications.received.first?.userInfo
            #expect(info?[NSInsertedObjectsKey] as? Set<NSManagedObject> == [inserted])
            #expect(info?[NSUpdatedObjectsKey] as? Set<Tag> == [updated])
            #expect(info?[NSDeletedObjectsKey] as? Set<Tag> == [deleted])
            #expect(info?[NSManagedObjectContext.NotificationKey.insertedObjects.rawValue] != nil)
        }
    }

    @Test("show inserted objects with permanent IDs, and deleted ones with their values and relationships, after the save")
    func whileSaved() throws {
        let (book, author) = (Book(context: context), Author(context: context))
        (book.title, author.name) = ("T", "A")
        book.author = author
        try context.save()
        let new = tag("new")
        context.delete(book)
        var seen: [String] = []
        let did = Notifications(.NSManagedObjectContextDidSave, from: context) { _ in
            seen = ["\(new.objectID.isTemporaryID)", "\(new.hasChanges)", book.title ?? "nil"]
        }
        try context.save()
        #expect(did.received.count == 1 && seen == ["false", "false", "T"])
    }

    @Test("can be observed by one who reads a relationship of a deleted object")
    func deletedRelationship() throws {
        let stage = try Stage {
            let owner = LibraryModel.entity("Owner", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let pet = LibraryModel.entity("Pet", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(owner, "pets", toMany: true, .nullifyDeleteRule, pet, "owner", toMany: false, .nullifyDeleteRule)
            return [owner, pet]
        }
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: stage.context)
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: stage.context)
        pet["owner"] = owner
        owner["name"] = "O"
        try stage.context.save()
        var seen: String?
        let did = Notifications(.NSManagedObjectContextDidSave, from: stage.context) { notification in
            let deleted = (notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.first
            seen = (deleted?.value(forKey: "owner") as? NSManagedObject)?.value(forKey: "name") as? String
        }
        stage.context.delete(pet)
        try stage.context.save()
        #expect(did.received.count == 1 && seen == "O")
        #expect(pet.managedObjectContext == nil && !stage.context.hasChanges)
    }

    @Test("of a save without changes tell of no objects; an event, a fetch or a fault that changes nothing posts none")
    func nothing() throws {
        _ = tag("t")
        try context.save()
        context.reset()
        let will = Notifications(.NSManagedObjectContextWillSave, from: context)
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        context.processPendingChanges()
        _ = try context.only(Tag.self, "Tag").label
        context.performAndWait {}
        #expect(will.received.isEmpty && did.received.isEmpty)
        try context.save()
        #expect(will.received.count == 1 && did.received.count == 1 && changes.received.isEmpty)
        for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
            #expect(did.received.last?.userInfo?[key] as? Set<NSManagedObject> == [])
        }
    }

    @Test("of a save to which an observer of WillSave adds the only change tell of that")
    func addedBeforeSave() throws {
        let will = Notifications(.NSManagedObjectContextWillSave, from: context) { [self] _ in _ = tag("late") }
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        try context.save()
        #expect(will.received.count == 1 && did.objects(NSInsertedObjectsKey).count == 1 && !context.hasChanges)
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG") == "late")
    }

    @Test("say once per event what changed, inverses included")
    func changes() throws {
        let (author, book) = (Author(context: context), Book(context: context))
        book.title = "T"
        try context.save()
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        book.pages = 1
        book.pages = 2
        book.author = author
        context.processPendingChanges()
        #expect(changes.received.count == 1)
        #expect(changes.objects(NSUpdatedObjectsKey) == [book, author])
        #expect(changes.received.last?.userInfo?[NSInsertedObjectsKey] == nil)
        _ = tag("x")
        context.processPendingChanges()
        #expect(changes.received.count == 2 && changes.objects(NSUpdatedObjectsKey).isEmpty)
        #expect(changes.objects(NSInsertedObjectsKey).count == 1)
    }

    @Test("tell what an observer inserts with the next event, beside what changed again")
    func insertedByObserver() throws {
        let first = tag("a")
        var second: Tag?
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context) { _ in if second == nil { second = tag("b") } }
        context.processPendingChanges()
        first.label = "c"
        context.processPendingChanges()
        #expect(changes.received.map { $0.userInfo?[NSInsertedObjectsKey] as? Set<Tag> } == [[first], second.map { [$0] }])
        #expect(changes.objects(NSUpdatedObjectsKey) == [first])
        let did = Notifications(.NSManagedObjectContextDidSave, from: context) { _ in }
        try context.save()
        #expect((did.received.first?.userInfo?[NSInsertedObjectsKey] as? Set<Tag>)?.count == 2)
        #expect(changes.received.count == 2)
    }

    @Test("list what a refresh replaced, and after a rollback what went and what was set back")
    func refreshed() throws {
        let book = Book(context: context)
        book.title = "T"
        try context.save()
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        context.refresh(book, mergeChanges: true)
        context.processPendingChanges()
        #expect(changes.objects(NSRefreshedObjectsKey) == [book])
        let new = tag("new")
        book.title = "U"
        context.rollback()
        #expect(changes.objects(NSDeletedObjectsKey) == [new])
        #expect(changes.objects(NSRefreshedObjectsKey) == [book])
    }

    @Test("say inserted of a delete that a rollback takes back, if they have said deleted", arguments: [true, false])
    func rolledBackDelete(isTold: Bool) throws {
        let book = Book(context: context)
        book.title = "T"
        let chapter = Chapter(context: context)
        chapter.book = book
        try context.save()
        context.delete(book)
        if isTold { context.processPendingChanges() }
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        context.rollback()
        #expect(changes.objects(NSInsertedObjectsKey) == (isTold ? [book, chapter] : []))
        #expect(changes.objects(NSRefreshedObjectsKey) == (isTold ? [] : [book]))
    }

    @Test("list objects deleted before they were saved as deleted, and not in the save")
    func deletedInsert() throws {
        let (gone, kept) = (tag("gone"), tag("kept"))
        context.processPendingChanges()
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        context.delete(gone)
        try context.save()
        #expect(changes.objects(NSDeletedObjectsKey) == [gone])
        #expect(did.objects(NSInsertedObjectsKey) == [kept])
        #expect(did.received.last?.userInfo?[NSDeletedObjectsKey] == nil)
    }

    @Test("of a save list all that several events inserted")
    func severalEvents() throws {
        let first = tag("1")
        context.processPendingChanges()
        let second = tag("2")
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        try context.save()
        #expect(did.objects(NSInsertedObjectsKey) == [first, second])
    }

    @Test("of a save list what is saved, not what only changed in the latest event")
    func notTheLatestEvent() throws {
        let (updated, deleted, refreshed) = (tag("u"), tag("d"), tag("r"))
        try context.save()
        updated.label = "v"
        context.delete(deleted)
        context.processPendingChanges()
        // * In the next event one changes and is set back, and one that was never saved is deleted.
        refreshed.label = "s"
        context.refresh(refreshed, mergeChanges: false)
        context.delete(tag("new"))
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        try context.save()
        #expect(did.objects(NSUpdatedObjectsKey) == [updated])
        #expect(did.objects(NSDeletedObjectsKey) == [deleted])
        #expect(did.received.last?.userInfo?[NSInsertedObjectsKey] == nil)
    }

    @Test("of a save let an observer save again what it changed")
    func savingAgain() throws {
        let tag = tag("a")
        let did = Notifications(.NSManagedObjectContextDidSave, from: context) { notification in
            guard tag.label == "a", let context = notification.object as? NSManagedObjectContext else { return }
            tag.label = "b"
            try? context.save()
        }
        try context.save()
        #expect(did.received.count == 2)
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG") == "b")
    }
}
