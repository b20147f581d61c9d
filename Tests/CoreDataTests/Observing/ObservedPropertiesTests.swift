import Foundation
import Observation
import Synchronization
import Testing

@testable import CoreData

@Suite("Observed properties")
struct ObservedPropertiesTests {
    private let library: Library
    private let context: NSManagedObjectContext
    private let book: Book

    init() throws {
        library = try Library(.memory)
        context = library.context
        book = try library.savedBook("A")
    }

    /// Whether who has read something is told while `change` is made, and once the event ends.
    private func isTold(of reading: (ObservedProperties<Book>) -> Void, by change: () throws -> Void) rethrows -> Bool {
        let told = Told()
        withObservationTracking {
            reading(book.observed)
        } onChange: {
            told.count.add(1, ordering: .relaxed)
        }
        try change()
        context.processPendingChanges()
        return told.count.load(ordering: .relaxed) == 1
    }

    private final class Told: Sendable {
        let count = Atomic(0)
    }

    @Test("are told of when they change, by whichever way, and not of others")
    func setters() throws {
        #expect(isTold(of: { _ = $0.title }, by: { book.title = "B" }))
        #expect(isTold(of: { _ = $0.title }, by: { book.setValue("C", forKey: "title") }))
        #expect(!isTold(of: { _ = $0.title }, by: { book.pages = 7 }))
        #expect(isTold(of: { _ = ($0.title, $0.pages) }, by: { book.pages = 8 }))
        let author = Author(context: context)
        #expect(isTold(of: { _ = $0.author }, by: { author.books.insert(book) }))
        #expect(isTold(of: { _ = $0.tags }, by: { book.add(Tag(context: context), to: Book.Keys.tags) }))
        #expect(!isTold(of: { _ = $0.tags }, by: { book.title = "D" }))
        // Nobody knows what this reads.
        #expect(isTold(of: { _ = $0.debugDescription }, by: { book.title = "E" }))
    }

    @Test("are told of when a save, a rollback, a refresh, a merge, a delete or a reset gives them other values")
    func wholesale() throws {
        #expect(try !isTold(of: { _ = $0.title }, by: { try context.save() }))
        book.title = "B"
        context.processPendingChanges()
        #expect(isTold(of: { _ = $0.title }, by: { context.rollback() }))
        #expect(isTold(of: { _ = $0.title }, by: { context.refresh(book, mergeChanges: false) }))
        #expect(
            try isTold(
                of: { _ = $0.title },
                by: {
                    let other = library.newContext()
                    (try other.existingObject(with: book.objectID) as? Book)?.title = "M"
                    let saved = SavedNotification()
                    try saved.during(other) { try other.save() }
                    context.mergeChanges(fromContextDidSave: try #require(saved.latest))
                }
            )
        )
        #expect(book.title == "M")
        #expect(isTold(of: { _ = $0.isDeleted }, by: { context.delete(book) }))
        #expect(isTold(of: { _ = $0.title }, by: { context.reset() }))
    }

    @Test("cost nothing once nobody observes: the context has nobody to tell")
    func nobody() {
        #expect(isTold(of: { _ = $0.title }, by: { book.title = "B" }))
        #expect(context.watchers.first(ContextObservers.self) != nil)
        book.extras.observation = nil
        #expect(context.watchers.first(ContextObservers.self) == nil)
    }

    @Test("of an object that is observed before it is inserted are told of as well")
    func inserted() throws {
        let new = Book(entity: book.entity, insertInto: nil)
        #expect(new.observed.title == nil)
        context.insert(new)
        let told = Told()
        withObservationTracking {
            _ = new.observed.title
        } onChange: {
            told.count.add(1, ordering: .relaxed)
        }
        new.title = "N"
        context.processPendingChanges()
        #expect(told.count.load(ordering: .relaxed) == 1)
    }

    @Test("are a sequence of values on the main actor") @MainActor
    func sequence() async throws {
        let main = library.newContext(.mainQueueConcurrencyType)
        let shown = try #require(try main.existingObject(with: book.objectID) as? Book)
        var titles = Observations { shown.observed.title }.makeAsyncIterator()
        #expect(await titles.next() == "A")
        shown.title = "B"
        #expect(await titles.next() == "B")
        main.rollback()
        #expect(await titles.next() == "A")
    }
}
