import Foundation
import Testing

@testable import CoreData

@Suite("What is not in the store is in no layer either", .timeLimit(.minutes(20)))
@MainActor struct GhostTests {
    /// How the lowest layer relates something to an object that is gone, and whether a layer shows it.
    private struct Relation {
        let gone: NSManagedObject
        let make: () -> Void
        let isMade: () -> Bool
    }

    // * Three layers; the topmost lets the store win. The middle one deletes something, and saves it into the store; the lowest one, which has not
    //   heard of it, relates something to it.
    @Test("after one relates something to what another has deleted", arguments: ["books", "tags", "boss", "desk"])
    func related(toDeleted name: String) async throws {
        let layers = try QueuedLayers()
        let (book, tag, author, person, boss, desk) = (
            Book(context: layers.root), Tag(context: layers.root), Author(context: layers.root), Person(context: layers.root),
            Person(context: layers.root), Desk(context: layers.root)
        )
        book.title = "b"
        try layers.root.save()
        func relation(in context: NSManagedObjectContext) -> Relation {
            let (book, tag, author) = (context.own(book), context.own(tag), context.own(author))
            let (person, boss, desk) = (context.own(person), context.own(boss), context.own(desk))
            _ = (book.author, author.books, book.tags, tag.books, person.boss, boss.reports, person.desk, desk.owner)
            return switch name {
            case "books":
                Relation(gone: book) {
                    author.books.insert(book)
                } isMade: {
                    !author.books.isEmpty
                }
            case "tags":
                Relation(gone: book) {
                    tag.books.insert(book)
                } isMade: {
                    !tag.books.isEmpty
                }
            case "desk":
                Relation(gone: desk) {
                    person.desk = desk
                } isMade: {
                    person.desk != nil
                }
            default:
                Relation(gone: boss) {
                    person.boss = boss
                } isMade: {
                    person.boss != nil
                }
            }
        }
        let (above, below) = (relation(in: layers.middle), relation(in: layers.lowest))
        layers.middle.delete(above.gone)
        try layers.middle.save()
        try layers.root.save()
        below.make()
        try await layers.saveAll()
        #expect(!above.isMade())
        #expect(!below.isMade())
        for layer in layers.all { #expect(!layer.hasChanges) }
        let counts = "SELECT COUNT(*) FROM Z_1TAGS; SELECT COUNT(ZAUTHOR) FROM ZBOOK; SELECT COUNT(ZBOSS) + COUNT(ZDESK) FROM ZPERSON"
        #expect(try layers.library.sql(counts) == "0\n0\n0")
    }

    // * Somebody else deletes an object; the two upper layers hear of it, and the middle one saves that into the topmost. The lowest, which has
    //   changed the object before, saves.
    @Test("after one saves a change of what others have deleted, and the layers above know it")
    func changed() throws {
        let layers = try Layers()
        let (root, main, worker) = (layers.root, layers.main, layers.worker)
        let book = layers.book("first", in: root)
        try root.save()
        let ours = worker.own(book)
        ours.title = "second"
        let other = try Library.context(on: #require(root.persistentStoreCoordinator))
        other.delete(other.own(book))
        let saves = Notifications(.NSManagedObjectContextDidSave, from: other)
        try other.save()
        let note = try #require(saves.received.last)
        for context in [root, main] { context.mergeChanges(fromContextDidSave: note) }
        try main.save()
        #expect(main.registeredObject(for: book.objectID) == nil)
        try layers.saveAll()
        for context in [main, worker] {
            #expect(try context.all(Book.self).isEmpty)
            #expect(context.registeredObject(for: book.objectID)?.isDeleted ?? true)
        }
        try layers.saveAll()
        for context in [root, main, worker] { #expect(!context.hasChanges && context.registeredObject(for: book.objectID) == nil) }
        #expect(try layers.library.sql("SELECT COUNT(*) FROM ZBOOK") == "0")
        withExtendedLifetime(ours) {}
    }

    // * As before, and what refers to it goes with it.
    @Test("after a delete rule of what another has deleted takes along what one relates to it")
    func cascaded() async throws {
        let layers = try QueuedLayers()
        let (book, author) = (Book(context: layers.root), Author(context: layers.root))
        book.title = "b"
        try layers.root.save()
        let (aboveBook, aboveAuthor) = (layers.middle.own(book), layers.middle.own(author))
        let (belowBook, belowAuthor) = (layers.lowest.own(book), layers.lowest.own(author))
        _ = (aboveBook.author, belowBook.author, belowAuthor.books)
        layers.middle.delete(aboveAuthor)
        try layers.middle.save()
        try layers.root.save()
        belowBook.author = belowAuthor
        try await layers.saveAll()
        try await layers.saveAll()
        #expect(try layers.library.sql("SELECT COUNT(*) FROM ZBOOK") == "0")
        for context in layers.all {
            #expect(try context.all(Book.self).isEmpty && !context.hasChanges)
        }
        #expect(aboveBook.managedObjectContext == nil && belowBook.managedObjectContext == nil)
    }

    // * Two siblings have read what the middle layer has inserted. One changes a property and saves up to the file; then the other changes another.
    // => Both survive, in all layers.
    @Test("after siblings change different properties of what the middle layer has inserted", arguments: ["inserted", "fetched"])
    func siblings(_ origin: String) async throws {
        let layers = try QueuedLayers()
        let other = Layers.child(of: layers.middle, "other", .mainQueueConcurrencyType)
        let book = Book(context: origin == "inserted" ? layers.middle : layers.root)
        (book.title, book.pages) = ("t", 1)
        try await layers.saveAll()
        let held = layers.middle.own(book)
        let (first, second) = (layers.lowest.own(book), other.own(book))
        #expect(held.pages == 1 && first.pages == 1 && second.pages == 1)
        first.pages = 5
        try await layers.saveAll()
        second.title = "new"
        try other.save()
        #expect(held.pages == 5 && held.title == "new")
        try await layers.saveAll()
        held.pages += 1
        try await layers.saveAll()
        #expect(try layers.library.sql("SELECT ZPAGES || ZTITLE FROM ZBOOK") == "6new")
    }

    // * Two siblings have read a book. One gives it to an author, which comes up to the topmost layer, and not into the file; then the other gives it
    //   to another author.
    // => The middle layer shows it with the second one only.
    @Test("after siblings lead an object to two owners, while the first is on its way to the file")
    func twoOwners() async throws {
        let layers = try QueuedLayers()
        let other = Layers.child(of: layers.middle, "other", .mainQueueConcurrencyType)
        let (book, one, two) = (Book(context: layers.root), Author(context: layers.root), Author(context: layers.root))
        book.title = "b"
        try layers.root.save()
        let (first, second) = (layers.lowest.own(book), other.own(book))
        let (firstAuthor, secondAuthor) = (layers.middle.own(one), layers.middle.own(two))
        #expect(first.author == nil && second.author == nil && firstAuthor.books.isEmpty && secondAuthor.books.isEmpty)
        first.author = layers.lowest.own(one)
        try layers.lowest.save()
        try layers.middle.save()
        second.author = other.own(two)
        try other.save()
        #expect(firstAuthor.books.isEmpty && secondAuthor.books == [layers.middle.own(book)])
        try await layers.saveAll()
        #expect(try layers.library.sql("SELECT ZAUTHOR FROM ZBOOK") == "\(two.key)")
    }

    // * The lowest layer has read a tag that no book had. Somebody else gives it to a book, which the middle layer shows; then the lowest deletes the tag.
    @Test("after one deletes what others have put into a many-to-many relationship that it has read before", arguments: [false, true])
    func unreadPartner(rollsBack: Bool) async throws {
        let layers = try QueuedLayers()
        let (book, tag) = (Book(context: layers.root), Tag(context: layers.root))
        book.title = "b"
        try layers.root.save()
        let below = layers.lowest.own(tag)
        #expect(below.books.isEmpty)
        book.tags = [tag]
        try layers.root.save()
        let shown = layers.middle.own(book)
        #expect(shown.tags == [layers.middle.own(tag)])
        layers.lowest.delete(below)
        try layers.lowest.save()
        #expect(shown.tags.isEmpty)
        if rollsBack {
            layers.middle.rollback()
            #expect(shown.tags == [layers.middle.own(tag)])
            return
        }
        try await layers.saveAll()
        #expect(shown.tags.isEmpty && !layers.middle.hasChanges)
        #expect(try layers.library.sql("SELECT COUNT(*) FROM Z_1TAGS; SELECT COUNT(*) FROM ZTAG") == "0\n0")
    }

    // * A child has read a person with a desk. Others change the person and save; then the child deletes it.
    @Test("but what others have changed is deleted by no child that has not seen that")
    func deletedByChild() throws {
        let library = try Library()
        let (person, desk) = (Person(context: library.context), Desk(context: library.context))
        person.desk = desk
        try library.context.save()
        let parent = library.newContext()
        let child = Layers.child(of: parent, "child", .confinementConcurrencyType)
        let theirs = child.own(person)
        #expect(theirs.desk === child.own(desk))
        parent.reset()
        person.name = "changed"
        try library.context.save()
        child.delete(theirs)
        try child.save()
        #expect(errorCode { try parent.save() } == NSManagedObjectMergeError)
        #expect(try library.sql("SELECT ZNAME FROM ZPERSON") == "changed")
    }
}

/// Three layers on a library, the lower two of which have queues, so that they hear of what happens above.
@MainActor private struct QueuedLayers {
    let library: Library
    let root: NSManagedObjectContext
    let middle: NSManagedObjectContext
    let lowest: NSManagedObjectContext

    init() throws {
        library = try Library()
        root = library.context
        root.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        middle = Layers.child(of: root, "middle", .mainQueueConcurrencyType)
        lowest = Layers.child(of: middle, "lowest", .mainQueueConcurrencyType)
    }

    var all: [NSManagedObjectContext] { [lowest, middle, root] }

    /// Saves from the lowest layer to the file, until all have heard of all.
    func saveAll() async throws {
        for layer in all { try layer.save() }
        for layer in [middle, lowest, middle, lowest] { await layer.perform(schedule: .enqueued) {} }
    }
}
