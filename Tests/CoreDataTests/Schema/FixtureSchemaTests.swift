import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A schema of a real store", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
struct FixtureSchemaTests {
    @Test(
        "makes the same tables and indexes, byte for byte",
        arguments: [
            ("samplemodel/SampleModel_V1.sqlite", "samplemodel/SampleModel.xcdatamodeld"),
            ("samplemodel/SampleModel_V2.sqlite", "samplemodel/SampleModel.xcdatamodeld"),
            ("testmodel-m2m/TestModel.sqlite", "testmodel-m2m/Sample.xcdatamodeld"),
            ("bookmarks/Bookmarks_V1.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
            ("bookmarks/Bookmarks_V3.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
            ("bookmarks/Bookmarks_V4.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
            ("wire/store2-60-0.wiredatabase", "wire/zmessaging.xcdatamodeld"),
        ]
    )
    func creation(store: String, bundle: String) throws {
        try Fixtures.withStore(store) { connection in
            let model = try Fixtures.model(in: bundle, of: connection)
            let ours = creations(of: SQLSchema(model: model, configuration: nil))
            let theirs = try creations(in: connection).filter { !Self.leftovers.contains($0) }
            #expect(ours.sorted().joined(separator: "\n") == theirs.sorted().joined(separator: "\n"))
        }
    }

    /// Indexes that no element of the XML describes: the files got them from versions of their models before the one they have now.
    private static let leftovers: Set = [
        "CREATE INDEX Z_BookmarkEntity_isPendingDeletion ON ZBOOKMARKENTITY (ZISPENDINGDELETION COLLATE BINARY ASC)",
        "CREATE INDEX ZADDRESSBOOKENTRY_ZLOCALIDENTIFIER_INDEX ON ZADDRESSBOOKENTRY (ZLOCALIDENTIFIER)",
    ]

    // In 2016 indexes had other names and no collation, and a uniqueness constraint was a clause of its table.
    @Test("has the same tables and indexes as one of an old framework, apart from the form", arguments: oldStores)
    func oldForm(store: String) throws {
        try Fixtures.withStore(store) { connection in
            let model = try Fixtures.model(in: "moody/Moody.xcdatamodeld", of: connection)
            let ours = creations(of: SQLSchema(model: model, configuration: nil)).filter { !$0.hasPrefix("CREATE UNIQUE") }
            let theirs = try creations(in: connection)
            #expect(ours.map(withoutForm).sorted().joined(separator: "\n") == theirs.map(withoutForm).sorted().joined(separator: "\n"))
        }
    }

    static let oldStores = ["moody/Moody.moody", "moody/Moody 2.moody", "moody/Moody 4.moody"]

    /// An index as table and columns; a table without its constraint clause.
    private func withoutForm(_ statement: String) -> String {
        if statement.hasPrefix("CREATE INDEX"), let place = statement.range(of: " ON ") {
            return statement[place.upperBound...].replacingOccurrences(of: " COLLATE BINARY ASC", with: "")
        }
        let clause = statement.range(of: ", CONSTRAINT ")
        return clause.map { statement[..<$0.lowerBound] + " )" } ?? statement
    }

    private func creations(of schema: SQLSchema) -> [String] { schema.creationStatements.filter { $0.hasPrefix("CREATE") } }

    private func creations(in connection: Connection) throws -> [String] {
        let rows = try connection.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index')")
        return rows.compactMap { if case .text(let sql) = $0[0] { sql } else { nil } }
    }

    // A query of every column of every entity, and of every join table, runs.
    @Test(
        "names what is in the file when it is read from there",
        arguments: [
            ("samplemodel/SampleModel_V1.sqlite", "samplemodel/SampleModel.xcdatamodeld"),
            ("samplemodel/SampleModel_V2.sqlite", "samplemodel/SampleModel.xcdatamodeld"),
            ("testmodel-m2m/TestModel.sqlite", "testmodel-m2m/Sample.xcdatamodeld"),
            ("bookmarks/Bookmarks_V4.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
            ("moody/Moody 2.moody", "moody/Moody.xcdatamodeld"),
            ("wire/store2-60-0.wiredatabase", "wire/zmessaging.xcdatamodeld"),
        ]
    )
    func reading(store: String, bundle: String) throws {
        try Fixtures.withStore(store) { connection in
            let model = try Fixtures.model(in: bundle, of: connection)
            let schema = try SQLSchema(reading: connection, model: model, configuration: nil)
            #expect(schema.entities.count == model.entities.count)
            for entity in schema.entities {
                #expect(schema.entity(numbered: entity.number) === entity && schema.entity(for: entity.description) === entity)
                #expect(Set(entity.columns.keys) == Set(entity.description.storedProperties.map(\.name)))
                #expect(Set(entity.toMany.keys) == Set(entity.description.toManyRelationships.map(\.name)))
                let columns = entity.columns.values.flatMap { [$0.name, $0.entityColumn, $0.orderColumn].compactMap { $0 } }
                try run("SELECT \((["Z_PK"] + columns).joined(separator: ", ")) FROM \(entity.table) LIMIT 1", on: connection)
                for relationship in entity.toMany.values { try run(query(of: relationship), on: connection) }
            }
        }
    }

    private func run(_ sql: String, on connection: Connection) throws { _ = try connection.rows(sql) }

    private func query(of relationship: SQLToMany) -> String {
        let (table, columns): (String, [String?]) =
            switch relationship {
            case .foreignKey(let table, let column, let entityColumn, let orderColumn): (table, [column, entityColumn, orderColumn])
            case .joinTable(let name, let owner, let target, let order, let inverseOrder): (name, [owner, target, order, inverseOrder])
            case .reflexive(let name, let column, let otherColumn, let order): (name, [column, otherColumn, order])
            }
        return "SELECT \(columns.compactMap { $0 }.joined(separator: ", ")) FROM \(table) LIMIT 1"
    }

    // Apple's migration to the model with LuxuryCar left ExpensiveSportCar in Z_PRIMARYKEY.
    @Test("finds an entity under the name that it had before a migration")
    func renamedEntity() throws {
        try Fixtures.withStore("samplemodel/SampleModel_V2.sqlite") { connection in
            let model = try Fixtures.model(in: "samplemodel/SampleModel.xcdatamodeld", of: connection)
            let schema = try SQLSchema(reading: connection, model: model, configuration: nil)
            #expect(schema.entity(numbered: 3)?.description.name == "LuxuryCar")
            #expect(schema.entity(numbered: 3)?.superNumber == 2 && schema.entity(numbered: 3)?.rootNumber == 1)
        }
    }

    @Test(
        "names the missing column, table, or entity of a file that lacks one",
        arguments: [
            ("ALTER TABLE ZMESSAGE RENAME COLUMN ZTEXT1 TO ZTEXT2", "ZTEXT1"),
            ("DROP TABLE ZTEAM", "ZTEAM"),
            ("DROP TABLE Z_14USERS", "Z_14USERS"),
            ("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Team'", "Team"),
            ("UPDATE Z_PRIMARYKEY SET Z_NAME = x'00' WHERE Z_NAME = 'User'", "User"),
        ]
    )
    func missing(change: String, name: String) throws {
        try Fixtures.withStore("wire/store2-60-0.wiredatabase") { connection in
            let model = try Fixtures.model(in: "wire/zmessaging.xcdatamodeld", of: connection)
            try connection.execute(change)
            let error = #expect(throws: CocoaError.self) { try SQLSchema(reading: connection, model: model, configuration: nil) }
            #expect(error?.code == .persistentStoreIncompatibleSchema)
            #expect((error?.userInfo[NSLocalizedDescriptionKey] as? String)?.contains(name) == true)
        }
    }

    // Files differ in which side names the table of a pair within one entity, and in where the suffix of a collision is.
    @Test("follows a file that names a join table by the other relationship, or numbers colliding columns otherwise")
    func otherNames() throws {
        try Fixtures.withStore("wire/store2-60-0.wiredatabase") { connection in
            let model = try Fixtures.model(in: "wire/zmessaging.xcdatamodeld", of: connection)
            try connection.execute(
                """
                ALTER TABLE Z_18TRUSTEDCLIENTS RENAME TO Z_18TRUSTEDBYCLIENTS;
                ALTER TABLE Z_11USERS RENAME COLUMN Z_17USERS1 TO Z_17USERS;
                ALTER TABLE Z_14USERS RENAME COLUMN Z_17USERS TO Z_17USERS12;
                """
            )
            let schema = try SQLSchema(reading: connection, model: model, configuration: nil)
            let client = schema.entity(for: try #require(model.entitiesByName["UserClient"]))
            #expect(
                client.toMany["trustedClients"]
                    == .joinTable(
                        name: "Z_18TRUSTEDBYCLIENTS",
                        ownerColumn: "Z_18TRUSTEDBYCLIENTS",
                        targetColumn: "Z_18TRUSTEDCLIENTS",
                        orderColumn: nil,
                        inverseOrderColumn: nil
                    )
            )
            let user = schema.entity(for: try #require(model.entitiesByName["User"]))
            #expect(
                user.toMany["reactions"]
                    == .joinTable(
                        name: "Z_14USERS",
                        ownerColumn: "Z_17USERS12",
                        targetColumn: "Z_14REACTIONS",
                        orderColumn: nil,
                        inverseOrderColumn: nil
                    )
            )
        }
    }
}
