import Foundation
import Predicates
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A key path in SQL")
struct KeyPathSQLTests {
    @Test("joins each to-one relationship once, however often it is passed")
    func joins() throws {
        try expectCondition(
            "artist.name == 'x' AND artist.born > 1900",
            [],
            " LEFT JOIN ZARTIST t1 ON t1.Z_PK = t0.ZARTIST WHERE t1.ZNAME = ? AND t1.ZBORN > ?",
            [.text("x"), .integer(1900)]
        )
    }

    @Test("reads the name of an entity, of the object itself and across relationships")
    func entityNames() throws {
        try expectCondition("entity.name == 'Song'", [], " WHERE CASE t0.Z_ENT WHEN 3 THEN 'Song' END = ?", [.text("Song")])
        try expectCondition(
            "artist.entity.name BEGINSWITH[c] 'b'",
            [],
            " LEFT JOIN ZARTIST t1 ON t1.Z_PK = t0.ZARTIST WHERE cd_match('begins', 'c', ?, "
                + "CASE t1.Z_ENT WHEN 1 THEN 'Artist' WHEN 2 THEN 'Band' END)",
            [.text("b")]
        )
        let library = try Library()
        // Kept: an entity whose model is gone has lost its superentity.
        let otherModel = LibraryModel.make()
        let copy = try #require(otherModel.entitiesByName["Author"])
        for _ in 0..<2 { _ = Author(context: library.context) }
        let book = Book(context: library.context)
        (book.title, book.author) = ("T", try library.context.all(Author.self, "Author").first)
        _ = Person(context: library.context)
        for _ in 0..<2 {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "entity.name == 'Author'")
            #expect(try library.context.count(for: request) == 2)
            request.predicate = NSPredicate(format: "entity.name IN {'Person', 'Book'}")
            #expect(try library.context.count(for: request) == 1)
            request.predicate = NSPredicate(format: "SELF.entity.name != 'Person' AND entity.isAbstract == NO")
            #expect(try library.context.count(for: request) == 2)
            request.predicate = NSPredicate(format: "ANY reports.entity.name == 'Author'")
            #expect(try library.context.count(for: request) == 0)
            request.predicate = NSPredicate(format: "entity == %@", copy)
            #expect(try library.context.count(for: request) == 2 && copy.managedObjectModel === otherModel)
            request.predicate = nil
            request.sortDescriptors = [
                NSSortDescriptor(key: "entity.name", ascending: false), NSSortDescriptor(key: "self", ascending: true),
            ]
            #expect(try library.context.fetch(request).map { $0.entity.name ?? "" } == ["Person", "Author", "Author"])
            request.sortDescriptors = [NSSortDescriptor(key: "entity", ascending: true)]
            #expect(try library.context.fetch(request).map { $0.entity.name ?? "" } == ["Author", "Author", "Person"])
            let books = NSFetchRequest<NSManagedObject>(entityName: "Book")
            books.predicate = NSPredicate(format: "author.entity.name == 'Author'")
            #expect(try library.context.count(for: books) == 1)
            try library.context.save()
        }
    }

    @Test("ends at the foreign key where only the object is asked for")
    func objects() throws {
        let bench = QueryBench()
        let artist = try bench.objectID(7, of: "Artist"), band = try bench.objectID(8, of: "Band")
        try expectCondition("artist == %@", [artist], " WHERE t0.ZARTIST = ?", [.integer(7)], bench: bench)
        try expectCondition("artist.objectID == %@", [artist], " WHERE t0.ZARTIST = ?", [.integer(7)], bench: bench)
        try expectCondition(
            "artist IN %@",
            [NSSet(array: [band])],
            " WHERE t0.ZARTIST IN (?)",
            [.integer(8)],
            bench: bench
        )
        try expectCondition("SELF == %@", [bench.objectID(3, of: "Song")], " WHERE t0.Z_PK = ?", [.integer(3)], bench: bench)
        try expectCondition(
            "artist.entity == %@",
            [bench.entity("Band")],
            " LEFT JOIN ZARTIST t1 ON t1.Z_PK = t0.ZARTIST WHERE t1.Z_ENT = ?",
            [.integer(2)],
            bench: bench
        )
    }

    @Test("never finds an object of another table or store under the same key")
    func foreignObjects() throws {
        let bench = QueryBench(store: 1)
        let tag = try bench.objectID(7, of: "Tag"), elsewhere = try bench.objectID(7, of: "Artist", store: 2)
        try expectCondition("artist == %@", [tag], " WHERE (t0.ZARTIST <> t0.ZARTIST)", bench: bench)
        try expectCondition("artist != %@", [elsewhere], " WHERE (t0.ZARTIST = t0.ZARTIST)", bench: bench)
        try expectCondition("artist IN %@", [[tag, elsewhere]], " WHERE (t0.ZARTIST <> t0.ZARTIST)", bench: bench)
        try expectCondition(
            "artist == %@",
            [bench.objectID(-5, of: "Artist", store: 0)],
            " WHERE t0.ZARTIST = ?",
            [.integer(-5)],
            bench: bench
        )
    }

    @Test("that does not exist is an error which names the entity that lacks the key")
    func unknownKeys() throws {
        let bench = QueryBench()
        for (format, sentence) in [
            ("nonsense == 1", "Entity Song has no property “nonsense”."),
            ("artist.nonsense == 1", "Entity Artist has no property “nonsense” (in the key path “artist.nonsense”)."),
            ("artist.size == 1", "Entity Artist has no property “size” (in the key path “artist.size”)."),
            ("titel == 1", "Entity Song has no property “titel”. Is “title” meant?"),
            ("NOT (title == 'a' OR ANY tags.nonsense == 1)", "Entity Tag has no property “nonsense”."),
        ] {
            let error = #expect(throws: CocoaError.self) { try bench.plan(bench.query("Song", format)) }
            #expect(error?.code == .coreData)
            #expect(error?.localizedDescription == sentence)
        }
        var query = try bench.query()
        query.sortDescriptors = [NSSortDescriptor(key: "artist.nonsense", ascending: true)]
        #expect(throws: CocoaError.self) { try bench.plan(query) }
    }

    @Test("to many goes through the foreign key, the join table, or both columns of a reflexive one")
    func collections() throws {
        let bench = QueryBench()
        let artists = try bench.plan(bench.query("Artist", "ANY songs.title == 'x'"))
        #expect(
            artists.sql
                == "SELECT t0.Z_PK, t0.Z_ENT FROM ZARTIST t0 WHERE EXISTS (SELECT 1 FROM ZSONG t1 WHERE t1.ZARTIST = t0.Z_PK AND t1.ZTITLE = ?)"
        )
        try expectCondition(
            "ALL tags.weight > 3",
            [],
            " WHERE NOT EXISTS (SELECT 1 FROM ZTAG t1 WHERE t1.Z_PK IN (SELECT Z_4TAGS FROM Z_3TAGS WHERE Z_3SONGS = t0.Z_PK) "
                + "AND (t1.ZWEIGHT > ?) IS NOT TRUE)",
            [.integer(3)]
        )
        try expectCondition(
            "similar.@count == 2",
            [],
            " WHERE (SELECT COUNT(*) FROM ZSONG t1 WHERE t1.Z_PK IN (SELECT REFLEXIVE FROM Z_3SIMILAR WHERE Z_3SIMILAR = t0.Z_PK "
                + "UNION ALL SELECT Z_3SIMILAR FROM Z_3SIMILAR WHERE REFLEXIVE = t0.Z_PK)) = ?",
            [.integer(2)]
        )
        try expectCondition(
            "SUBQUERY(tags, $t, $t.weight > plays AND $t.name == 'x').@count > 0",
            [],
            " WHERE (SELECT COUNT(*) FROM ZTAG t1 WHERE t1.Z_PK IN (SELECT Z_4TAGS FROM Z_3TAGS WHERE Z_3SONGS = t0.Z_PK) "
                + "AND (t1.ZWEIGHT > t0.ZPLAYS AND t1.ZNAME = ?)) > ?",
            [.text("x"), .integer(0)]
        )
    }

    @Test(
        "that SQL cannot follow is left to memory with its conjunct, and nothing else is",
        arguments: [
            "mood == 'x'", "title.length > 3", "ANY artist.songs.tags.name == 'x'", "plays ** 2 > 4",
            "title ==[c] uppercase:(album) OR plays == 2", "NOT (mood == 'x')", "title <[l] 'x'", "ANY title == 'x'",
        ]
    )
    func remainder(format: String) throws {
        let bench = QueryBench()
        var query = try bench.query("Song", "plays == 1 AND (\(format)) AND track == 2")
        query.limit = 5
        let plan = try bench.plan(query)
        #expect(plan.sql == "SELECT t0.Z_PK, t0.Z_ENT FROM ZSONG t0 WHERE t0.ZPLAYS = ? AND t0.ZTRACK = ?")
        #expect(plan.parameters == [.integer(1), .integer(2)])
        #expect(plan.remainder.map { "\($0)" } == "\(try NSPredicate(parsing: format).tree)")
        #expect(plan.limitsInMemory)
    }

    @Test("in a block predicate is left to memory")
    func blocks() throws {
        let bench = QueryBench()
        var query = try bench.query()
        query.predicate = NSPredicate { _, _ in true }.tree
        let plan = try bench.plan(query, .rows)
        guard case .opaque = plan.remainder else {
            Issue.record("the remainder is \(String(describing: plan.remainder))")
            return
        }
    }
}
