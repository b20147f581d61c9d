import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Coordinators and stores side by side.
extension ContractTests {
    @Test("is seen by several coordinators at a time", arguments: ContractKind.allCases)
    func coordinators(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let first = try home.open()
        try home.require(.severalProcesses, "severalProcesses", first)
        let second = try home.open()
        let book = Book(context: first)
        book.title = "T"
        try first.save()
        #expect(try second.all(Book.self).map(\.title) == ["T"])
    }

    @Test("keeps metadata", arguments: ContractKind.allCases.filter { $0 != .dictionary })
    func metadata(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = coordinator.persistentStores[0]
        let uuid = store.identifier
        coordinator.setMetadata(["mine": "value"], for: store)
        try context.save()
        let other = try #require(try home.reopened(context).persistentStoreCoordinator)
        let metadata = other.metadata(for: other.persistentStores[0])
        #expect(metadata["mine"] as? String == "value")
        #expect(metadata[NSStoreUUIDKey] as? String == uuid && metadata[NSStoreTypeKey] as? String == kind.type)
        #expect(other.persistentStores[0].type == kind.type && other.persistentStores[0].identifier == uuid)
    }

    @Test("is one of two for the configurations of a model", arguments: ContractKind.allCases.filter { $0 != .memory })
    func configurations(_ kind: ContractKind) throws {
        let model = LibraryModel.make()
        for (name, entities) in [("books", ["Book", "Chapter"]), ("others", ["Tag", "Person", "Author", "Desk"])] {
            model.setEntities(entities.compactMap { model.entitiesByName[$0] }, forConfigurationName: name)
        }
        let home = try ContractHome(kind, model: model)
        func open() throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            for name in ["books", "others"] {
                try coordinator.addPersistentStore(ofType: kind.type, configurationName: name, at: home.folder.file(name))
            }
            return home.context(on: coordinator)
        }
        let context = try open()
        let (book, chapter, tag) = (Book(context: context), Chapter(context: context), Tag(context: context))
        (book.title, chapter.book, tag.label) = ("b", book, "t")
        try context.save()
        let other = try open()
        let found = try #require(try other.all(Book.self).first)
        #expect(try found.chapters.count == 1 && other.all(Tag.self).map(\.label) == ["t"])
        found.tags = Set(try other.all(Tag.self))
        #expect(throws: CocoaError.self) { try other.save() }
    }

    @Test("opens again, as itself, whatever its metadata were set to", arguments: ContractKind.allCases.filter { $0 != .dictionary })
    func noMetadata(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
        let (uuid, url) = (store.identifier, try #require(store.url))
        for metadata in [nil, [:], [NSStoreUUIDKey: "other", NSStoreTypeKey: "none"]] as [[String: Any]?] {
            store.metadata = metadata
            #expect(store.metadata[NSStoreUUIDKey] as? String == uuid && store.metadata[NSStoreTypeKey] as? String == kind.type)
            try context.save()
            let other = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
            #expect(try other.addPersistentStore(ofType: kind.type, configurationName: nil, at: url).identifier == uuid)
        }
        withExtendedLifetime(home) {}
    }

    // * A store of the kind and one in SQLite are saved together, and the SQLite one refuses its part.
    // => Neither has anything of it, and both can be saved afterwards.
    @Test("saves nothing where another store of the coordinator refuses its part", arguments: ContractKind.allCases)
    func severalStores(_ kind: ContractKind) throws {
        let model = LibraryModel.make()
        model.setEntities(
            ["Book", "Chapter", "Tag", "Person", "Author", "Desk"].compactMap { model.entitiesByName[$0] },
            forConfigurationName: "all"
        )
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["label"]]
        let home = try ContractHome(kind, model: model)
        let coordinator = try home.coordinator()
        let file = home.folder.file("Other.sqlite")
        let other = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "all", at: file)
        let context = home.context(on: coordinator)
        let book = Book(context: context)
        book.title = "B"
        context.assign(book, to: coordinator.persistentStores[0])
        let tags = (0..<2).map { _ in
            let tag = Tag(context: context)
            tag.label = "same"
            context.assign(tag, to: other)
            return tag
        }
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(try home.context(on: coordinator).all(Book.self).isEmpty)
        tags[1].label = "another"
        try context.save()
        let reader = home.context(on: coordinator)
        #expect(try reader.all(Book.self).map(\.title) == ["B"])
        #expect(try reader.all(Tag.self).count == 2)
    }
}
