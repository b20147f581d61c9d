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

    // * It is not used for so long that the rows are not listed any more.
    @Test("of more than anybody would list, all its objects come up to date")
    func everything() throws {
        let (mine, theirs) = try savedBook()
        child.automaticallyMergesChangesFromParent = true
        #expect(theirs.pages == 1)
        mine.pages = 2
        try library.context.save()
        for _ in 0...10_000 { _ = Person(context: library.context) }
        try library.context.save()
        child.processPendingChanges()
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
