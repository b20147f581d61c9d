import CoreData
import Foundation
import Testing

@Suite("Delete rules")
struct DeleteRuleTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func author(books: Int, _ name: String = "A") -> Author {
        let author = Author(context: context)
        author.name = name
        for number in 0..<books {
            let book = Book(context: context)
            book.title = "\(name)\(number)"
            book.author = author
            let chapter = Chapter(context: context)
            chapter.book = book
        }
        return author
    }

    @Test("cascade to the end, and nullify what is left, at the end of the event")
    func cascade() throws {
        let author = author(books: 2)
        let report = Person(context: context)
        report.boss = author
        let tag = Tag(context: context)
        tag.books = author.books
        try context.save()
        let books = author.books
        context.delete(author)
        #expect(author.isDeleted && context.deletedObjects == [author])
        context.processPendingChanges()
        #expect(context.deletedObjects.count == 5)
        #expect(books.allSatisfy { $0.isDeleted })
        #expect(report.boss == nil && report.isUpdated && tag.books.isEmpty)
        try context.save()
        #expect(
            try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK), (SELECT COUNT(*) FROM ZCHAPTER), (SELECT COUNT(*) FROM ZPERSON)")
                == "0|0|1"
        )
        #expect(author.managedObjectContext == nil && books.allSatisfy { $0.managedObjectContext == nil })
        #expect(context.registeredObject(for: author.objectID) == nil)
        #expect(!context.hasChanges)
    }

    @Test("end on a cycle of cascades, and delete each object once")
    func cycle() throws {
        let stage = try Stage {
            let node = LibraryModel.entity("Node", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(node, "next", toMany: false, .cascadeDeleteRule, node, "previous", toMany: false, .cascadeDeleteRule)
            return [node]
        }
        let nodes = (0..<50).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Node", into: stage.context) }
        for (index, node) in nodes.enumerated() { node["next"] = nodes[(index + 1) % 50] }
        try stage.context.save()
        stage.context.delete(nodes[7])
        try stage.context.save()
        #expect(try stage.sql("SELECT COUNT(*) FROM ZNODE") == "0")
    }

    @Test("deny a delete at the save with 1600, and allow it when the other end goes too")
    func deny() throws {
        let (desk, owner) = (Desk(context: context), Person(context: context))
        desk.owner = owner
        try context.save()
        context.delete(desk)
        #expect(errorCode { try context.save() } == NSValidationRelationshipDeniedDeleteError)
        #expect(desk.isDeleted && context.hasChanges)
        #expect(try library.sql("SELECT COUNT(*) FROM ZDESK") == "1")
        context.delete(owner)
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZDESK, ZPERSON") == "0")
    }

    @Test("allow a denied delete when the other end is an unsaved object that goes too", arguments: [true, false])
    func denyUnsaved(deskFirst: Bool) throws {
        let desk = Desk(context: context)
        try context.save()
        let owner = Person(context: context)
        desk.owner = owner
        if deskFirst { context.delete(desk) }
        context.delete(owner)
        if !deskFirst { context.delete(desk) }
        try context.save()
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZDESK) + (SELECT COUNT(*) FROM ZPERSON)") == "0")
    }

    /// Owners with pets, whose delete rule is `rule`.
    private func ownersAndPets(_ rule: NSDeleteRule) throws -> Stage {
        try Stage {
            let owner = LibraryModel.entity("Owner", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let pet = LibraryModel.entity("Pet", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(owner, "pets", toMany: true, rule, pet, "owner", toMany: false, .nullifyDeleteRule)
            return [owner, pet]
        }
    }

    @Test("leave no reference to an object that was never saved", arguments: [NSDeleteRule.noActionDeleteRule, .denyDeleteRule])
    func neverSaved(rule: NSDeleteRule) throws {
        let stage = try ownersAndPets(rule)
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: stage.context)
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: stage.context)
        pet["owner"] = owner
        stage.context.delete(owner)
        try stage.context.save()
        #expect(pet["owner"] == nil)
        #expect(try stage.sql("SELECT COUNT(*), MAX(ZOWNER) FROM ZPET") == "1|")
    }

    @Test("let go of what refers to a row that is gone", arguments: [true, false])
    func dangling(deletes: Bool) throws {
        let stage = try ownersAndPets(.noActionDeleteRule)
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: stage.context)
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: stage.context)
        pet["owner"] = owner
        try stage.context.save()
        stage.context.delete(owner)
        try stage.context.save()
        let other = try stage.separateContext()
        let theirs = try other.only(NSManagedObject.self, "Pet")
        if deletes { other.delete(theirs) } else { theirs["owner"] = nil }
        try other.save()
        #expect(try stage.sql("SELECT COUNT(ZOWNER) FROM ZPET") == "0" && !other.hasChanges)
    }

    // * A note leads to a person along a relationship that denies, and has no inverse.
    // * Others delete the person, and then the note.
    // => It goes: nobody is at the other end.
    @Test("deny nothing for the sake of a row that is gone")
    func denyDangling() throws {
        let stage = try Stage {
            let entities = ["Note", "Person"].map { LibraryModel.entity($0, NSManagedObject.self, []) }
            let about = NSRelationshipDescription()
            (about.name, about.maxCount, about.deleteRule, about.destinationEntity) = ("about", 1, .denyDeleteRule, entities[1])
            entities[0].properties = [about]
            return entities
        }
        let objects = ["Note", "Person"].map { NSEntityDescription.insertNewObject(forEntityName: $0, into: stage.context) }
        objects[0]["about"] = objects[1]
        try stage.context.save()
        let other = try stage.separateContext()
        func delete(_ entity: String) throws {
            other.delete(try other.only(NSManagedObject.self, entity))
            try other.save()
        }
        #expect(errorCode { try delete("Note") } == 1600)
        other.rollback()
        try delete("Person")
        try delete("Note")
        #expect(try stage.sql("SELECT COUNT(*) FROM ZNOTE") == "0")
    }

    @Test("leave the other end as it is with no action")
    func noAction() throws {
        let stage = try ownersAndPets(.noActionDeleteRule)
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: stage.context)
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: stage.context)
        pet["owner"] = owner
        try stage.context.save()
        stage.context.delete(owner)
        try stage.context.save()
        #expect(!pet.hasChanges)
        #expect(try stage.sql("SELECT ZOWNER IS NOT NULL FROM ZPET") == "1")
        // * The dangling reference is a fault whose row is gone.
        #expect(
            errorCode { _ = try stage.context.existingObject(with: (pet["owner"] as? NSManagedObject ?? pet).objectID) }
                == NSManagedObjectReferentialIntegrityError
        )
    }

    @Test("that nullify a mandatory inverse make the save fail with 1570, not the delete")
    func mandatoryInverse() throws {
        let stage = try Stage {
            let list = LibraryModel.entity("List", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let item = LibraryModel.entity("Item", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(list, "items", toMany: true, .nullifyDeleteRule, item, "list", toMany: false, .nullifyDeleteRule)
                .inverseRelationship?.isOptional = false
            return [list, item]
        }
        let list = NSEntityDescription.insertNewObject(forEntityName: "List", into: stage.context)
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: stage.context)
        item["list"] = list
        try stage.context.save()
        stage.context.delete(list)
        stage.context.processPendingChanges()
        #expect(item["list"] == nil)
        #expect(errorCode { try stage.context.save() } == NSValidationMissingMandatoryPropertyError)
        #expect(list.isDeleted && item.isUpdated)
        stage.context.delete(item)
        try stage.context.save()
        #expect(try stage.sql("SELECT (SELECT COUNT(*) FROM ZLIST) + (SELECT COUNT(*) FROM ZITEM)") == "0")
    }

    @Test("read a number of statements that does not grow with the objects", arguments: [10, 100])
    func statements(count: Int) throws {
        for number in 0..<count { _ = author(books: 3, "\(number) ") }
        try context.save()
        let other = library.newContext()
        let authors = try other.all(Author.self, "Author")
        let statements = library.statementsOf {
            for author in authors { other.delete(author) }
            other.processPendingChanges()
        }
        #expect(other.deletedObjects.count == 7 * count)
        #expect(statements.count <= 6)
        try other.save()
        #expect(
            try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK) + (SELECT COUNT(*) FROM ZCHAPTER) + (SELECT COUNT(*) FROM ZPERSON)") == "0"
        )
    }

    @Test("wait for the save where propagatesDeletesAtEndOfEvent is false")
    func propagationAtSave() throws {
        let author = author(books: 1)
        try context.save()
        context.propagatesDeletesAtEndOfEvent = false
        context.delete(author)
        context.processPendingChanges()
        #expect(context.deletedObjects == [author])
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK") == "0")
    }

    // * A delete has been carried along relationships. Then somebody is related to the deleted object, on either side.
    @Test("reach whoever is related to a deleted object afterwards: the file has no reference to it", arguments: [true, false])
    func relatedAfterwards(isSetAtMember: Bool) throws {
        let (boss, report, book, tag) = (author(books: 0), Person(context: context), Book(context: context), Tag(context: context))
        let tagged = Book(context: context)
        (book.title, tagged.title) = ("T", "tagged")
        try context.save()
        context.delete(boss)
        context.delete(tag)
        context.processPendingChanges()
        if isSetAtMember {
            (report.boss, book.author, tagged.tags) = (boss, boss, [tag])
        } else {
            boss.reports.insert(report)
            boss.books.insert(book)
            tag.books.insert(tagged)
        }
        try context.save()
        #expect(report.boss == nil && tagged.tags.isEmpty && book.managedObjectContext == nil)
        #expect(try library.sql("SELECT COUNT(*), COUNT(ZBOSS) FROM ZPERSON") == "1|0")
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK), (SELECT COUNT(*) FROM Z_1TAGS)") == "1|0")
    }

    @Test("reach both ends of a one-to-one relationship that is made with a deleted object")
    func oneToOneAfterwards() throws {
        let (person, desk) = (Person(context: context), Desk(context: context))
        try context.save()
        context.delete(person)
        context.processPendingChanges()
        desk.setValue(person, forKey: "owner")
        try context.save()
        #expect(try library.sql("SELECT COUNT(*), COUNT(ZOWNER) FROM ZDESK") == "1|0")
    }

    @Test("No Action: a reference that it leaves can be set to nil, or to another object", arguments: [true, false])
    func danglingReference(isReplaced: Bool) throws {
        let stage = try Stage {
            let owner = LibraryModel.entity("Owner", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let pet = LibraryModel.entity("Pet", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(owner, "pets", toMany: true, .noActionDeleteRule, pet, "owner", toMany: false, .nullifyDeleteRule)
            return [owner, pet]
        }
        func new(_ entity: String) -> NSManagedObject { NSEntityDescription.insertNewObject(forEntityName: entity, into: stage.context) }
        let (owner, pet) = (new("Owner"), new("Pet"))
        pet["owner"] = owner
        try stage.context.save()
        stage.context.delete(owner)
        try stage.context.save()
        #expect(try stage.sql("SELECT ZOWNER FROM ZPET") == "1")
        pet["owner"] = isReplaced ? new("Owner") : nil
        try stage.context.save()
        #expect(try stage.sql("SELECT ZOWNER FROM ZPET") == (isReplaced ? "2" : ""))
    }
}
