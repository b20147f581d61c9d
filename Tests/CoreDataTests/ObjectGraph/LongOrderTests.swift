import Foundation
import Testing

@testable import CoreData

@Suite("A long ordered to-many relationship")
struct LongOrderTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func chapter(_ heading: String, in context: NSManagedObjectContext? = nil) -> Chapter {
        let chapter = Chapter(context: context ?? library.context)
        chapter.heading = heading
        return chapter
    }

    private func book(_ count: Int) -> Book {
        let book = Book(context: context)
        book.title = "T"
        book.chapters = (0..<count).map { chapter("\($0)") }
        return book
    }

    private func contents(_ book: Book) -> ToManyContents { book.realizedContents(book.toManyIndex("chapters")) }

    private func stored() throws -> [String] {
        let context = try library.separateContext()
        return try withExtendedLifetime(context) { try context.all(Book.self, "Book").flatMap(\.chapters).compactMap(\.heading) }
    }

    /// How many members a save would look at.
    private func assigned(_ book: Book) -> Int {
        var count = 0
        _ = contents(book).newPositions { _, _, _ in count += 1 }
        return count
    }

    private func list(_ book: Book) -> NSMutableOrderedSet { book.mutableOrderedSetValue(forKey: "chapters") }

    @Test("looks at each appended member once, through however many ordered sets it is appended", arguments: [true, false])
    func appending(isNew: Bool) throws {
        let book = book(isNew ? 0 : 500)
        if !isNew { try context.save() }
        let before = isNew ? 0 : 500
        for number in 0..<1000 { list(book).add(chapter("\(number)")) }
        let proxy = try #require(list(book) as? MutableOrderedSetProxy)
        #expect(proxy.count == before + 1000 && proxy.mirroringCount == before + 1000)
        #expect(book.chapters.suffix(1000).compactMap(\.heading) == (0..<1000).map { "\($0)" })
    }

    @Test("is in its mutable ordered set as it is, by whatever means it changes")
    func mirror() throws {
        let book = book(20)
        try context.save()
        let proxy = list(book)
        let shown = { proxy.compactMap { ($0 as? Chapter)?.heading } }
        let new = chapter("new")
        new.book = book
        #expect((proxy.lastObject as? Chapter) === new && shown().count == 21)
        let first = book.chapters[0]
        first.book = nil
        context.delete(first)
        #expect((proxy.firstObject as? Chapter)?.heading == "1" && shown().count == 20)
        book.chapters.reverse()
        #expect((proxy.firstObject as? Chapter) === new && shown() == book.chapters.compactMap(\.heading))
        // * A refresh forgets what was read.
        try context.save()
        context.refresh(book, mergeChanges: false)
        #expect(proxy.count == 20 && (proxy.firstObject as? Chapter) === new && list(book).count == 20)
        book.chapters = []
        #expect(proxy.firstObject == nil && shown().isEmpty)
    }

    @Test("edited through its mutable ordered set is what an array would be, in the file too", arguments: 1...6 as ClosedRange<UInt64>)
    func likeAnArray(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let book = book(Int(seed) * 4)
        var expected = book.chapters
        for step in 0..<120 {
            let index = Int.random(in: 0..<max(expected.count, 1), using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let new = chapter("a\(step)")
                list(book).add(new)
                expected.append(new)
            case 1:
                let new = chapter("i\(step)")
                list(book).insert(new, at: index)
                expected.insert(new, at: index)
            case 2 where expected.count > 2:
                list(book).removeObject(at: index)
                context.delete(expected.remove(at: index))
            case 3 where !expected.isEmpty:
                let other = Int.random(in: 0..<expected.count, using: &random)
                list(book).exchangeObject(at: index, withObjectAt: other)
                expected.swapAt(index, other)
            case 4 where !expected.isEmpty:
                let new = chapter("r\(step)")
                list(book).replaceObject(at: index, with: new)
                context.delete(expected[index])
                expected[index] = new
            case 5 where expected.count > 3:
                let moved = [0, expected.count / 2, expected.count - 1].map { expected[$0] }
                let target = Int.random(in: 0...(expected.count - 3), using: &random)
                list(book).moveObjects(at: [0, expected.count / 2, expected.count - 1], to: target)
                expected.removeAll(where: moved.contains)
                expected.insert(contentsOf: moved, at: target)
            case 6:
                let new = chapter("b\(step)")
                new.book = book
                expected.append(new)
            default: try context.save()
            }
            #expect(book.chapters == expected && list(book).compactMap { $0 as? Chapter } == expected)
            #expect(expected.isEmpty || list(book).index(of: expected[0]) == 0)
        }
        try context.save()
        #expect(try stored() == expected.compactMap(\.heading))
    }

    @Test("of which one member is new writes one position, whether it was saved here or read")
    func savingOne() throws {
        let saved = book(600)
        try context.save()
        let other = library.newContext()
        let read = try other.only(Book.self, "Book")
        #expect(read.chapters.count == 600)
        read.chapters.last?.heading = "last"
        for (book, context) in [(saved, context), (read, other)] {
            for number in 0..<3 {
                context.refreshAllObjects()
                _ = book.chapters
                book.mutableOrderedSetValue(forKey: "chapters").add(chapter("n\(number)", in: context))
                #expect(assigned(book) == 1)
                let statements = try library.statements { try context.save() }
                #expect(statements.count(where: { $0.hasPrefix("UPDATE ZCHAPTER") }) <= 1 && statements.count < 12)
            }
        }
        // * A new list needs none of its positions kept to be appended to.
        let second = Book(context: context)
        second.title = "U"
        second.chapters = (0..<300).map { chapter("u\($0)") }
        try context.save()
        for number in 300..<303 {
            list(second).add(chapter("u\(number)"))
            #expect(assigned(second) == 1)
            try context.save()
        }
        #expect(try stored().filter { $0.hasPrefix("u") } == (0..<303).map { "u\($0)" })
    }

    @Test("of which few are put elsewhere writes few positions", arguments: [0, 250, 499])
    func moving(index: Int) throws {
        let book = book(500)
        try context.save()
        list(book).moveObjects(at: [10, 20], to: index - index % 2)
        list(book).insert(chapter("new"), at: index)
        #expect(assigned(book) <= 5)
        try context.save()
        #expect(try stored() == book.chapters.compactMap(\.heading))
        list(book).removeObject(at: 7)
        #expect(assigned(book) == 0)
    }

    @Test("in which many are put at one place writes few positions for each", arguments: [0, 150])
    func oneGap(index: Int) throws {
        let book = book(400)
        try context.save()
        var written = 0
        for number in 0..<60 {
            list(book).insert(chapter("x\(number)"), at: index)
            written += assigned(book)
            try context.save()
        }
        #expect(written < 60 * 6)
        #expect(try stored() == book.chapters.compactMap(\.heading))
        #expect(try library.sql("SELECT COUNT(*) - COUNT(DISTINCT Z_FOK_BOOK) FROM ZCHAPTER WHERE ZBOOK IS NOT NULL") == "0")
    }

    @Test(
        "has positions where a file has none, or the same twice",
        arguments: ["NULL", "2048", "-9223372036854775808", "9223372036854775807"]
    )
    func strangePositions(position: String) throws {
        _ = book(5)
        try context.save()
        _ = try library.sql("UPDATE ZCHAPTER SET Z_FOK_BOOK = \(position) WHERE ZHEADING IN ('1', '3')")
        let other = try library.separateContext()
        let same = try other.only(Book.self, "Book")
        let read = same.chapters.compactMap(\.heading)
        same.mutableOrderedSetValue(forKey: "chapters").insert(chapter("x", in: other), at: 2)
        try other.save()
        #expect(try stored() == read.prefix(2) + ["x"] + read.dropFirst(2))
        #expect(try library.sql("SELECT COUNT(DISTINCT Z_FOK_BOOK) FROM ZCHAPTER") == "6")
    }
}
