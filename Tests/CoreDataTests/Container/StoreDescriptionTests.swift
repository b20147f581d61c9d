import Foundation
import Testing

@testable import CoreData

@Suite("A store description")
struct StoreDescriptionTests {
    @Test("is of an SQLite store at /dev/null that migrates by itself, unless it says otherwise")
    func defaults() {
        let description = NSPersistentStoreDescription()
        #expect(description.type == NSSQLiteStoreType && description.url?.path == "/dev/null" && description.configuration == nil)
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        #expect(!description.isReadOnly && !description.shouldAddStoreAsynchronously && description.timeout == 30)
        #expect(Set(description.options.keys) == [NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption])
        #expect(description.sqlitePragmas.isEmpty)
    }

    @Test("has typed properties and options that are the same thing")
    func typedOptions() {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/ü.sqlite"))
        (description.isReadOnly, description.timeout, description.shouldMigrateStoreAutomatically) = (true, 1.5, false)
        #expect(description.options[NSReadOnlyPersistentStoreOption] == true as NSNumber)
        #expect(description.options[NSPersistentStoreTimeoutOption] == 1.5 as NSNumber)
        description.setOption(false as NSNumber, forKey: NSReadOnlyPersistentStoreOption)
        description.setOption(nil, forKey: NSPersistentStoreTimeoutOption)
        description.setOption("x" as NSString, forKey: "our own")
        #expect(!description.isReadOnly && description.timeout == 30 && description.options["our own"] == "x" as NSString)
        description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
        description.setValue(100 as NSNumber, forPragmaNamed: "cache_size")
        #expect(description.sqlitePragmas == ["journal_mode": "DELETE" as NSString, "cache_size": "100" as NSString])
        // copy() makes a description.
        let copy = description.copy() as! NSPersistentStoreDescription
        for name in ["journal_mode", "cache_size"] { description.setValue(nil, forPragmaNamed: name) }
        #expect(description.options[NSSQLitePragmasOption] == nil && copy.sqlitePragmas.count == 2 && copy.url == description.url)
    }

    @Test("reaches the database with its pragmas")
    func pragmas() throws {
        let home = try StoreHome(.file)
        let description = NSPersistentStoreDescription(url: home.url())
        description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
        description.setValue(1024 as NSNumber, forPragmaNamed: "page_size")
        try ContainerModel.coordinator().add(description)
        #expect(try home.sql("PRAGMA journal_mode; PRAGMA page_size") == "delete\n1024")
    }

    @Test("with a pragma that is none is refused")
    func badPragma() throws {
        let home = try StoreHome(.file)
        for value in ["x; DROP TABLE ZNOTE" as NSString, NSArray(), "" as NSString] as [NSObject] {
            let description = NSPersistentStoreDescription(url: home.url())
            description.setValue(value, forPragmaNamed: "cache_size")
            let error = #expect(throws: CocoaError.self) { try ContainerModel.coordinator().add(description) }
            #expect(error?.code == .persistentStoreOpen)
        }
    }

    // * A store is made with one model, and described for another, with migration switched off and on.
    // => It is refused with 134100, and stays as it was; or it is migrated.
    @Test("of a store of another model is refused with 134100 where it is not to be migrated", arguments: [true, false])
    func otherModel(migrates: Bool) throws {
        let home = try StoreHome(.file)
        try ContainerModel.coordinator().add(NSPersistentStoreDescription(url: home.url()))
        let description = NSPersistentStoreDescription(url: home.url())
        description.shouldMigrateStoreAutomatically = migrates
        let other = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(NSEntityDescription("Note", attribute("title"))))
        guard !migrates else {
            try other.add(description)
            return #expect(try home.sql("SELECT Z_NAME FROM Z_PRIMARYKEY") == "Note")
        }
        let error = #expect(throws: CocoaError.self) { try other.add(description) }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
        try ContainerModel.coordinator().add(NSPersistentStoreDescription(url: home.url()))
    }

    @Test("without a URL, of an unknown type or for an unknown configuration gives an error")
    func nonsense() throws {
        let home = try StoreHome(.file)
        let descriptions = (0..<3).map { _ in NSPersistentStoreDescription(url: home.url()) }
        (descriptions[0].url, descriptions[1].type, descriptions[2].configuration) = (nil, "Stone tablets", "Nowhere")
        let codes = descriptions.map { description in
            #expect(throws: CocoaError.self) { try ContainerModel.coordinator().add(description) }?.code
        }
        #expect(codes == [.persistentStoreOpen, .persistentStoreInvalidType, .persistentStoreOpen])
    }

    @Test("for an unknown configuration names those that there are", arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func unknownConfiguration(type: String) throws {
        let home = try StoreHome(.file)
        let description = NSPersistentStoreDescription(url: home.url())
        (description.type, description.configuration) = (type, "Default")
        let error = #expect(throws: CocoaError.self) { try ContainerModel.coordinator().add(description) }
        #expect(error?.localizedDescription.contains("“Default”. It has “Notes”, “Tags”, and nil stands for all") == true)
    }
}

enum ContainerModel {
    /// Notes and tags; `Notes` and `Tags` are configurations of one each.
    static func make() -> NSManagedObjectModel {
        let model = NSManagedObjectModel(NSEntityDescription("Note", attribute("text")), NSEntityDescription("Tag", attribute("name")))
        for entity in model.entities { model.setEntities([entity], forConfigurationName: "\(entity.name ?? "")s") }
        return model
    }

    static func coordinator() -> NSPersistentStoreCoordinator { NSPersistentStoreCoordinator(managedObjectModel: make()) }
}

extension NSPersistentStoreCoordinator {
    /// Adds a store at once.
    fileprivate func add(_ description: NSPersistentStoreDescription) throws {
        var result: (any Error)??
        addPersistentStore(with: description) { described, error in
            #expect(described === description)
            result = .some(error)
        }
        if let error = try #require(result) { throw error }
    }
}
