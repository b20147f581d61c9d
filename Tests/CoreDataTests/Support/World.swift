import CoreData
import Testing

/// The graph as plain dictionaries: what a context must agree with.
struct World {
    struct BookFacts {
        var pages = 0
        var author: Int?
        var tags: Set<Int> = []
        var chapters: [Int] = []
    }
    struct AuthorFacts {
        var age = 0
        var boss: Int?
    }
    var authors: [Int: AuthorFacts] = [:]
    var books: [Int: BookFacts] = [:]
    var tags: Set<Int> = []

    func book(of chapter: Int) -> Int? { books.first { $0.value.chapters.contains(chapter) }?.key }
    var chapters: [Int] { books.values.flatMap(\.chapters).sorted() }

    mutating func deleteBook(_ id: Int) { books[id] = nil }

    mutating func deleteAuthor(_ id: Int) {
        authors[id] = nil
        for (book, value) in books where value.author == id { deleteBook(book) }
        for (other, value) in authors where value.boss == id { authors[other]?.boss = nil }
    }

    mutating func deleteTag(_ id: Int) {
        tags.remove(id)
        for book in books.keys { books[book]?.tags.remove(id) }
    }

    mutating func move(_ chapter: Int, to book: Int) {
        if books[book]?.chapters.contains(chapter) == true { return }
        if let old = self.book(of: chapter) { books[old]?.chapters.removeAll { $0 == chapter } }
        books[book]?.chapters.append(chapter)
    }

    private static func list(_ letter: String, _ ids: some Sequence<Int>) -> String { ids.map { "\(letter)\($0)" }.joined(separator: ",") }

    /// One line per object.
    var text: [String] {
        var lines: [String] = []
        for (id, author) in authors {
            let owned = books.filter { $0.value.author == id }.keys.map { "b\($0)" }.sorted().joined(separator: ",")
            let reports = authors.filter { $0.value.boss == id }.keys.map { "a\($0)" }.sorted().joined(separator: ",")
            lines.append("a\(id) \(author.age) boss \(author.boss.map { "a\($0)" } ?? "-") books \(owned) reports \(reports)")
        }
        for (id, book) in books {
            let author = book.author.map { "a\($0)" } ?? "-"
            let tags = book.tags.map { "t\($0)" }.sorted().joined(separator: ",")
            lines.append("b\(id) \(book.pages) \(author) tags \(tags) chapters \(Self.list("c", book.chapters))")
            for chapter in book.chapters { lines.append("c\(chapter) in b\(id)") }
        }
        for id in tags {
            lines.append("t\(id) \(books.filter { $0.value.tags.contains(id) }.keys.map { "b\($0)" }.sorted().joined(separator: ","))")
        }
        return lines.sorted()
    }

    /// The same of a context.
    static func text(of context: NSManagedObjectContext) throws -> [String] {
        var lines: [String] = []
        func names(_ objects: [NSManagedObject], _ key: String) -> String {
            objects.map { $0.value(forKey: key) as? String ?? "nil" }.sorted().joined(separator: ",")
        }
        for author in try context.all(Author.self, "Author") {
            let (books, reports) = (names(Array(author.books), "title"), names(Array(author.reports), "name"))
            lines.append("\(author.name ?? "nil") \(author.age) boss \(author.boss?.name ?? "-") books \(books) reports \(reports)")
        }
        for book in try context.all(Book.self, "Book") {
            let chapters = book.chapters.map { $0.heading ?? "nil" }.joined(separator: ",")
            let author = book.author?.name ?? "-"
            lines.append("\(book.title ?? "nil") \(book.pages) \(author) tags \(names(Array(book.tags), "label")) chapters \(chapters)")
        }
        for chapter in try context.all(Chapter.self, "Chapter") {
            lines.append("\(chapter.heading ?? "nil") in \(chapter.book?.title ?? "-")")
        }
        for tag in try context.all(Tag.self, "Tag") { lines.append("\(tag.label ?? "nil") \(names(Array(tag.books), "title"))") }
        return lines.sorted()
    }
}
