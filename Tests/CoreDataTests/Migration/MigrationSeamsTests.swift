import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

/// Deletes the second book as soon as all are made.
final class DeletingPolicy: NSEntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "n == '1'")
        try manager.destinationContext.fetch(request).forEach(manager.destinationContext.delete)
    }
}

@Suite("A migration among others")
struct MigrationSeamsTests {
    private let home: StoreHome
    private var target: URL { home.url().deletingLastPathComponent().appendingPathComponent("New.sqlite") }

    init() throws { home = try StoreHome(.file) }

    /// Readers, each of whom has a book and likes some, in an order.
    private func library(extra: Bool = false) -> NSManagedObjectModel {
        let (reader, book) = (NSEntityDescription("Reader", attribute("n")), NSEntityDescription("Book", attribute("n")))
        let (current, liked, likers) = (NSRelationshipDescription(), NSRelationshipDescription(), NSRelationshipDescription())
        (current.name, current.maxCount, current.destinationEntity) = ("current", 1, book)
        (liked.name, liked.isOrdered, liked.destinationEntity, liked.inverseRelationship) = ("liked", true, book, likers)
        (likers.name, likers.destinationEntity, likers.inverseRelationship) = ("likers", reader, liked)
        reader.properties += [current, liked]
        book.properties.append(likers)
        if extra { reader.properties.append(attribute("extra")) }
        let model = NSManagedObjectModel()
        model.entities = [reader, book]
        return model
    }

    private func fillLibrary() throws {
        let stack = try Stack(home.url(), library())
        let context = stack.newContext()
        for number in 0..<3 {
            let reader = NSEntityDescription.insertNewObject(forEntityName: "Reader", into: context)
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            for object in [reader, book] { object.setValue("\(number)", forKey: "n") }
            reader.setValue(book, forKey: "current")
        }
        let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        let reader = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Reader"))[0]
        reader.setValue(NSOrderedSet(array: books), forKey: "liked")
        try context.save()
        try stack.close()
    }

    // * A tool looks at a store, and another process migrates it before the tool has seen all.
    // => The tool sees the store as it was; nobody who wants the same migration finds half of another.
    @Test("is not seen by whoever looked at the store before")
    func lookedAt() throws {
        try fillLibrary()
        let inspector = try StoreInspector(url: home.url())
        defer { inspector.connection.close() }
        try #require(try StoreFileMigration(of: home.url(), to: library(extra: true))).run()
        #expect(inspector.isCompatible(with: library()))
        #expect(try inspector.rows("SELECT name FROM pragma_table_info('ZREADER') WHERE name = 'ZEXTRA'").isEmpty)
        #expect(try inspector.rows("PRAGMA integrity_check") == [[.text("ok")]])
        #expect(try StoreFileMigration(of: home.url(), to: library(extra: true)) == nil)
    }

    @Test("leaves out what a policy has deleted, wherever it was led to")
    func deletedByPolicy() throws {
        try fillLibrary()
        DeletingPolicy.register()
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: library(), destinationModel: library(extra: true))
        let books = try #require(mapping.entityMappings.first { $0.sourceEntityName == "Book" })
        books.mappingType = .customEntityMappingType
        books.entityMigrationPolicyClassName = NSStringFromClass(DeletingPolicy.self)
        mapping.entityMappings.sort { first, _ in first === books }
        try NSMigrationManager(sourceModel: library(), destinationModel: library(extra: true)).migrateStore(
            from: home.url(),
            sourceType: NSSQLiteStoreType,
            with: mapping,
            toDestinationURL: target,
            destinationType: NSSQLiteStoreType
        )
        #expect(try StoreInspector(url: target).problems() == [])
        let stack = try Stack(target, library(extra: true))
        let context = stack.newContext()
        let readers = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Reader"))
        let current = readers.map { ($0.value(forKey: "current") as? NSManagedObject)?.value(forKey: "n") as? String ?? "none" }
        #expect(current.sorted() == ["0", "2", "none"])
        #expect(readers.map { ($0.value(forKey: "liked") as? NSOrderedSet)?.count ?? -1 }.sorted() == [0, 0, 2])
        try stack.close()
    }

    @Test("lets tables and views of strangers be, with their triggers")
    func strangersTriggers() throws {
        try fillLibrary()
        let connection = try Connection(path: home.url().path, mode: .readWrite)
        try connection.execute(
            """
            CREATE TABLE notes (text, added);
            CREATE TRIGGER stamp AFTER INSERT ON notes BEGIN UPDATE notes SET added = 1 WHERE rowid = new.rowid; END;
            CREATE VIEW "two words" AS SELECT text FROM notes;
            CREATE TRIGGER through INSTEAD OF INSERT ON "two words" BEGIN INSERT INTO notes(text) VALUES(new.text); END;
            """
        )
        connection.close()
        try Stack(home.url(), library(extra: true), options: migrating).close()
        #expect(try home.sql("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == "2")
    }

    @Test("by objects leaves out what a relationship cannot lead to any more, as one by SQL does", arguments: [true, false])
    func leftTree(bySQL: Bool) throws {
        func model(_ isTree: Bool) -> NSManagedObjectModel {
            let (root, leaf) = (NSEntityDescription("Root"), NSEntityDescription("Leaf"))
            let (next, leader) = (NSRelationshipDescription(), NSRelationshipDescription())
            (next.name, next.maxCount, next.destinationEntity) = ("next", 1, root)
            (leader.name, leader.destinationEntity, leader.inverseRelationship) = ("leads", root, leader)
            root.properties = [attribute("n"), next, leader]
            if isTree { root.subentities = [leaf] } else { leaf.properties = [attribute("n")] }
            let model = NSManagedObjectModel()
            model.entities = [root, leaf]
            return model
        }
        let stack = try Stack(home.url(), model(true))
        let context = stack.newContext()
        let (root, leaf) = (
            NSEntityDescription.insertNewObject(forEntityName: "Root", into: context),
            NSEntityDescription.insertNewObject(forEntityName: "Leaf", into: context)
        )
        root.setValue(leaf, forKey: "next")
        root.setValue(Set([leaf, root]), forKey: "leads")
        try context.save()
        try stack.close()
        let manager = NSMigrationManager(sourceModel: model(true), destinationModel: model(false))
        manager.usesStoreSpecificMigrationManager = bySQL
        try manager.migrateStore(
            from: home.url(),
            sourceType: NSSQLiteStoreType,
            with: .inferredMappingModel(forSourceModel: model(true), destinationModel: model(false)),
            toDestinationURL: target,
            destinationType: NSSQLiteStoreType
        )
        #expect(try StoreInspector(url: target).problems() == [])
        let after = try Stack(target, model(false))
        let view = after.newContext()
        let found = try #require(try view.fetch(NSFetchRequest<NSManagedObject>(entityName: "Root")).first)
        #expect(found.value(forKey: "next") == nil && found.value(forKey: "leads") as? NSSet == [found])
        try after.close()
    }

    @Test("in stages refuses a handler that opens the store as the program does, instead of waiting for itself")
    func handlerOpens() throws {
        func model(_ names: String...) -> NSManagedObjectModel {
            let model = NSManagedObjectModel()
            let item = NSEntityDescription("Item")
            item.properties = names.map { attribute($0) }
            model.entities = [item]
            return model
        }
        try Stack(home.url(), model("a")).close()
        let references = [model("a"), model("a", "b")].map { NSManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum) }
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
        let manager = NSStagedMigrationManager([stage])
        let options = migrating.merging([NSPersistentStoreStagedMigrationManagerOptionKey: manager]) { $1 }
        let url = home.url()
        stage.willMigrateHandler = { _, _ in _ = try Stack(url, model("a", "b"), options: options) }
        let error = cocoaError(134110) { try Stack(url, model("a", "b"), options: options) }
        let text = "\(error as Any)"
        #expect(text.contains("handler of a stage opens the store"))
        stage.willMigrateHandler = nil
        try Stack(url, model("a", "b"), options: options).close()
    }

    // * One subentity has data that may be in files of their own, the other the same attribute without; the new version has it in their parent.
    // => A value that merely looks like such data stays what it is.
    @Test("tells data in files of their own from other data of the same column")
    func mixedData() throws {
        func model(isJoined: Bool) -> NSManagedObjectModel {
            func data(_ isExternal: Bool) -> NSAttributeDescription {
                let data = attribute("data", .binaryData)
                data.allowsExternalBinaryDataStorage = isExternal
                return data
            }
            let (parent, photo, note) = (NSEntityDescription("Parent"), NSEntityDescription("Photo"), NSEntityDescription("Note"))
            (photo.properties, note.properties) = isJoined ? ([], []) : ([data(true)], [data(false)])
            parent.properties = isJoined ? [attribute("title"), data(false)] : [attribute("title")]
            parent.subentities = [photo, note]
            let model = NSManagedObjectModel()
            model.entities = [parent, photo, note]
            return model
        }
        let (big, odd) = (Data(repeating: 7, count: 300_000), Data([2] + Array("0F9C6C0E-0000-4000-8000-000000000000".utf8) + [0]))
        let stack = try Stack(home.url(), model(isJoined: false))
        let context = stack.newContext()
        for (entity, value) in [("Photo", big), ("Note", odd)] {
            NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue(value, forKey: "data")
        }
        try context.save()
        try stack.close()
        let migrated = try Stack(home.url(), model(isJoined: true), options: migrating)
        let reader = migrated.newContext()
        for (entity, value) in [("Photo", big), ("Note", odd)] {
            let object = try #require(try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).first)
            #expect(object.value(forKey: "data") as? Data == value)
        }
        try migrated.close()
    }

    @Test("is backed up with the data that a store has in files of their own")
    func backup() throws {
        func model(extra: Bool = false) -> NSManagedObjectModel {
            let photo = NSEntityDescription("Photo")
            let data = attribute("data", .binaryData)
            data.allowsExternalBinaryDataStorage = true
            photo.properties = extra ? [data, attribute("title")] : [data]
            let model = NSManagedObjectModel()
            model.entities = [photo]
            return model
        }
        let stack = try Stack(home.url(), model())
        let context = stack.newContext()
        let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
        photo.setValue(Data(repeating: 7, count: 300_000), forKey: "data")
        try context.save()
        try stack.close()
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model(), destinationModel: model(extra: true))
        mapping.entityMappings[0].mappingType = .customEntityMappingType
        let migration = try #require(try MappedFileMigration(of: home.url(), to: model(extra: true), from: model(), by: mapping))
        let copy = home.url().appendingPathExtension("backup")
        try migration.backUp(to: copy)
        try migration.run()
        for (url, model) in [(copy, model()), (home.url(), model(extra: true))] {
            let stack = try Stack(url, model)
            let context = stack.newContext()
            let photo = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo"))[0]
            #expect((photo.value(forKey: "data") as? Data)?.count == 300_000)
            try stack.close()
        }
    }
}
