import Foundation
import Testing

@testable import CoreData

@Suite("A confinement context, which nobody but its program may use, hears of others' saves when it is used next:")
struct ConfinedNewsTests {
    let library: Library
    let child: NSManagedObjectContext

    init() throws {
        library = try Library()
        child = Layers.child(of: library.context, "child")
    }

    private func savedBook() throws -> (mine: Book, theirs: Book) {
        let book = Book(context: library.context)
        (book.title, book.pages) = ("book", 1)
        try library.context.save()
        return (book, child.own(book))
    }

    /// What uses a context.
    enum Use: CaseIterable {
        case processing, fetch, count, save, waiting

        func run(_ context: NSManagedObjectContext) throws {
            switch self {
            case .processing: context.processPendingChanges()
            case .fetch: _ = try context.fetch(NSFetchRequest<Tag>(entityName: "Tag"))
            case .count: _ = try context.count(for: NSFetchRequest<Tag>(entityName: "Tag"))
            case .save: try context.save()
            case .waiting: context.performAndWait {}
            }
        }
    }

    @Test("before that its objects stay as they are, however long it takes", arguments: Use.allCases)
    func later(_ use: Use) async throws {
        let (mine, theirs) = try savedBook()
        child.automaticallyMergesChangesFromParent = true
        #expect(theirs.pages == 1)
        mine.pages = 2
        try library.context.save()
        // What were on its way on some queue would be there by then.
        await library.newContext(.privateQueueConcurrencyType).perform(schedule: .enqueued) {}
        #expect(theirs.pages == 1)
        try use.run(child)
        #expect(theirs.pages == 2)
    }

    @Test("what a policy has changed, in the thread that uses it")
    func corrections() throws {
        library.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let (mine, theirs) = try savedBook()
        #expect(mine.pages == 1 && theirs.pages == 1)
        let far = try library.separateContext()
        far.own(mine).pages = 5
        try far.save()
        theirs.pages = 9
        try child.save()
        try library.context.save()
        #expect(mine.pages == 5 && theirs.pages == 9)
        child.processPendingChanges()
        #expect(theirs.pages == 5)
    }

    @Test("of what was deleted and brought back meanwhile, as of a change")
    func broughtBack() throws {
        let mine = try savedBook().mine
        let (other, follower) = (library.newContext(), library.newContext())
        let (back, theirs) = (other.own(mine), follower.own(mine))
        follower.automaticallyMergesChangesFromParent = true
        #expect(theirs.pages == 1 && back.pages == 1)
        library.context.delete(mine)
        try library.context.save()
        other.mergePolicy = NSMergePolicy.overwrite
        back.pages = 3
        try other.save()
        #expect(try follower.all(Book.self).map(\.pages) == [3])
        #expect(theirs.pages == 3 && !theirs.isDeleted)
    }

    // * It is not used while others save many rows, one of them again and again.
    @Test("of each row once, and of deletes and insertions among many")
    func many() throws {
        let (mine, theirs) = try savedBook()
        let doomed = Book(context: library.context)
        doomed.title = "doomed"
        try library.context.save()
        let gone = child.own(doomed)
        child.automaticallyMergesChangesFromParent = true
        #expect(theirs.pages == 1 && gone.title == "doomed")
        for number in 2...20 {
            mine.pages = Int32(number)
            try library.context.save()
        }
        library.context.delete(doomed)
        for _ in 0..<500 { _ = Person(context: library.context) }
        try library.context.save()
        let notes = Notifications(.NSManagedObjectContextObjectsDidChange, from: child)
        child.processPendingChanges()
        #expect(theirs.pages == 20 && gone.isDeleted)
        #expect(notes.objects(NSInsertedObjectsKey).count == 500)
        #expect(notes.objects(NSDeletedObjectsKey) == [gone])
        #expect(notes.objects(NSRefreshedObjectsKey) == [theirs])
    }

    @Test("together with those above it, though only it is used")
    func above() throws {
        let (mine, _) = try savedBook()
        let lowest = Layers.child(of: child, "lowest")
        let theirs = lowest.own(mine)
        (child.automaticallyMergesChangesFromParent, lowest.automaticallyMergesChangesFromParent) = (true, true)
        #expect(theirs.pages == 1)
        mine.pages = 2
        try library.context.save()
        lowest.processPendingChanges()
        #expect(theirs.pages == 2)
    }

    @Test("it goes away with what it has not heard of")
    func release() throws {
        let mine = try savedBook().mine
        weak var released: NSManagedObjectContext?
        try autoreleasepool {
            let follower = Layers.child(of: library.context, "follower")
            released = follower
            follower.automaticallyMergesChangesFromParent = true
            let theirs = follower.own(mine)
            #expect(theirs.pages == 1)
            mine.pages = 2
            try library.context.save()
        }
        #expect(released == nil)
    }
}
