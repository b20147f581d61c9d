import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A schema of a new store")
struct SchemaTests {
    private func schema(_ entities: NSEntityDescription...) -> SQLSchema {
        let model = NSManagedObjectModel()
        model.entities = entities
        model.freeze()
        return SQLSchema(model: model, configuration: nil)
    }

    private func statements(_ schema: SQLSchema, about name: String) -> [String] {
        schema.creationStatements.filter { $0.contains(name) && $0.hasPrefix("CREATE") }
    }

    @Test("runs in SQLite, and reads back as it was written")
    func roundTrip() throws {
        let (author, book, comic) = (
            NSEntityDescription("Author", attribute("name")), NSEntityDescription("Book"), NSEntityDescription("Comic")
        )
        book.subentities = [comic]
        author.relate("books", to: book, many: true, ordered: true, inverse: book.relate("authors", to: author, many: true))
        author.relate("favourite", to: book)
        let model = NSManagedObjectModel(author, book, comic).frozen()
        let schema = SQLSchema(model: model, configuration: nil)

        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        try schema.creationStatements.forEach(connection.execute)
        let read = try SQLSchema(reading: connection, model: model, configuration: nil)
        #expect(read.creationStatements == schema.creationStatements)
        #expect(
            try connection.rows("SELECT * FROM Z_PRIMARYKEY ORDER BY Z_ENT") == [
                [.integer(1), .text("Author"), .integer(0), .integer(0)], [.integer(2), .text("Book"), .integer(0), .integer(0)],
                [.integer(3), .text("Comic"), .integer(2), .integer(0)],
            ]
        )
    }

    @Test("groups columns by kind, and in a group by entity and name")
    func columnOrder() {
        let types: [NSAttributeDescription.AttributeType] = [
            .binaryData, .transformable, .uuid, .uri, .string, .decimal, .date, .double, .boolean, .integer64,
        ]
        let entity = NSEntityDescription("A")
        entity.properties = types.enumerated().map { attribute("p\($0.offset)", $0.element) }
        let other = NSEntityDescription("B", attribute("p", .float), attribute("Z", .integer16))
        entity.subentities = [other]
        #expect(
            schema(entity, other).creationStatements[0]
                == "CREATE TABLE ZA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZP8 INTEGER, ZP9 INTEGER, ZZ INTEGER, "
                + "ZP6 TIMESTAMP, ZP7 FLOAT, ZP FLOAT, ZP5 DECIMAL, ZP4 VARCHAR, ZP3 VARCHAR, ZP2 BLOB, ZP1 BLOB, ZP0 BLOB )"
        )
    }

    @Test("numbers columns of siblings that collide, and uses the right one in each entity and index")
    func collision() {
        let (left, right) = (NSEntityDescription("Left", attribute("text")), NSEntityDescription("Right", attribute("text")))
        let last = NSEntityDescription("Z", attribute("TEXT"))
        let root = NSEntityDescription("Root", subentities: [right, last, left])
        right.uniquenessConstraints = [["text"]]
        let schema = schema(root, left, right, last)
        #expect(schema.entity(for: left).columns["text"]?.name == "ZTEXT")
        #expect(schema.entity(for: right).columns["text"]?.name == "ZTEXT1")
        #expect(schema.entity(for: last).columns["TEXT"]?.name == "ZTEXT2")
        #expect(
            statements(schema, about: "UNIQUE") == [
                "CREATE UNIQUE INDEX Z_Right_UNIQUE_text ON ZROOT (ZTEXT1 COLLATE BINARY ASC)"
            ]
        )
    }

    @Test("gives entities whose names differ only in case, or sound like the system's tables, tables of their own")
    func tableNames() throws {
        let entities = ["Tag", "TAG", "_metadata"].map { NSEntityDescription($0, attribute("_PK")) }
        let model = NSManagedObjectModel(entities[0], entities[1], entities[2]).frozen()
        let schema = SQLSchema(model: model, configuration: nil)
        #expect(entities.map { schema.entity(for: $0).table } == ["ZTAG1", "ZTAG", "Z_METADATA1"])
        #expect(schema.entity(for: entities[0]).columns["_PK"]?.name == "Z_PK1")
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        try schema.creationStatements.forEach(connection.execute)
        _ = try SQLSchema(reading: connection, model: model, configuration: nil)
    }

    @Test("knows an entity of another copy of the model for a stranger")
    func stranger() throws {
        let model = NSManagedObjectModel(NSEntityDescription("A")).frozen()
        let copy = try #require(model.copy() as? NSManagedObjectModel).frozen()
        let schema = SQLSchema(model: model, configuration: nil)
        #expect(schema.entityIfStored(model.entities[0]) != nil && schema.entityIfStored(copy.entities[0]) == nil)
        #expect(schema.entity(numbered: 0) == nil && schema.entity(numbered: 16_001) == nil)
    }

    @Test("puts the target's entity beside a foreign key that leads into a tree")
    func entityColumn() throws {
        let (leaf, middle) = (NSEntityDescription("Leaf"), NSEntityDescription("Middle"))
        let top = NSEntityDescription("Top", subentities: [middle])
        middle.subentities = [leaf]
        let owner = NSEntityDescription("Owner")
        top.relate("owner", to: owner, inverse: owner.relate("tops", to: top, many: true))
        for target in [top, middle, leaf] { owner.relate("to\(target.name ?? "")", to: target) }
        middle.relate("other", to: top, inverse: top.relate("others", to: middle, many: true))
        let schema = schema(owner, top, middle, leaf)
        let columns = schema.entity(for: owner).columns
        #expect(columns["toTop"]?.entityColumn == "Z2_TOTOP" && columns["toMiddle"]?.entityColumn == "Z2_TOMIDDLE")
        #expect(columns["toLeaf"] == SQLColumn(name: "ZTOLEAF", type: "INTEGER"))
        #expect(
            schema.entity(for: leaf).toMany["others"]
                == .foreignKey(table: "ZTOP", column: "ZOTHER", entityColumn: "Z2_OTHER", orderColumn: nil)
        )
        #expect(
            schema.entity(for: owner).toMany["tops"]
                == .foreignKey(table: "ZTOP", column: "ZOWNER", entityColumn: nil, orderColumn: nil)
        )
    }

    @Test("puts positions beside the foreign key of an ordered relationship")
    func ordered() {
        let (folder, item) = (NSEntityDescription("Folder"), NSEntityDescription("Item"))
        folder.relate("items", to: item, many: true, ordered: true, inverse: item.relate("folder", to: folder))
        let schema = schema(folder, item)
        #expect(
            schema.entity(for: folder).toMany["items"]
                == .foreignKey(table: "ZITEM", column: "ZFOLDER", entityColumn: nil, orderColumn: "Z_FOK_FOLDER")
        )
        #expect(schema.entity(for: item).columns["folder"]?.orderColumn == "Z_FOK_FOLDER")
        #expect(statements(schema, about: "FOK").count == 1)
    }

    @Test("keeps a to-many relationship without inverse as a foreign key in the destination's table")
    func withoutInverse() {
        let (asset, contributor) = (NSEntityDescription("Asset"), NSEntityDescription("Contributor"))
        asset.relate("libraryContributors", to: contributor, many: true)
        contributor.relate("participant", to: asset)
        let schema = schema(asset, contributor)
        #expect(
            statements(schema, about: "ON ZCONTRIBUTOR") == [
                "CREATE INDEX ZCONTRIBUTOR_ZPARTICIPANT_INDEX ON ZCONTRIBUTOR (ZPARTICIPANT)",
                "CREATE INDEX ZCONTRIBUTOR_Z1LIBRARYCONTRIBUTORS_INDEX ON ZCONTRIBUTOR (Z1LIBRARYCONTRIBUTORS)",
            ]
        )
        #expect(
            schema.entity(for: asset).toMany["libraryContributors"]
                == .foreignKey(table: "ZCONTRIBUTOR", column: "Z1LIBRARYCONTRIBUTORS", entityColumn: nil, orderColumn: nil)
        )
    }

    @Test("names a join table by the entity in a tree, with positions for each ordered side")
    func joinTable() {
        let (asset, album) = (NSEntityDescription("Asset"), NSEntityDescription("GenericAlbum", subentities: [NSEntityDescription("X")]))
        album.relate("assets", to: asset, many: true, ordered: true, inverse: asset.relate("albums", to: album, many: true, ordered: true))
        let schema = schema(asset, album, album.subentities[0])
        #expect(
            statements(schema, about: "Z_2ASSETS") == [
                "CREATE TABLE Z_2ASSETS ( Z_2ALBUMS INTEGER, Z_1ASSETS INTEGER, Z_FOK_2ALBUMS INTEGER, Z_FOK_1ASSETS INTEGER, "
                    + "PRIMARY KEY (Z_2ALBUMS, Z_1ASSETS) )",
                "CREATE INDEX Z_2ASSETS_Z_1ASSETS_INDEX ON Z_2ASSETS (Z_1ASSETS, Z_2ALBUMS)",
            ]
        )
        #expect(
            schema.entity(for: album.subentities[0]).toMany["assets"]
                == .joinTable(
                    name: "Z_2ASSETS",
                    ownerColumn: "Z_2ALBUMS",
                    targetColumn: "Z_1ASSETS",
                    orderColumn: "Z_FOK_1ASSETS",
                    inverseOrderColumn: "Z_FOK_2ALBUMS"
                )
        )
        #expect(
            schema.entity(for: asset).toMany["albums"]
                == .joinTable(
                    name: "Z_2ASSETS",
                    ownerColumn: "Z_1ASSETS",
                    targetColumn: "Z_2ALBUMS",
                    orderColumn: "Z_FOK_2ALBUMS",
                    inverseOrderColumn: "Z_FOK_1ASSETS"
                )
        )
    }

    @Test("keeps a relationship that is its own inverse in a table of two directions")
    func reflexive() {
        let person = NSEntityDescription("Person")
        let friends = person.relate("friends", to: person, many: true)
        friends.inverseRelationship = friends
        let schema = schema(person)
        #expect(
            statements(schema, about: "FRIENDS") == [
                "CREATE TABLE Z_1FRIENDS ( Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_1FRIENDS, REFLEXIVE) )",
                "CREATE INDEX Z_1FRIENDS_REFLEXIVE_INDEX ON Z_1FRIENDS (REFLEXIVE, Z_1FRIENDS)",
            ]
        )
        #expect(
            schema.entity(for: person).toMany["friends"]
                == .reflexive(name: "Z_1FRIENDS", column: "Z_1FRIENDS", otherColumn: "REFLEXIVE", orderColumn: nil)
        )
    }

    @Test("makes fetch indexes, but none for a single relationship, and quotes a name that SQL cannot read")
    func fetchIndexes() {
        let (a, b) = (NSEntityDescription("A", attribute("x"), attribute("y")), NSEntityDescription("B"))
        let relationship = a.relate("b", to: b)
        func index(_ name: String, _ properties: [NSPropertyDescription]) -> NSFetchIndexDescription {
            let elements = properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
            elements.last?.isAscending = false
            return NSFetchIndexDescription(name: name, elements: elements)
        }
        a.indexes = [index("by x", [a.properties[0], relationship]), index("byB", [relationship]), index("empty", [])]
        #expect(
            statements(schema(a, b), about: "Z_A") == [
                "CREATE INDEX \"Z_A_by x\" ON ZA (ZX COLLATE BINARY ASC, ZB COLLATE BINARY DESC)"
            ]
        )
    }

    // * Attributes say themselves that they are indexed: one of them alone, one that an index of the entity is over, one with a partial index, one whose
    //   name another index has, and a transient one. So it is in a copy of the entity, and in one of the model in use.
    @Test("has an index for an attribute that says it is indexed, where no other is over it alone")
    func indexedAttributes() throws {
        let entity = NSEntityDescription("A", attribute("v"), attribute("w"), attribute("x"), attribute("y"), attribute("z"))
        for property in entity.properties { property.isIndexed = true }
        entity.properties[0].isTransient = true
        func index(_ name: String, _ property: Int) -> NSFetchIndexDescription {
            let element = NSFetchIndexElementDescription(property: entity.properties[property], collationType: .binary)
            return NSFetchIndexDescription(name: name, elements: [element])
        }
        entity.indexes = [index("byW", 1), index("partial", 2), index("z", 3)]
        entity.indexes[1].partialIndexPredicate = NSPredicate(format: "x != nil")
        let copy = NSManagedObjectModel(try #require(entity.copy() as? NSEntityDescription)).frozen()
        let model = NSManagedObjectModel(entity).frozen()
        let later = try #require(model.copy() as? NSManagedObjectModel).frozen()
        for model in [model, copy, later] {
            let indexes = statements(SQLSchema(model: model, configuration: nil), about: "INDEX")
            #expect(
                indexes == [
                    "CREATE INDEX Z_A_byW ON ZA (ZW COLLATE BINARY ASC)", "CREATE INDEX Z_A_z ON ZA (ZY COLLATE BINARY ASC)",
                    "CREATE INDEX Z_A_x ON ZA (ZX COLLATE BINARY ASC)", "CREATE INDEX Z_A_z_indexed ON ZA (ZZ COLLATE BINARY ASC)",
                ]
            )
        }
    }

    // The configuration has the subentity only: its rows live in the root's table.
    @Test("of a configuration numbers its entities and their superentities, and leaves out what leads elsewhere")
    func configuration() {
        let (a, root, sub) = (NSEntityDescription("A"), NSEntityDescription("Root"), NSEntityDescription("Sub"))
        root.subentities = [sub]
        sub.relate("as", to: a, many: true, inverse: a.relate("subs", to: sub, many: true))
        sub.relate("a", to: a)
        let model = NSManagedObjectModel(a, root, sub)
        model.setEntities([sub], forConfigurationName: "Local")
        model.freeze()
        let schema = SQLSchema(model: model, configuration: "Local")
        #expect(schema.entities.map(\.description.name) == ["Root", "Sub"] && schema.entities.map(\.number) == [1, 2])
        #expect(schema.entityIfStored(a) == nil)
        #expect(schema.entity(for: sub).toMany.isEmpty && schema.entity(for: sub).columns["a"]?.name == "ZA")
        #expect(!schema.creationStatements.contains { $0.contains("ZA (") || $0.contains("SUBS") })
    }
}
