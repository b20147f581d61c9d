import CoreData
import Foundation
import Testing

/// The child has read nothing since it made the objects: what it measures changes against leads to them by temporary keys.
@Suite("Who is led away from a new object that was saved since, and back to it")
struct LedBackTests {
    private let layers: Layers
    private let book: Book
    private let other: Book
    private let chapters: [Chapter]

    init() throws {
        layers = try Layers(Library(.file))
        let worker = layers.worker
        book = layers.book("T", in: worker)
        other = layers.book("other", in: worker)
        for made in [book, other] { made.pages = 1 }
        chapters = "abcd".map { heading in
            let chapter = Chapter(context: worker)
            chapter.heading = String(heading)
            return chapter
        }
        book.chapters = chapters
        try layers.saveAll()
    }

    private func leadAwayAndBack() { for target in [other, book] { chapters[1].book = target } }

    private func headings(_ context: NSManagedObjectContext) throws -> String? {
        try context.one(Book.self, where: "title == 'T'")?.chapters.compactMap(\.heading).joined()
    }

    @Test("is as it was last saved")
    func unchanged() {
        leadAwayAndBack()
        #expect(!chapters[1].hasPersistentChangedValues && chapters[1].changedValues().isEmpty)
    }

    // * The order, in which he was at the end, is given up.
    // => He is where he was, in each context and in the file.
    @Test("is at its old place where the owner is refreshed without its changes")
    func refreshed() throws {
        leadAwayAndBack()
        layers.worker.refresh(book, mergeChanges: false)
        #expect(try headings(layers.worker) == "abcd")
        try layers.saveAll()
        for context in [layers.worker, layers.main, layers.root, try layers.library.separateContext()] {
            #expect(try headings(context) == "abcd", "\(context.name ?? "file")")
        }
    }

    // * A sibling leads the object elsewhere, and saves first.
    // => That counts: there is no other change of it.
    @Test("goes where a sibling has led it meanwhile")
    func sibling() throws {
        let sibling = layers.newWorker()
        sibling.own(chapters[1]).book = sibling.own(other)
        try sibling.save()
        leadAwayAndBack()
        chapters[1].heading = "b2"
        try layers.saveAll()
        #expect(layers.main.own(chapters[1]).book === layers.main.own(other))
        let owner = "SELECT ZTITLE FROM ZBOOK WHERE Z_PK = (SELECT ZBOOK FROM ZCHAPTER WHERE ZHEADING = 'b2')"
        #expect(try layers.library.sql(owner) == "other")
    }
}
