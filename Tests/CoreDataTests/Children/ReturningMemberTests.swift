import CoreData
import Foundation
import Testing

/// How a child takes members out of a list of three, and puts them in again.
private enum Returning: CaseIterable {
    case atItsPlace, first, atTheEnd, twoAtTheEnd, allAtOnce, before(new: Bool)

    static let allCases: [Returning] = [
        .atItsPlace, .first, .atTheEnd, .twoAtTheEnd, .allAtOnce, .before(new: true), .before(new: false),
    ]

    /// - Returns: the order that follows.
    func run(_ book: Book, _ chapters: [Chapter], _ context: NSManagedObjectContext) -> String {
        let other = Book(context: context)
        (other.title, other.pages) = ("other", 1)
        switch self {
        case .atItsPlace: return insert(chapters[1], at: 1, book, other)
        case .first: return insert(chapters[0], at: 0, book, other)
        case .atTheEnd:
            move([chapters[0]], to: book, over: other)
            return "bca"
        case .twoAtTheEnd:
            move([chapters[1], chapters[0]], to: book, over: other)
            return "cba"
        case .allAtOnce:
            book.chapters = []
            book.chapters = chapters
            return "abc"
        case .before(let isNew):
            move([chapters[0]], to: book, over: other)
            let last = isNew ? Chapter(context: context) : chapters[1]
            if isNew { last.heading = "d" } else { last.book = other }
            last.book = book
            return isNew ? "bcad" : "cab"
        }
    }

    private func insert(_ chapter: Chapter, at index: Int, _ book: Book, _ other: Book) -> String {
        chapter.book = other
        book.mutableOrderedSetValue(forKey: "chapters").insert(chapter, at: index)
        return "abc"
    }

    private func move(_ chapters: [Chapter], to book: Book, over other: Book) {
        for chapter in chapters { chapter.book = other }
        for chapter in chapters { chapter.book = book }
    }
}

@Suite("Members that a child takes out of an ordered relationship and puts in again")
struct ReturningMemberTests {
    private func headings(_ context: NSManagedObjectContext) throws -> String? {
        try context.all(Book.self, "Book").first { $0.title == "T" }?.chapters.compactMap(\.heading).joined()
    }

    // * A worker takes a chapter out of a book, as by giving it to another book, and puts it in again; nobody, some or all contexts have read the list.
    // => The order is the worker's, in each context and in the file.
    @Test("have the order that the child has given them", arguments: Returning.allCases, 0..<8)
    private func order(_ returning: Returning, readers: Int) throws {
        let layers = try Layers(Library(.file))
        let contexts = [layers.worker, layers.main, layers.root]
        let book = Book(context: layers.root)
        (book.title, book.pages) = ("T", 1)
        book.chapters = "abc".map { heading in
            let chapter = Chapter(context: layers.root)
            chapter.heading = String(heading)
            return chapter
        }
        try layers.root.save()
        for (number, context) in contexts.enumerated() {
            context.reset()
            if readers & 1 << number != 0 { #expect(try headings(context) == "abc") }
        }
        let chapters = try layers.worker.all(Chapter.self, "Chapter").sorted { $0.heading ?? "" < $1.heading ?? "" }
        let known = try #require(try layers.worker.all(Book.self, "Book").first)
        let order = returning.run(known, chapters, layers.worker)
        try layers.saveAll()
        for context in contexts + [try layers.library.separateContext()] {
            #expect(try headings(context) == order, "\(context.name ?? "file")")
        }
        layers.root.reset()
        #expect(try headings(layers.root) == order)
    }

    // * Main gives chapters to another book after a worker has read both; the worker gives it one of them, too, and one more.
    // => One order, in main, root and the file.
    @Test("and that are in it above already are behind those that the child did not know, in the file too", arguments: [false, true])
    func givenTwice(isReversed: Bool) throws {
        let layers = try Layers(Library(.file))
        let (book, former) = (Book(context: layers.main), Book(context: layers.main))
        (book.title, book.pages, former.title, former.pages) = ("T", 1, "former", 1)
        let chapters = "abc".map { heading in
            let chapter = Chapter(context: layers.main)
            (chapter.heading, chapter.book) = (String(heading), former)
            return chapter
        }
        try layers.saveAll()
        let (known, own) = (layers.worker.own(book), chapters.map(layers.worker.own))
        #expect(known.chapters.isEmpty && own.allSatisfy { $0.book?.title == "former" })
        book.chapters = [chapters[0], chapters[1]]
        known.chapters = isReversed ? [own[2], own[0]] : [own[0], own[2]]
        try layers.saveAll()
        let order = isReversed ? "bca" : "bac"
        for context in [layers.main, layers.root, try layers.library.separateContext()] { #expect(try headings(context) == order) }
    }
}
