import Foundation
import Testing

@testable import CoreData

@Suite("A save that fails")
struct FailedSaveTests {
    private func chapter(_ heading: String, _ context: NSManagedObjectContext) -> Chapter {
        let chapter = Chapter(context: context)
        chapter.heading = heading
        return chapter
    }

    private func book(_ title: String, _ count: Int, _ context: NSManagedObjectContext) -> Book {
        let book = Book(context: context)
        book.title = title
        book.chapters = (0..<count).map { chapter("\(title)\($0)", context) }
        return book
    }

    private func tag(_ label: String, _ context: NSManagedObjectContext) -> Tag {
        let tag = Tag(context: context)
        tag.label = label
        return tag
    }

    private func text(_ context: NSManagedObjectContext) throws -> [String] {
        try context.all(Book.self, sortedBy: "title").map { book in
            let tags = book.tags.compactMap(\.label).sorted()
            return "\(book.title ?? "") \(book.pages): \(book.chapters.compactMap(\.heading)), \(tags)"
        }
    }

    private func text(_ library: Library) throws -> [String] {
        let context = try library.separateContext()
        return try withExtendedLifetime(context) { try text(context) }
    }

    /// Two books, and tags whose labels must differ, as nobody but the store knows.
    private func books(_ layers: Layers) throws -> (Book, Book) {
        let root = layers.root
        let books = (book("A", 12, root), book("B", 4, root))
        books.0.tags = [tag("x", root), tag("y", root)]
        try root.save()
        _ = try layers.library.sql("CREATE UNIQUE INDEX more ON ZTAG (ZLABEL)")
        return books
    }

    /// Edits of every kind, of which the child has saved some into the root.
    private func edit(_ layers: Layers, _ a: Book, _ b: Book) throws {
        let (root, main) = (layers.root, layers.main)
        let (mainA, mainB) = (main.own(a), main.own(b))
        mainA.title = "A1"
        mainA.chapters.append(chapter("new of main", main))
        mainB.chapters[1].book = mainA
        mainB.chapters = mainB.chapters.reversed()
        book("C", 3, main).tags = [tag("c", main)]
        try main.save()
        a.chapters.insert(chapter("in the middle", root), at: 5)
        b.pages = 7
        book("D", 0, root).chapters = [a.chapters[0]]
        a.chapters.append(chapter("new of root", root))
        b.tags = a.tags
        root.delete(b.chapters[0])
    }

    @Test("has changed nothing of any object, in its context and below, and can be done again", arguments: StoreKind.allCases)
    func root(_ kind: StoreKind) throws {
        let layers = Layers(try Library(kind))
        let (a, b) = try books(layers)
        try edit(layers, a, b)
        let duplicate = tag("x", layers.root)
        layers.root.processPendingChanges()
        layers.main.processPendingChanges()
        let (before, below) = (Picture.lines(of: layers.root), Picture.lines(of: layers.main))
        for _ in 0..<2 {
            #expect(errorCode { try layers.root.save() } == 133021)
            #expect(Picture.lines(of: layers.root).difference(from: before).map(String.init(describing:)) == [])
            #expect(Picture.lines(of: layers.main).difference(from: below).map(String.init(describing:)) == [])
        }
        duplicate.label = "unique"
        try layers.root.save()
        #expect(try text(layers.library) == text(layers.root))
        #expect(try text(layers.root).count == 4)
    }

    @Test("of a child, has changed nothing of any object, in its context and above; new objects keep their temporary IDs")
    func child() throws {
        let layers = try Layers()
        let (_, b) = try books(layers)
        let (main, worker) = (layers.main, layers.worker)
        let dropped = tag("dropped", main)
        let seen = try #require(try worker.all(Tag.self, where: "label == 'dropped'").first)
        seen.label = "edited"
        main.delete(dropped)
        main.processPendingChanges()
        let new = book("E", 3, worker)
        let known = worker.own(b)
        known.title = "B by worker"
        known.chapters.append(chapter("late", worker))
        worker.processPendingChanges()
        let (before, above) = (Picture.lines(of: worker), Picture.lines(of: main))
        #expect(errorCode { try worker.save() } == 133020)
        #expect(Picture.lines(of: worker).difference(from: before).map(String.init(describing:)) == [])
        #expect(Picture.lines(of: main).difference(from: above).map(String.init(describing:)) == [])
        #expect(new.objectID.isTemporaryID)
        worker.delete(seen)
        try layers.saveAll()
        #expect(try text(layers.library) == text(layers.root))
        #expect(!new.objectID.isTemporaryID)
    }
}
