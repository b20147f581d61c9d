import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("What others have put into a store that is migrated")
struct StrangersMigrationTests {
    private let home: StoreHome

    init() throws { home = try StoreHome(.file) }

    /// The second version rebuilds a table and drops another one, the third renames a table and columns.
    private func version(_ number: Int) -> NSManagedObjectModel {
        let book = NSEntityDescription("Book", attribute("title"))
        if number == 1 { book.properties += ["a", "b", "c", "d"].map { attribute($0) } }
        let shelf = NSEntityDescription("Shelf", attribute("place"))
        let model = NSManagedObjectModel(book, shelf)
        if number == 1 { model.entities.append(NSEntityDescription("Gone", attribute("name"))) }
        guard number == 3 else { return model }
        (shelf.name, shelf.renamingIdentifier) = ("Board", "Shelf")
        (shelf.properties[0].name, shelf.properties[0].renamingIdentifier) = ("room", "place")
        book.properties.append(attribute("note"))
        return model
    }

    private func make(_ sql: String) throws {
        try version(1).makeFilledStore(at: home.url())
        let connection = try Connection(path: home.url().path, mode: .readWrite)
        defer { connection.close() }
        try connection.execute(sql)
    }

    private func strangers() throws -> String {
        try home.sql("SELECT name, sql FROM sqlite_master WHERE name NOT GLOB 'Z*' AND name NOT GLOB 'sqlite_*' ORDER BY name")
    }

    // * A view, a trigger or a key of others names a table that is rebuilt or goes, or a column that goes, or nothing that there is.
    // => It is what it was after that migration, and after the next.
    @Test(
        "is what it was, whatever becomes of the tables that it names, and stands in the way of no later migration",
        arguments: [
            "CREATE VIEW titles AS SELECT ZTITLE FROM ZBOOK", "CREATE VIEW old AS SELECT ZA FROM ZBOOK",
            "CREATE VIEW gone AS SELECT ZNAME FROM ZGONE", "CREATE VIEW absent AS SELECT x FROM nowhere",
            "CREATE TABLE log (t); CREATE TRIGGER logged AFTER INSERT ON log BEGIN UPDATE ZBOOK SET ZTITLE = new.t; END",
            "CREATE TABLE log (t REFERENCES ZBOOK(Z_PK)); INSERT INTO log VALUES (1)",
            """
            CREATE VIEW titles AS SELECT ZTITLE AS t FROM ZBOOK;
            CREATE TRIGGER added INSTEAD OF INSERT ON titles BEGIN UPDATE ZBOOK SET ZTITLE = new.t; END
            """,
        ]
    )
    func readers(sql: String) throws {
        try make(sql)
        let (before, books) = (try strangers(), try home.sql("SELECT ZTITLE FROM ZBOOK"))
        for number in [2, 3] {
            try Stack(home.url(), version(number), options: migrating).close()
            #expect(try strangers() == before, "version \(number)")
        }
        #expect(try home.sql("SELECT ZTITLE FROM ZBOOK") == books)
        #expect(try home.sql("PRAGMA foreign_key_check") == "")
        try expectSchema(home.url(), of: version(3), beside: ["log", "titles", "old", "gone", "absent", "logged", "added"])
    }

    // * A table is rebuilt on which others have indexes.
    // => Those of columns that are still there are there, too.
    @Test("is there after a table was rebuilt: indexes of columns that there are")
    func indexes() throws {
        try make(
            """
            CREATE INDEX by_title ON ZBOOK (ZTITLE COLLATE NOCASE); CREATE INDEX by_length ON ZBOOK (length(ZTITLE));
            CREATE INDEX by_a ON ZBOOK (ZTITLE, ZA); CREATE INDEX some ON ZBOOK (ZTITLE) WHERE ZB IS NOT NULL
            """
        )
        try Stack(home.url(), version(2), options: migrating).close()
        #expect(try home.sql("SELECT name FROM sqlite_master WHERE type = 'index' AND name NOT GLOB 'Z*'") == "by_title\nby_length")
    }
}
