import Foundation
import Testing

@testable import CoreData

/// A book has been read; others give it an author, or take it from one; only then the author's books are read: they have it or lack it otherwise than
/// the book says.
@Suite("A member that was read before its owner")
struct OutdatedMemberTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library()
        context = library.context
    }

    private func author(_ book: Book, is first: Author?, asReadBy reader: NSManagedObjectContext, then second: Author?) throws -> Book {
        book.author = first
        try context.save()
        let theirs = reader.own(book)
        #expect(theirs.author === first.map(reader.own))
        book.author = second
        return theirs
    }

    private var fileAuthor: String { get throws { try library.sql("SELECT ifnull(ZAUTHOR, 0) FROM ZBOOK") } }

    @Test("is taken out of it in a child: the parent takes it out, too")
    func takenOutInChild() throws {
        let (author, child) = (Author(context: context), NSManagedObjectContext(concurrencyType: .confinementConcurrencyType))
        child.parent = context
        let book = try library.savedBook()
        let theirs = try self.author(book, is: nil, asReadBy: child, then: author)
        #expect(child.own(author).books == [theirs])
        child.own(author).books = []
        try child.save()
        #expect(author.books.isEmpty && book.author == nil)
        try context.save()
        #expect(try fileAuthor == "0")
    }

    @Test("is put into it in a child: the parent puts it in, too", arguments: [false, true])
    func putInInChild(isElsewhere: Bool) throws {
        let (author, other, child) = (
            Author(context: context), Author(context: context), NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        )
        child.parent = context
        let book = try library.savedBook()
        let theirs = try self.author(book, is: author, asReadBy: child, then: isElsewhere ? other : nil)
        #expect(child.own(author).books == [])
        child.own(author).books = [theirs]
        try child.save()
        #expect(author.books == [book] && book.author === author && other.books.isEmpty)
        try context.save()
        #expect(try fileAuthor == "\(author.key)")
    }

    @Test("is taken out of it: a save meets the conflict, and under object trump writes that", arguments: [false, true], [false, true])
    func takenOut(isFarOff: Bool, isElsewhere: Bool) throws {
        let (author, other) = (Author(context: context), Author(context: context))
        let reader = isFarOff ? try library.separateContext() : library.newContext()
        let book = try library.savedBook()
        let theirs = try self.author(book, is: isElsewhere ? other : nil, asReadBy: reader, then: author)
        try context.save()
        #expect(reader.own(author).books == [theirs])
        reader.own(author).books = []
        cocoaError(133020) { try reader.save() }
        reader.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try reader.save()
        #expect(try fileAuthor == (isElsewhere ? "\(other.key)" : "0"))
        #expect(reader.own(author).books.isEmpty && theirs.author?.objectID == (isElsewhere ? other.objectID : nil))
    }

    @Test("is put into it: a save meets the conflict, and under object trump writes that", arguments: [false, true])
    func putIn(isFarOff: Bool) throws {
        let author = Author(context: context)
        let reader = isFarOff ? try library.separateContext() : library.newContext()
        let book = try library.savedBook()
        let theirs = try self.author(book, is: author, asReadBy: reader, then: nil)
        try context.save()
        #expect(reader.own(author).books.isEmpty)
        reader.own(author).books = [theirs]
        cocoaError(133020) { try reader.save() }
        reader.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try reader.save()
        #expect(try fileAuthor == "\(author.key)")
        #expect(reader.own(author).books == [theirs] && theirs.author === reader.own(author))
    }

    // * A child and its parent read one end of a many-to-many relationship before others change it, and the other end after that; the child does the
    //   contrary.
    // => That is in the file.
    @Test("of a many-to-many is put in or taken out by a child", arguments: [false, true], [false, true])
    func pair(isTakenOut: Bool, isBookOutdated: Bool) throws {
        let (book, tag) = (try library.savedBook(), Tag(context: context))
        if !isTakenOut { book.tags = [tag] }
        try context.save()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let (rival, child) = (try library.separateContext(), NSManagedObjectContext(concurrencyType: .confinementConcurrencyType))
        child.parent = context
        context.refreshAllObjects()
        let (theirBook, theirTag) = (child.own(book), child.own(tag))
        let ends = [(book, tag), (theirBook, theirTag)]
        #expect(ends.allSatisfy { (isBookOutdated ? $0.tags.isEmpty : $1.books.isEmpty) == isTakenOut })
        rival.own(book).tags = isTakenOut ? [rival.own(tag)] : []
        try rival.save()
        #expect(ends.allSatisfy { (isBookOutdated ? $1.books.isEmpty : $0.tags.isEmpty) != isTakenOut })
        if isBookOutdated { theirTag.books = isTakenOut ? [] : [theirBook] } else { theirBook.tags = isTakenOut ? [] : [theirTag] }
        try child.save()
        #expect(book.tags == (isTakenOut ? [] : [tag]) && tag.books == (isTakenOut ? [] : [book]))
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == (isTakenOut ? "0" : "1"))
    }
}
