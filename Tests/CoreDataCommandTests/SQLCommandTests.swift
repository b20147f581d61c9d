import CoreData
import Foundation
import TestSupport
import Testing

@Suite("coredata store sql")
struct SQLCommandTests {
    private let library: LibraryStore
    private var store: String { library.store }

    init() throws { library = try LibraryStore() }

    private func sql(_ arguments: String...) async throws -> Run { try await Run(["store", "sql", store] + arguments) }

    @Test("prints the rows of all statements of a text, each under the names of its columns")
    func statements() async throws {
        let run = try await sql("SELECT 1 AS one, 'a;b' AS text; -- a comment;\nSELECT NULL, x'0aff' AS data;; ")
        #expect(run.status == 0 && run.output == "one\ttext\n1\ta;b\n\nNULL\tdata\n\t0aff\n", "\(run.errors)")
        #expect(try await sql("SELECT 1; SELECT 2", "--no-header").output == "1\n\n2\n")
        #expect(try await sql("SELECT 1 WHERE 0").output == "1\n")
        #expect(try await sql("-- nothing").output.isEmpty)
    }

    @Test("prints comma-separated values, with quotation marks where they are needed")
    func csv() async throws {
        let run = try await sql("SELECT 'a,b' AS \"x,y\", 'say \"hi\"' b, '' c, NULL d, 1.5 e, 'plain' f", "--csv")
        #expect(run.output == "\"x,y\",b,c,d,e,f\n\"a,b\",\"say \"\"hi\"\"\",\"\",,1.5,plain\n", "\(run.errors)")
        #expect(try await sql("SELECT 1", "--csv", "--json").status == 64)
    }

    @Test("prints each row as an object in JSON, whatever is in it")
    func json() async throws {
        let run = try await sql("SELECT 1 a, 'q\"\\' || char(10) || char(1) || 'é' a, NULL b, 9e999 c, x'00' d", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        #expect(object?["a"] as? Int == 1 && object?["a:2"] as? String == "q\"\\\n\u{1}é" && object?["b"] is NSNull, "\(run.output)")
        #expect(object?["c"] as? String == "inf" && (object?["d"] as? [String: String])?["base64"] == "AA==")
        #expect(run.lines.count == 1 && run.output.hasPrefix("{\"a\":1,"))
    }

    @Test("knows entities and properties by the model that the store carries, and by another's file")
    func names() async throws {
        for rest in [[], ["--model", library.model]] {
            let run = try await Run(["store", "sql", store, "SELECT {Book.name}, {Book}.{Book.pages}, '{Book}' x FROM {Book}"] + rest)
            #expect(run.status == 0 && run.output == "ZNAME\tZPAGES\tx\nEmma\t474\t{Book}\n", "\(run.errors)")
        }
        #expect(try await sql("SELECT count(*) FROM {Book} b JOIN {Person} p -- {no}", "--no-header").output == "1\n")
    }

    @Test("says of a misspelt name which entity is meant, and what is near")
    func typos() async throws {
        let entity = try await sql("SELECT * FROM {Bok}")
        #expect(entity.status == 2 && entity.errors == "Error: The model has no entity Bok. Is Book meant?\n", "\(entity.errors)")
        let property = try await sql("SELECT {Book.pgaes} FROM {Book}")
        #expect(property.errors == "Error: Entity Book has no property pgaes in the store. Is pages meant?\n", "\(property.errors)")
        let other = try await sql("SELECT {Book.x} FROM {Book}")
        #expect(other.errors == "Error: Entity Book has no property x in the store. There are authors, name, pages.\n", "\(other.errors)")
        #expect(try await sql("SELECT {Book").errors.hasPrefix("Error: A name in braces has no end: {Book"))
    }

    // * Both ends of a tree are columns of one table, and the one of the members is not the one of the whole.
    @Test("tells where a to-many relationship is, which is no column of its entity")
    func toMany() async throws {
        let node = NSEntityDescription.named("Node", attributes: ["name"])
        let (parent, children) = (NSRelationshipDescription(), NSRelationshipDescription())
        (parent.name, parent.maxCount, parent.destinationEntity, parent.inverseRelationship) = ("parent", 1, node, children)
        (children.name, children.destinationEntity, children.inverseRelationship) = ("children", node, parent)
        node.properties += [parent, children]
        let model = NSManagedObjectModel()
        model.entities = [node]
        let store = library.folder.file("tree.sqlite").path
        try fillStore(at: URL(fileURLWithPath: store), of: model) { context in
            NSEntityDescription.insertNewObject(forEntityName: "Node", into: context).setValue("root", forKey: "name")
        }
        let members = try await Run("store", "sql", store, "SELECT {Node.children} FROM {Node}")
        #expect(members.status == 2)
        #expect(members.errors == "Error: Node.children is to-many, and no column of Node: ZNODE.ZPARENT has it.\n", "\(members.errors)")
        #expect(try await Run("store", "sql", store, "SELECT {Node.name} FROM {Node} WHERE {Node.parent} IS NULL").lines.last == "root")
    }

    // * Base, Sub and Other share a table, and only Sub has subentities.
    @Test("has in an entity its rows and those of its subentities, and neither rows nor columns of others in the table")
    func families() async throws {
        let root = NSEntityDescription.named("Root", attributes: ["name"])
        let sub = NSEntityDescription.named("Sub", attributes: ["own"])
        let (leaf, other) = (NSEntityDescription.named("Leaf"), NSEntityDescription.named("Order", attributes: ["secret"]))
        (root.subentities, sub.subentities) = ([sub, other], [leaf])
        let model = NSManagedObjectModel()
        model.entities = [root, sub, leaf, other]
        let store = library.folder.file("family.sqlite")
        try fillStore(at: store, of: model) { context in
            for name in ["Root", "Sub", "Leaf", "Order"] {
                NSEntityDescription.insertNewObject(forEntityName: name, into: context).setValue(name, forKey: "name")
            }
        }
        func names(_ entity: String) async throws -> [String] {
            try await Run("store", "sql", store.path, "SELECT {\(entity).name} FROM {\(entity)} ORDER BY 1", "--no-header").lines
        }
        #expect(try await names("Root") == ["Leaf", "Order", "Root", "Sub"])
        #expect(try await names("Sub") == ["Leaf", "Sub"])
        #expect(try await names("Order") == ["Order"])
        let all = try await Run("store", "sql", store.path, "SELECT * FROM {Sub} LIMIT 1")
        #expect(all.lines.first == "Z_PK\tZ_ENT\tZ_OPT\tZNAME\tZOWN", "\(all.errors)")
    }

    // * The rows are 600 MB of text; the program may have 450 MB of memory with all of its libraries.
    @Test("prints rows as they come, in bounded memory")
    func streaming() async throws {
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, hex(zeroblob(100000)) FROM n"
        let command = Places.products.appendingPathComponent("coredata").path
        let script = "ulimit -v 460800; \"$0\" store sql \"$1\" \"$2\" > /dev/null"
        let run = try await Run(URL(fileURLWithPath: "/bin/sh"), ["-c", script, command, store, rows])
        #expect(run.status == 0 && !run.crashed, "\(run.errors)")
    }

    @Test("reads the statements from standard input, where the text is a dash")
    func standardInput() async throws {
        let command = Places.products.appendingPathComponent("coredata").path
        let script = "echo 'SELECT 1; SELECT 2' | \"$0\" store sql \"$1\" - --no-header"
        let run = try await Run(URL(fileURLWithPath: "/bin/sh"), ["-c", script, command, store])
        #expect(run.output == "1\n\n2\n", "\(run.errors)")
        let none = try await Run(URL(fileURLWithPath: "/bin/sh"), ["-c", "\"$0\" store sql \"$1\" - < /tmp", command, store])
        #expect(none.status == 2 && none.errors == "Error: Standard input cannot be read.\n", "\(none.errors)")
    }

    @Test(
        "says of what would change the store or the connection that it is only read",
        arguments: ["DELETE FROM ZBOOK", "DELETE FROM {Book}", "PRAGMA user_version = 5", "ATTACH 'other.sqlite' AS other"]
    )
    func changing(statement: String) async throws {
        let run = try await sql(statement)
        let said = "\(store) is only read, and this would change something: \(statement.replacing("{Book}", with: "\"Book\""))"
        #expect(run.status == 2 && run.errors.contains(said), "\(run.errors)")
    }

    @Test("names the store and the statement, where SQL is wrong")
    func wrong() async throws {
        let run = try await sql("SELECT colour FROM ZBOOK")
        #expect(run.status == 2 && run.errors.contains(store) && run.errors.contains("no such column: colour"), "\(run.errors)")
    }
}

extension NSEntityDescription {
    /// An entity with optional texts.
    fileprivate static func named(_ name: String, attributes: [String] = []) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
            return attribute
        }
        return entity
    }
}
