import Foundation
import Testing

@testable import CoreData

/// Two contexts that change the same books at random, and controllers in each form over the first.
private final class RandomChanges {
    let library: Library
    let (context, other): (NSManagedObjectContext, NSManagedObjectContext)
    private var random: SeededRandom
    // What a rollback brings back is as it was when it was read: where others have changed it since, no fetch finds it like that.
    private let rollsBack: Bool
    let request = NSFetchRequest<Book>(entityName: "Book")
    let (calls, differences, snapshots) = (CallMirror(), DifferenceMirror(), SnapshotMirror())
    private(set) var controllers: [NSFetchedResultsController<Book>] = []
    private(set) var steps: [String] = []
    private var token: (any NSObjectProtocol)?

    init(seed: Int) throws {
        library = try Library(.memory)
        (context, other) = (library.context, library.newContext())
        random = SeededRandom(seed: UInt64(seed))
        rollsBack = seed % 4 == 0
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        for age in 0..<3 { Author(context: context).age = Int16(age) }
        for _ in 0..<20 { try insert(in: context) }
        try context.save()
        request.predicate = NSPredicate(format: "copies > 0 AND (author == nil OR author.age < 5)")
        request.sortDescriptors = [
            NSSortDescriptor(key: "pages", ascending: seed % 3 == 0), NSSortDescriptor(key: "author.age", ascending: true),
            NSSortDescriptor(key: "title", ascending: true),
        ]
        let sections = seed % 2 == 0 ? "pages" : nil
        controllers = [
            controller(sections, calls), controller(nil, differences), controller(sections, snapshots),
        ]
        for controller in controllers { try controller.performFetch() }
        calls.start(controllers[0])
        differences.start(controllers[1])
        let context = context
        token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: other, queue: nil) {
            context.mergeChanges(fromContextDidSave: $0)
        }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }

    private func controller(_ sections: String?, _ delegate: any NSFetchedResultsControllerDelegate) -> NSFetchedResultsController<Book> {
        let controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: sections,
            cacheName: nil
        )
        controller.delegate = delegate
        return controller
    }

    private func insert(in context: NSManagedObjectContext) throws {
        let book = Book(context: context)
        book.title = "b\(random.next(1_000_000_000))"
        (book.pages, book.copies) = (Int32(random.next(6)), Int64(random.next(4)))
        if random.next(2) == 0 { book.author = pick(try context.all(Author.self, "Author", by: "self")) }
    }

    private func pick<Element>(_ list: [Element]) -> Element? { list.isEmpty ? nil : list[random.next(list.count)] }

    private func change() throws {
        let context = random.next(3) == 0 && !rollsBack ? other : context
        let book = pick(try context.all(Book.self, "Book", by: "title"))
        switch random.next(7) {
        case 0: try insert(in: context)
        case 1: if let book { context.delete(book) }
        case 2: book?.pages = Int32(random.next(6))
        case 3: book?.copies = Int64(random.next(4))
        case 4: book?.title = "t\(random.next(1_000_000_000))"
        case 5: pick(try context.all(Author.self, "Author", by: "self"))?.age = Int16(random.next(7))
        default: book?.author = pick(try context.all(Author.self, "Author", by: "self"))
        }
    }

    /// A few changes, then an end of an event of some kind.
    func step() throws {
        for _ in 0...random.next(5) { try change() }
        let end = random.next(6)
        steps.append("\(end)")
        switch end {
        case 0: try context.save()
        case 1: try other.save()
        case 2 where rollsBack: context.rollback()
        case 3: context.refreshAllObjects()
        default: context.processPendingChanges()
        }
        context.processPendingChanges()
        other.reset()
    }
}

private struct SeededRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}

@Suite("Lists that are kept by what a controller tells")
struct ResultsPropertyTests {
    @Test("equal a fresh fetch after each save, merge, rollback and refresh", arguments: 1...12)
    func equalFreshFetches(seed: Int) throws {
        let changes = try RandomChanges(seed: seed)
        for step in 0..<40 {
            try changes.step()
            let fresh = try changes.context.fetch(changes.request)
            let controller = changes.controllers[0]
            try #require(controller.fetchedObjects?.map(\.title) == fresh.map(\.title), "seed \(seed), step \(step): \(changes.steps)")
            try #require(changes.calls.text == controller.titles, "seed \(seed), step \(step): \(changes.calls.calls)")
            try #require(changes.differences.ids == fresh.map(\.objectID), "seed \(seed), step \(step)")
            try #require(changes.snapshots.sections == changes.controllers[2].sectionIDs, "seed \(seed), step \(step)")
            _ = changes.calls.takeCalls()
        }
    }
}
