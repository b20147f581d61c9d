import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A request that makes no sense")
struct BadRequestTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library(.memory)
        context = library.context
        for number in 0..<5 {
            let book = Book(context: context)
            (book.title, book.pages) = ("book \(number)", Int32(number))
        }
        try context.save()
    }

    private func request(_ format: String, sort: String? = nil) throws -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = try NSPredicate(parsing: format, arguments: [])
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    // * In an empty store too: nothing has to be evaluated to find out.
    @Test(
        "is an error that names entity and key",
        arguments: [
            ("nothing == 1", "“nothing”"), ("author.nothing == 1", "“nothing”"), ("tags == 'x'", "“tags”"),
            ("tags == nil", "“tags.@count == 0”"), ("tags.label == 'x'", "“tags”"),
            ("author.books.title == 'x'", "“books”"), ("tags.label IN {'x', 'y'}", "“tags”"), ("tags > 3", "“tags”"),
            ("pages == $count", "$count"), ("ANY tags.label == $label", "$label"), ("title MATCHES '('", "\"(\""),
            ("FUNCTION(title, 'frobnicate') == 1", "lowercaseString"), ("title.@count == 1", "“title” of Book"),
            ("author.name.@count == 1", "“name” of"), ("pages.@sum > 1", "“pages” of Book"),
            ("pages == @max.pages", "functions, such as max:(number)"), ("author.@count == 1", "behind a relationship to many"),
            ("pages == max(pages)", "max:(pages)"), ("author.name == min(author.name)", "fetchLimit of 1"),
            ("ANY tags.label == 'x' OR pages > average:(pages)", "column of dictionaries"),
        ]
    )
    func refused(format: String, name: String) throws {
        for value in [true, false] {
            let error = #expect(throws: CocoaError.self) {
                if value { _ = try context.fetch(request(format)) } else { _ = try context.count(for: request(format)) }
            }
            #expect(error?.errorCode == 134_060 && error?.localizedDescription.contains(name) == true, "\(String(describing: error))")
        }
    }

    @Test("in its order is an error too", arguments: [("tags", "“tags”"), ("tags.label", "“tags”"), ("nothing", "“nothing”")])
    func order(key: String, name: String) throws {
        let error = #expect(throws: CocoaError.self) { try context.fetch(request("TRUEPREDICATE", sort: key)) }
        #expect(error?.errorCode == 134_060 && error?.localizedDescription.contains(name) == true, "\(String(describing: error))")
    }

    // * A store in a file, of an entity with a transient attribute.
    // => It has no order by that. Stores that are in memory have, as with Core Data.
    @Test("asks a file for an order by what it does not have", arguments: [StoreKind.file, .memory])
    func transientOrder(kind: StoreKind) throws {
        let song = LibraryModel.entity("Song", NSManagedObject.self, [LibraryModel.attribute("mood", .stringAttributeType)])
        song.attributesByName["mood"]?.isTransient = true
        let album = LibraryModel.entity("Album", NSManagedObject.self, [LibraryModel.attribute("title", .stringAttributeType)])
        let best = NSRelationshipDescription()
        (best.name, best.destinationEntity, best.maxCount) = ("best", song, 1)
        album.properties.append(best)
        let model = NSManagedObjectModel()
        model.entities = [song, album]
        let home = try StoreHome(kind)
        let context = try Stack(home.url(), model).newContext()
        for (entity, key) in [("Song", "mood"), ("Album", "best.mood")] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            guard kind == .file else {
                #expect(try context.fetch(request).isEmpty)
                continue
            }
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(error?.errorCode == 134_060)
            #expect(error?.localizedDescription.contains("“mood” of Song") == true, "\(String(describing: error))")
        }
    }

    // * A value of another kind than the property's, on either side, in a list, across a relationship.
    // => An error that names the entity and the whole comparison; also where unsaved objects would be asked.
    @Test(
        "because a value is of another kind is an error that names the comparison",
        arguments: [
            "pages == \"x\"", "title == 5", "title < 5", "5 >= title", "pages IN {1, \"x\"}", "pages BETWEEN {1, \"x\"}", "published > 5",
            "author == \"x\"", "author.name == 5", "ANY tags.label == 5", "isbn == \"x\"", "pages != \"x\"",
        ]
    )
    func kinds(format: String) throws {
        Book(context: context).title = "unsaved"
        let error = #expect(throws: CocoaError.self) { try context.fetch(request(format)) }
        let words = error?.localizedDescription ?? ""
        #expect(error?.errorCode == 134_060 && words.contains("Book") && words.contains(format), "\(words)")
    }

    @Test("in the way of text finds nothing beside a number", arguments: ["pages CONTAINS 'x'", "pages LIKE 'x'"])
    func textOperators(format: String) throws { #expect(try context.fetch(request(format)).isEmpty) }

    /// What somebody might type who means harm, and what they would type it into.
    private static let words = [
        "title", "pages", "tags.label", "author", "==", "!=", "<", "LIKE", "MATCHES", "CONTAINS[cd]", "BEGINSWITH", "IN", "BETWEEN", "ANY",
        "NOT",
        "AND", "OR", "(", ")", "{", "}", ",", "'", "\"", "';", "--", "/*", "DROP TABLE ZBOOK", "OR 1=1", "UNION SELECT * FROM Z_METADATA",
        "?1", ":a",
        "@count", ".", "$x", "SUBQUERY(", "'x'); DELETE FROM ZBOOK; --'", "\\", "\u{0}", "😀", "5", "nil", "%", "x'00'", "SELF", "1e999",
    ]

    // * Texts put together at random, and each of them as a value beside every operator.
    // => A format error, or an answer; nothing of them is in a statement, and the store is as it was.
    @Test("because somebody means harm never becomes SQL", arguments: 1...4 as ClosedRange<UInt64>)
    func hostile(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let operators = ["==", "!=", "<", ">=", "LIKE", "CONTAINS", "BEGINSWITH[c]", "ENDSWITH[d]", "IN", "==[cd]"]
        var statements: [String] = []
        for _ in 0..<400 {
            let text = (0..<Int.random(in: 1...8, using: &dice)).map { _ in dice.pick(Self.words) }.joined(
                separator: dice.chance(3) ? "" : " "
            )
            let request = NSFetchRequest<Book>(entityName: "Book")
            statements += library.statements {
                if let predicate = try? NSPredicate(parsing: text, arguments: []) {
                    request.predicate = predicate
                    _ = try? context.fetch(request)
                }
                if let predicate = try? NSPredicate(parsing: "title \(dice.pick(operators)) %@", arguments: [text]) {
                    request.predicate = predicate
                    _ = try? context.fetch(request)
                }
            }
        }
        #expect(statements.count > 200)
        #expect(!statements.contains { $0.contains("DROP") || $0.contains("DELETE") || $0.contains("UNION") || $0.contains("1=1") })
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK") == "5")
    }
}
