import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Replaying a history onto an older copy of the store")
struct HistoryReplayTests {
    /// A tracked store with some of everything, and a copy of its file from then.
    private struct Scene {
        let library = try! trackedLibrary(.file)
        let older: URL

        init() throws {
            let context = library.context
            for number in 0..<4 {
                let (book, author, tag) = (Book(context: context), Author(context: context), Tag(context: context))
                (book.title, book.author, book.tags, author.name, tag.label) = ("\(number)", author, [tag], "\(number)", "\(number)")
                let chapter = Chapter(context: context)
                (chapter.heading, chapter.book) = ("c", book)
            }
            try context.save()
            older = library.url.deletingLastPathComponent().appendingPathComponent("older.sqlite")
            #expect(try library.sql("VACUUM INTO '\(older.path)'") == "")
        }

        func problems() throws -> [String] {
            try StoreInspector(url: library.url).problems(since: StoreInspector(url: older), with: LibraryModel.make())
        }

        func books() throws -> [Book] {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            return try library.context.fetch(request)
        }
    }

    @Test("leads to the store, whatever was saved by objects")
    func saves() throws {
        let scene = try Scene()
        let (context, books) = (scene.library.context, try scene.books())
        (books[0].title, books[0].author) = ("x", books[1].author)
        books[0].tags = books[1].tags.union(books[2].tags)
        context.delete(books[3])
        if let author = books[2].author { context.delete(author) }
        Book(context: context).title = "new"
        try context.save()
        books[0].tags = []
        try context.save()
        context.delete(books[0])
        try context.save()
        #expect(try scene.problems() == [])
    }

    @Test("leads to the store, whatever batch requests have changed")
    func batches() throws {
        let scene = try Scene()
        let (context, books) = (scene.library.newContext(), try scene.books())
        try context.batchInsert("Book", [["title": "A", "author": try #require(books[0].author).objectID], ["title": "B"]])
        try context.batchUpdate("Book", ["pages": 3, "author": try #require(books[0].author).objectID], where: "title > '1'")
        try context.batchDelete("Book", "title == '2'")
        try context.batchDelete("Author", "name == '3'")
        try context.batchDelete("Tag", "label == '1'")
        #expect(try scene.problems() == [])
    }

    static let damages = [
        ("UPDATE ZBOOK SET ZPAGES = 9 WHERE Z_PK = 2", "rows with another pages, and the history does not say so: 1, the first is p2."),
        ("UPDATE ZBOOK SET ZAUTHOR = NULL", "rows with another author, and the history does not say so: 4"),
        ("INSERT INTO ZTAG(Z_PK, Z_ENT, Z_OPT) SELECT 77, Z_ENT, 1 FROM ZTAG LIMIT 1", "new rows that the history does not have: 1"),
        ("DELETE FROM ZCHAPTER", "lacks rows that the history does not say were deleted: 4"),
        ("DELETE FROM Z_1TAGS", "has other pairs, and the history does not say so: 4"),
        (
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_ENT = 16002",
            "The history since is not whole: 0 of 8 transactions are there."
        ),
    ]

    @Test("finds what the history does not tell", arguments: damages)
    func untold(damage: String, problem: String) throws {
        let scene = try Scene()
        #expect(try scene.library.sql(damage) == "")
        let problems = try scene.problems()
        #expect(problems.count == 1 && problems.first?.contains(problem) == true, "\(problems)")
    }

    @Test("is refused for another store, and for the newer of two files")
    func others() throws {
        let (scene, other) = (try Scene(), try Scene())
        let model = LibraryModel.make()
        let strangers = try StoreInspector(url: scene.library.url).problems(since: StoreInspector(url: other.older), with: model)
        #expect(strangers.count == 1 && strangers[0].contains("no older copy"))
        try scene.books()[0].title = "y"
        try scene.library.context.save()
        let swapped = try StoreInspector(url: scene.older).problems(since: StoreInspector(url: scene.library.url), with: model)
        #expect(swapped.count == 1 && swapped[0].contains("is the newer one"))
    }
}
