import Foundation
import Testing

@testable import CoreData

/// Counts how often it is hashed.
private final class Item: NSObject {
    nonisolated(unsafe) static var hashCount = 0
    override var hash: Int {
        Self.hashCount += 1
        return ObjectIdentifier(self).hashValue
    }
}

@Suite("Lists that are asked for each of their elements")
struct AskedElementsTests {
    private let library: Library
    private let controller: NSFetchedResultsController<Book>
    private let mirror = CallMirror()

    init() throws {
        library = try Library(.memory)
        try library.save(["a": 1, "b": 1, "c": 2])
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = ["pages", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
        controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: library.context,
            sectionNameKeyPath: "pages",
            cacheName: nil
        )
        controller.delegate = mirror
        try controller.performFetch()
        mirror.start(controller)
    }

    private func section() throws -> any NSFetchedResultsSectionInfo { try #require(controller.sections?.first) }

    @Test("make their sections once after a change, and one that is kept shows what is in it by now")
    func sections() throws {
        let kept = try section()
        #expect(try section() as AnyObject === kept as AnyObject)
        #expect(kept.objects?.count == 2 && kept.numberOfObjects == 2)
        let book = Book(context: library.context)
        (book.title, book.pages) = ("aa", 1)
        library.context.processPendingChanges()
        let now = try section()
        #expect(now as AnyObject !== kept as AnyObject)
        #expect(now.numberOfObjects == 3 && kept.numberOfObjects == 2)
        #expect(kept.objects?.compactMap { ($0 as? Book)?.title } == ["a", "aa", "b"])
    }

    @Test("find each item of a snapshot without looking at the others, however it was made")
    func snapshot() {
        let snapshot = NSDiffableDataSourceSnapshotReference()
        let items = (0..<1000).map { _ in Item() }
        for section in 0..<10 {
            snapshot.appendSections(withIdentifiers: ["\(section)"])
            for item in items[section * 100..<(section + 1) * 100] {
                snapshot.appendItems(withIdentifiers: [item], intoSectionWithIdentifier: "\(section)")
            }
        }
        for (index, item) in items.enumerated() {
            #expect(snapshot.index(ofItemIdentifier: item) == index)
            #expect(snapshot.sectionIdentifier(forSectionContainingItemIdentifier: item) as? String == "\(index / 100)")
        }
        #expect(Item.hashCount < 20 * items.count)
        snapshot.deleteItems(withIdentifiers: [items[0], items[150]])
        #expect(snapshot.numberOfItems == 998 && snapshot.numberOfItems(inSection: "1") == 99)
        #expect(snapshot.index(ofItemIdentifier: items[150]) == NSNotFound && snapshot.index(ofItemIdentifier: items[151]) == 149)
        #expect(snapshot.index(ofSectionIdentifier: "9") == 9 && snapshot.itemIdentifiers.count == 998)
    }
}
