import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Contexts that know of each other, and what they know of the store.
extension ContractTests {
    @Test("finds conflicts between contexts", arguments: ContractKind.allCases)
    func conflicts(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let coordinator = try home.coordinator()
        let (first, second) = (home.context(on: coordinator), home.context(on: coordinator))
        let book = Book(context: first)
        book.title = "old"
        try first.save()
        let same = try #require(try second.all(Book.self).first)
        #expect(same.title == "old")
        book.title = "first"
        same.title = "second"
        try first.save()
        let error = #expect(throws: CocoaError.self) { try second.save() }
        #expect(error?.code == .managedObjectMerge)
        second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try second.save()

        let other = try home.reopened(first)
        #expect(try other.all(Book.self).map(\.title) == ["second"])
    }

    // * A context has read the chapters of a book. Another one, which has only this to do, adds one or puts them in another order.
    // => The first is in conflict, whether it deletes the book or orders its chapters; where its changes win, its chapters go with it.
    @Test("finds conflicts over members", arguments: ContractKind.allCases, [true, false])
    func memberConflicts(_ kind: ContractKind, adds: Bool) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let (book, chapters) = (Book(context: context), (0..<2).map { _ in Chapter(context: context) })
        (book.title, book.chapters) = ("T", chapters)
        try context.save()
        try changeMembers(of: book, adds: adds, in: home.context(on: try #require(context.persistentStoreCoordinator)))
        book.chapters.reverse()
        #expect(conflict(in: context))
        context.rollback()
        context.refresh(book, mergeChanges: false)
        #expect(book.chapters.count == (adds ? 3 : 2))

        try changeMembers(of: book, adds: adds, in: home.context(on: try #require(context.persistentStoreCoordinator)))
        context.delete(book)
        #expect(conflict(in: context))
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(try home.reopened(context).all(Chapter.self).isEmpty)
    }

    private func conflict(in context: NSManagedObjectContext) -> Bool {
        #expect(throws: CocoaError.self) { try context.save() }?.code == .managedObjectMerge
    }

    private func changeMembers(of book: Book, adds: Bool, in context: NSManagedObjectContext) throws {
        let same = try #require(context.existingObject(with: book.objectID) as? Book)
        if adds { Chapter(context: context).book = same } else { same.chapters.reverse() }
        try context.save()
    }

    @Test("merges what other contexts save", arguments: ContractKind.allCases)
    func merging(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let coordinator = try home.coordinator()
        let (first, second) = (home.context(on: coordinator), home.context(on: coordinator))
        let book = Book(context: first)
        book.title = "old"
        try first.save()
        let same = try #require(try second.all(Book.self).first)
        #expect(same.title == "old")
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: first, queue: nil) { note in
            second.mergeChanges(fromContextDidSave: note)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        book.title = "new"
        let author = Author(context: first)
        (author.name, book.author) = ("A", author)
        try first.save()

        #expect(same.title == "new" && same.author?.name == "A")
    }

    @Test("fills faults, and says which objects are gone", arguments: ContractKind.allCases)
    func faults(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let coordinator = try home.coordinator()
        let context = home.context(on: coordinator)
        let book = Book(context: context)
        book.title = "T"
        try context.save()
        context.refresh(book, mergeChanges: false)
        #expect(book.isFault && book.title == "T" && !book.isFault)
        let other = home.context(on: coordinator)
        let same = other.object(with: book.objectID)
        #expect((same as? Book)?.title == "T")
        let id = book.objectID
        context.delete(book)
        try context.save()
        let error = #expect(throws: CocoaError.self) { try home.context(on: coordinator).existingObject(with: id) }
        #expect(error?.code == .managedObjectReferentialIntegrity)
    }

    @Test("gives IDs that outlast it, and before a save where they are asked for", arguments: ContractKind.allCases)
    func identity(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let (book, early) = (Book(context: context), Book(context: context))
        (book.title, early.title) = ("late", "early")
        try context.obtainPermanentIDs(for: [early])
        let uri = early.objectID.uriRepresentation()
        #expect(!early.objectID.isTemporaryID && book.objectID.isTemporaryID)
        try context.save()
        #expect(!book.objectID.isTemporaryID && early.objectID.uriRepresentation() == uri && book.objectID != early.objectID)
        let late = book.objectID.uriRepresentation()

        let other = try home.reopened(context)
        let coordinator = try #require(other.persistentStoreCoordinator)
        let ids = try [uri, late].map { try #require(coordinator.managedObjectID(forURIRepresentation: $0)) }
        #expect(try ids.map { try (other.existingObject(with: $0) as? Book)?.title } == ["early", "late"])
        #expect(ids.map { $0.uriRepresentation() } == [uri, late])
        #expect(ids[0] == early.objectID && ids[1] == book.objectID)
    }

    @Test("takes what children save", arguments: ContractKind.allCases)
    func children(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let parent = try home.open()
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = parent
        let author = Author(context: child)
        author.name = "A"
        let book = Book(context: child)
        (book.title, book.author) = ("B", author)
        try child.save()
        #expect(try parent.all(Book.self).map(\.title) == ["B"])
        try parent.save()
        book.title = "C"
        try child.save()
        try parent.save()
        let other = try home.reopened(parent)
        #expect(try other.all(Author.self).map { $0.books.map(\.title) } == [["C"]])
    }
}
