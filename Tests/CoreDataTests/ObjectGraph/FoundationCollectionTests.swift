import CoreData
import Foundation
import Testing

private let chaptersKey = NSManagedObject.OrderedToMany<Chapter>("chapters")
private let booksKey = NSManagedObject.ToMany<Book>("books")

@Suite("A to-many relationship as a collection of Foundation's")
struct FoundationCollectionTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func book(_ count: Int) throws -> Book {
        let book = Book(context: context)
        book.title = "T"
        for number in 0..<count { book.add(library.chapter("\(number)"), to: chaptersKey) }
        try context.save()
        return book
    }

    private func chapters(_ book: Book) -> NSOrderedSet { book.foundationCollection(of: chaptersKey) }

    private func author(_ count: Int) throws -> Author {
        let author = Author(context: context)
        author.name = "a"
        for number in 0..<count {
            let book = Book(context: context)
            (book.title, book.author) = ("\(number)", author)
        }
        try context.save()
        return author
    }

    @Test("of many is made once, by its accessor or by name, while nothing changes")
    func kept() throws {
        let book = try book(100)
        let first = chapters(book)
        #expect(first.count == 100 && first === chapters(book))
        #expect(book.value(forKey: "chapters") as? NSOrderedSet === first)
        let author = try author(100)
        let books: NSSet = author.foundationCollection(of: booksKey)
        #expect(books.count == 100 && books === author.foundationCollection(of: booksKey))
    }

    @Test("of few has them, too", arguments: [0, 1, 2, 3, 16, 17])
    func few(count: Int) throws {
        let headings = (try chapters(book(count)).array as? [Chapter])?.map(\.heading)
        #expect(headings == (0..<count).map { "\($0)" })
        let author = try author(count)
        #expect(author.foundationCollection(of: booksKey) == NSSet(array: Array(author.books)))
    }

    /// What changes the chapters of a book of forty.
    enum Change: CaseIterable {
        case append, insert, remove, removeAt, move, replace, otherEnd, letGo, delete, rollback, reread, refresh, mergeOthers

        func run(_ book: Book, _ made: () -> Chapter, _ other: NSManagedObjectContext) throws {
            let context = try #require(book.managedObjectContext)
            switch self {
            case .append: book.add(made(), to: chaptersKey)
            case .insert: book.insert(made(), into: chaptersKey, at: 5)
            case .remove: book.remove(book.chapters[3], from: chaptersKey)
            case .removeAt: book.mutableOrderedSetValue(forKey: "chapters").removeObject(at: 7)
            case .move: book.mutableOrderedSetValue(forKey: "chapters").moveObjects(at: [0], to: 20)
            case .replace: book.chapters = book.chapters.reversed()
            case .otherEnd: made().book = book
            case .letGo: book.chapters[9].book = nil
            case .delete:
                context.delete(book.chapters[2])
                context.processPendingChanges()
            case .rollback:
                book.remove(book.chapters[3], from: chaptersKey)
                _ = book.foundationCollection(of: chaptersKey)
                context.rollback()
            case .reread, .refresh, .mergeOthers:
                let theirs = try #require(try other.existingObject(with: book.objectID) as? Book)
                theirs.chapters = theirs.chapters.reversed()
                try other.save()
                if self == .mergeOthers {
                    let saved = [NSUpdatedObjectsKey: [book.objectID] + book.chapters.map(\.objectID)]
                    return NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved, into: [context])
                }
                if self == .refresh { return context.refresh(book, mergeChanges: true) }
                context.refresh(book, mergeChanges: false)
            }
        }
    }

    @Test("follows each change, and what was read before stays as it was", arguments: Change.allCases)
    func follows(change: Change) throws {
        let book = try book(40)
        let before = chapters(book)
        let members = before.array as? [Chapter]
        try change.run(book, { library.chapter("new") }, try library.separateContext())
        #expect(chapters(book).array as? [Chapter] == book.chapters)
        #expect(before.array as? [Chapter] == members)
        #expect(change == .rollback || chapters(book) != before)
        #expect(chapters(book) === chapters(book))
    }
}
