import CoreData
import Foundation
import SQLiteDriver
import TestSupport
import Testing

@Suite("coredata browse")
struct BrowseTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
        let model = try NSManagedObjectModel(reading: library.folder.file("Library.xcdatamodeld"))
        try fillStore(at: library.folder.file("library.sqlite"), of: model) { context in
            let author = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            author.setValue("<b>Émile</b>", forKey: "name")
            for number in 0..<60 {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("Volume \(number)", forKey: "name")
                book.setValue(number, forKey: "pages")
                book.mutableOrderedSetValue(forKey: "authors").add(author)
            }
        }
    }

    private func run(_ statements: String...) throws {
        let connection = try Connection(path: library.store, mode: .readWrite)
        defer { connection.close() }
        // A page that is being closed may have it yet.
        _ = try connection.rows("PRAGMA busy_timeout = 60000")
        for statement in statements { try connection.execute(statement) }
    }

    @Test("serves one page, which loads nothing from elsewhere, to those who know the address, and to this machine only")
    func page() async throws {
        let store = try await BrowsedStore(library.store)
        let page = try await store.get("")
        #expect(page.status == 200 && page.type.hasPrefix("text/html") && page.text.hasPrefix("<!DOCTYPE html>"))
        #expect(!page.text.contains("http://") && !page.text.contains("https://") && !page.text.contains("innerHTML"))
        #expect(store.address.host == "127.0.0.1" && store.address.path.count == 33)
        let other = try #require(URL(string: "/0123456789abcdef0123456789abcdef/", relativeTo: store.address))
        for url in [other, try #require(URL(string: "/", relativeTo: store.address))] { #expect(try await store.get(url).status == 404) }
        #expect(try await store.get("api/store", host: "evil.example").status == 404)
        let second = try await BrowsedStore(library.store)
        #expect(second.address.path != store.address.path)
        let listeners = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n")
        let port = String(format: "%04X", store.address.port ?? 0)
        #expect(listeners.contains { $0.contains(" 0100007F:\(port) ") } && !listeners.contains { $0.contains(" 00000000:\(port) ") })
    }

    @Test("says what is in the way of a port that somebody else has")
    func takenPort() async throws {
        let store = try await BrowsedStore(library.store)
        let port = "\(try #require(store.address.port))"
        let run = try await Run("browse", library.store, "--port", port)
        #expect(run.status == 2 && run.errors.hasPrefix("Error: Port \(port) of 127.0.0.1 cannot be used: "), "\(run.errors)")
        #expect(run.errors.hasSuffix("Address already in use.\n"), "\(run.errors)")
    }

    @Test("only reads", arguments: ["POST", "PUT", "DELETE", "PATCH"])
    func methods(method: String) async throws {
        let store = try await BrowsedStore(library.store)
        #expect(try await store.get("api/store", method: method).status == 405)
    }

    @Test("says which entities there are, with their objects and properties")
    func overview() async throws {
        let answer = try await BrowsedStore(library.store).get("api/store")
        #expect(answer.status == 200 && answer.json["name"] as? String == "library.sqlite" && answer.json["hasHistory"] as? Bool == false)
        #expect(answer.list("entities").map { $0["name"] as? String } == ["Book", "Person"])
        #expect(answer.list("entities").map { $0["count"] as? Int } == [61, 2])
        let book = try #require(answer.list("entities").first)
        #expect((book["attributes"] as? [[String: Any]])?.map { $0["type"] as? String } == ["String?", "Integer 32"])
        #expect((book["relationships"] as? [[String: Any]])?.map { $0["type"] as? String } == ["[Person]"])
    }

    @Test("gives objects in pages, sorted, and those that satisfy a predicate")
    func rows() async throws {
        let store = try await BrowsedStore(library.store)
        func names(_ parameters: [String: String]) async throws -> ([String], Int?) {
            let answer = try await store.get("api/rows", parameters.merging(["entity": "Book"]) { $1 })
            let names = answer.list("objects").compactMap { ($0["attributes"] as? [String: Any])?["name"] as? String }
            return (names, answer.json["total"] as? Int)
        }
        let first = try await names(["limit": "2"])
        #expect(first == (["Emma", "Volume 0"], 61))
        let sorted = try await names(["sort": "pages", "descending": "1", "offset": "1", "limit": "2"])
        #expect(sorted == (["Volume 59", "Volume 58"], 61))
        let chosen = try await names(["predicate": "pages > 57 AND ANY authors.name CONTAINS[cd] 'emile'", "sort": "pages"])
        #expect(chosen == (["Volume 58", "Volume 59"], 2))
        #expect(try await names(["offset": "100"]).0.isEmpty)
    }

    @Test(
        "says what is wrong with a question",
        arguments: [
            (["entity": "Bok"], "The model has no entity Bok."), (["entity": "Book", "predicate": "pages >"], "pages >"),
            (["entity": "Book", "predicate": "colour = 1"], "“colour”"), (["entity": "Book", "sort": "authors"], "no attribute authors"),
            (["entity": "Book", "predicate": "pages = $x"], "x"), (["entity": "Book", "predicate": "FUNCTION(1, 'a') = 2"], "a"),
            ([:], "entity"),
        ]
    )
    func wrong(parameters: [String: String], sentence: String) async throws {
        let store = try await BrowsedStore(library.store)
        let answer = try await store.get("api/rows", parameters)
        #expect([400, 404].contains(answer.status) && (answer.json["error"] as? String)?.contains(sentence) == true, "\(answer.text)")
        #expect(try await store.get("api/store").status == 200)
    }

    // * From an author to all books, the second page of them, and back.
    @Test("leads along relationships, also where many are at their end")
    func relationships() async throws {
        let store = try await BrowsedStore(library.store)
        let people = try await store.get("api/rows", ["entity": "Person", "sort": "name"])
        let id = try #require(people.list("objects").first?["id"] as? String)
        let books = (people.list("objects").first?["relationships"] as? [String: Any])?["books"] as? [String: Any]
        #expect(books?["count"] as? Int == 60 && (books?["first"] as? [String])?.isEmpty == true)

        let author = try await store.get("api/object", ["id": id])
        let named = ((author.json["relationships"] as? [String: Any])?["books"] as? [String: Any])?["first"] as? [String]
        #expect(named?.count == 20)
        let rest = try await store.get("api/members", ["id": id, "relationship": "books", "offset": "50", "limit": "50"])
        #expect(rest.json["entity"] as? String == "Book" && rest.json["total"] as? Int == 60 && rest.list("objects").count == 10)
        let book = try #require(rest.list("objects").first?["id"] as? String)
        let back = try await store.get("api/members", ["id": book, "relationship": "authors"])
        #expect(back.list("objects").map { $0["id"] as? String } == [id])
        for parameters in [["id": "x-coredata://none/Book/p1"], ["id": id, "relationship": "no"], ["id": id + "0"]] {
            #expect(try await store.get("api/members", parameters).status != 200)
        }
    }

    @Test("draws the model")
    func picture() async throws {
        let picture = try await BrowsedStore(library.store).get("model.svg")
        #expect(picture.type.hasPrefix("image/svg+xml") && picture.text.contains(">authors</text>"))
    }

    // * The tables are those that Apple's Core Data makes: an object is inserted, then its name is changed, then another is deleted.
    @Test("shows the history of a store that has one, the latest save first, with what was changed")
    func history() async throws {
        #expect(try await BrowsedStore(library.store).get("api/history").status == 404)
        let texts = ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"]
        let columns = texts.map { "Z\($0)TS INTEGER, Z\($0) VARCHAR" }.joined(separator: ", ")
        try run(
            "CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)",
            "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, \(columns), ZQUERYGEN BLOB)",
            "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, "
                + "ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)",
            "INSERT INTO ATRANSACTIONSTRING (Z_PK, ZNAME) VALUES (1, 'importer')",
            "INSERT INTO ATRANSACTION (Z_PK, ZTIMESTAMP, ZAUTHORTS) VALUES (1, 0.5, NULL), (2, 1.000001, 1)",
            "INSERT INTO ACHANGE (ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) "
                + "VALUES (0, 1, 1, 1, NULL), (1, 1, 1, 2, x'40'), (2, 2, 9, 2, NULL)"
        )
        let store = try await BrowsedStore(library.store)
        #expect(try await store.get("api/store").json["hasHistory"] as? Bool == true)
        let history = try await store.get("api/history")
        let saves = history.list("transactions")
        #expect(history.json["total"] as? Int == 2 && saves.map { $0["number"] as? Int } == [2, 1], "\(history.text)")
        #expect(saves.first?["author"] as? String == "importer" && saves.first?["time"] as? String == "2001-01-01T00:00:01.000001Z")
        let changes = saves.first?["changes"] as? [[String: Any]] ?? []
        #expect(changes.map { $0["kind"] as? String } == ["update", "delete"] && changes.first?["properties"] as? [String] == ["name"])
        #expect((changes.last?["id"] as? String)?.hasSuffix("/Person/p9") == true)
        #expect(try await store.get("api/history", ["offset": "1"]).list("transactions").count == 1)
    }

    @Test("shows what others save meanwhile")
    func changes() async throws {
        let store = try await BrowsedStore(library.store)
        _ = try await store.get("api/rows", ["entity": "Book"])
        try run("UPDATE ZBOOK SET ZPAGES = 7777 WHERE Z_PK = 1")
        let rows = try await store.get("api/rows", ["entity": "Book", "predicate": "pages = 7777"])
        #expect((rows.list("objects").first?["attributes"] as? [String: Any])?["pages"] as? Int == 7777, "\(rows.text)")
    }

    @Test("ends when it is interrupted, and leaves nothing beside the store")
    func interruption() async throws {
        let before = try Data(contentsOf: library.folder.file("library.sqlite"))
        let store = try await BrowsedStore(library.store)
        _ = try await store.get("api/rows", ["entity": "Book"])
        #expect(await store.interrupt() == 0)
        #expect(try library.folder.contents() == ["Library.xcdatamodeld", "library.sqlite"])
        #expect(try Data(contentsOf: library.folder.file("library.sqlite")) == before)
    }

    @Test("says that a port is somebody else's, and what is no store")
    func refusals() async throws {
        let store = try await BrowsedStore(library.store)
        let taken = try await Run("browse", library.store, "--port", "\(store.address.port ?? 0)")
        #expect(taken.status == 2 && taken.errors.contains("Port \(store.address.port ?? 0)"), "\(taken.errors)")
        let none = try await Run("browse", library.folder.path("none.sqlite"))
        #expect(none.status == 2 && none.errors.contains(library.folder.path("none.sqlite")), "\(none.errors)")
    }
}

@Suite(
    "The page of coredata browse",
    .enabled(if: Browser.program != nil, "There is no Chromium: `apt-get install chromium` brings one.")
)
struct BrowsePageTests {
    /// A place on the page, in which PERSON stands for the ID of a person, and what is there.
    static let views = [
        ("#/entity/Book", ["Emma", "474", "1–1 of 1", "aria-current=\"page\""]),
        ("#/entity/Person?sort=name", ["&lt;img src=x onerror=document.title=1&gt;", "aria-sort=\"ascending\""]),
        ("#/object/PERSON", ["Person 1", "Book 1", "Set&lt;Book&gt;"]), ("#/members/PERSON/books", ["Emma", "› books"]),
        ("#/entity/Book?predicate=pages%20%3E", ["role=\"alert\""]), ("#/model", ["/model.svg\""]), ("", ["Emma"]),
    ]

    // * The name of a person is markup, which must stay text.
    @Test("shows objects, what they have, the end of a relationship, the model, and what is wrong with a predicate", arguments: views)
    func view(place: String, texts: [String]) async throws {
        let library = try LibraryStore()
        let connection = try Connection(path: library.store, mode: .readWrite)
        try connection.execute("UPDATE ZPERSON SET ZNAME = '<img src=x onerror=document.title=1>'")
        connection.close()
        let store = try await BrowsedStore(library.store)
        let id = try #require(try await store.get("api/rows", ["entity": "Person"]).list("objects").first?["id"] as? String)
        let escaped = try #require(id.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let address = store.address.absoluteString + place.replacingOccurrences(of: "PERSON", with: escaped)
        let dom = try await Browser.dom(of: address)
        for text in texts { #expect(dom.contains(text), "\(text) in \(dom.suffix(3000))") }
        #expect(!dom.contains("<title>1</title>"))
    }
}

private enum Browser {
    static let program = ["chromium", "chromium-browser", "google-chrome"].map { URL(fileURLWithPath: "/usr/bin/\($0)") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// What a page has become once its scripts are done.
    static func dom(of address: String) async throws -> String {
        let folder = try TemporaryFolder()
        let options = ["--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.url.path)", "--virtual-time-budget=10000"]
        return try await Run(#require(program), options + ["--dump-dom", address]).output
    }
}
