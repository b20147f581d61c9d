import CoreData
import Foundation
import Testing

@Suite("Deleting")
struct DeletingTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    @Test("an object that was never saved leaves nothing: no change, no statement, no link")
    func unsaved() throws {
        let author = Author(context: context)
        try context.save()
        let book = Book(context: context)
        book.author = author
        let tag = Tag(context: context)
        book.tags = [tag]
        context.delete(book)
        context.processPendingChanges()
        #expect(!context.insertedObjects.contains(book) && context.deletedObjects.isEmpty)
        #expect(author.books.isEmpty && tag.books.isEmpty)
        #expect(book.managedObjectContext == nil)
        try context.save()
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK), (SELECT COUNT(*) FROM ZTAG)") == "0|1")
    }

    @Test("leaves an object that can be asked for everything: it has what was last known, and what it is set to concerns nobody")
    func afterwards() throws {
        let (author, book, tag) = (Author(context: context), Book(context: context), Tag(context: context))
        (book.title, book.author, book.tags) = ("T", author, [tag])
        try context.save()
        let other = library.newContext()
        let read = other.own(book)
        #expect(read.title == "T")
        other.delete(read)
        try other.save()
        #expect(read.managedObjectContext == nil && read.title == "T" && read.tags.isEmpty && read.chapters.isEmpty)
        // => Its author is in nobody's use, so that it is not known; where it is, it is.
        #expect(read.author == nil && read.value(forKey: "author") == nil && read.primitiveValue(forKey: "author") == nil)
        let known = other.own(author)
        #expect(read.author === known && read.objectIDs(forRelationshipNamed: "author") == [known.objectID])
        read.author = nil
        read.title = "another"
        #expect(!known.hasChanges && !other.hasChanges)
        // * The same after a rollback, and of a context that is gone.
        let new = Book(context: other)
        (new.title, new.author) = ("new", known)
        other.rollback()
        #expect(new.title == "new" && new.author === known && new.tags.isEmpty)
        let orphan = library.newContext().own(tag)
        #expect(orphan.books.isEmpty && orphan.label == nil)
    }

    @Test("can be taken back before the save, of a saved and of an unsaved object")
    func takenBack() throws {
        let saved = Tag(context: context)
        saved.label = "saved"
        try context.save()
        let new = Tag(context: context)
        new.label = "new"
        context.delete(saved)
        context.delete(new)
        context.insert(saved)
        context.insert(new)
        #expect(!saved.isDeleted && !new.isDeleted && new.isInserted && !saved.isInserted)
        try context.save()
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG ORDER BY 1") == "new\nsaved")
    }

    @Test("can be taken back of an unsaved object that has its permanent ID")
    func takenBackWithPermanentID() throws {
        let tag = Tag(context: context)
        tag.label = "x"
        try context.obtainPermanentIDs(for: [tag])
        context.delete(tag)
        context.insert(tag)
        #expect(tag.isInserted)
        try context.save()
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG") == "x")
    }

    @Test("can be taken back after the event has ended")
    func takenBackLater() throws {
        let saved = Tag(context: context)
        saved.label = "saved"
        try context.save()
        let new = Tag(context: context)
        new.label = "new"
        context.delete(saved)
        context.delete(new)
        context.processPendingChanges()
        context.insert(saved)
        context.insert(new)
        try context.save()
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG ORDER BY 1") == "new\nsaved")
    }

    @Test("twice is the same as once, and a fetch does not find what is deleted")
    func twice() throws {
        let tag = Tag(context: context)
        try context.save()
        context.delete(tag)
        context.delete(tag)
        #expect(try context.all(Tag.self, "Tag").isEmpty)
        #expect(try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 0)
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "0")
    }

    @Test("of a row that another context has deleted already succeeds")
    func goneAlready() throws {
        let tag = Tag(context: context)
        try context.save()
        let other = library.newContext()
        let same = try other.only(Tag.self, "Tag")
        context.delete(tag)
        try context.save()
        other.delete(same)
        try other.save()
        #expect(same.managedObjectContext == nil)
    }

    @Test("of a changed object writes the delete only")
    func changed() throws {
        let tag = Tag(context: context)
        tag.label = "a"
        try context.save()
        tag.label = "b"
        context.delete(tag)
        #expect(context.updatedObjects.isEmpty && context.deletedObjects == [tag])
        let statements = try library.statements { try context.save() }
        #expect(!statements.contains { $0.hasPrefix("UPDATE ZTAG") })
    }

    @Test("an object that was never saved takes references without an inverse along")
    func oneWayReferences() throws {
        let stage = try Stage {
            let list = LibraryModel.entity("List", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let item = LibraryModel.entity("Item", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            for (name, count) in [("best", 1), ("all", 0)] {
                let relationship = NSRelationshipDescription()
                (relationship.name, relationship.maxCount, relationship.destinationEntity) = (name, count, item)
                list.properties.append(relationship)
            }
            return [list, item]
        }
        let context = stage.context
        func make(_ entity: String) -> NSManagedObject { NSEntityDescription.insertNewObject(forEntityName: entity, into: context) }
        let (list, item, kept) = (make("List"), make("Item"), make("Item"))
        list["best"] = item
        list["all"] = Set([item, kept])
        context.delete(item)
        try context.save()
        #expect(list["best"] == nil && list["all"] as? Set<NSManagedObject> == [kept])
        #expect(try stage.sql("SELECT ZBEST IS NULL FROM ZLIST") == "1")
    }
}
