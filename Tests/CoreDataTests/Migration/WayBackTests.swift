import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A store that a newer version of the program has migrated, opened by an older one")
struct WayBackTests {
    private let home: StoreHome
    private let name: String

    init() throws {
        home = try StoreHome(.file)
        name = UUID().uuidString
    }

    private func version(_ keys: String...) -> NSManagedObjectModel { Self.version(name, keys) }

    private static func version(_ name: String, _ keys: [String]) -> NSManagedObjectModel {
        let note = NSEntityDescription("Note")
        note.properties = keys.map { attribute($0) }
        note.versionHashModifier = name
        return NSManagedObjectModel(note)
    }

    /// Makes a store of the first version, in which the second has put what only it knows.
    private func migrateForward() throws {
        try Stack(home.url(), version("text")).close()
        try migrateToSecond()
    }

    private func migrateToSecond() throws {
        let stack = try Stack(home.url(), version("text", "color"), options: migrating)
        let context = stack.newContext()
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValuesForKeys(["text": "kept", "color": "red"])
        try context.save()
        try stack.close()
    }

    private var colors: String { get throws { try home.sql("SELECT group_concat(ZCOLOR) FROM ZNOTE") } }

    @Test("is refused with 134130 where that knows nothing of the newer version, and is what it was")
    func refused() throws {
        try migrateForward()
        let error = cocoaError(134130) { try Stack(home.url(), version("text"), options: migrating) }
        #expect(error?.localizedDescription.contains("would be lost on the way back") == true)
        #expect(try colors == "red")
        try Stack(home.url(), version("text", "color")).close()
    }

    @Test("is refused over several versions, and goes on to the next one")
    func versions() throws {
        try migrateForward()
        try Stack(home.url(), version("text", "color", "size"), options: migrating).close()
        cocoaError(134130) { try Stack(home.url(), version("text", "color"), options: migrating) }
        cocoaError(134130) { try Stack(home.url(), version("text"), options: migrating) }
        try Stack(home.url(), version("text", "color", "size", "date"), options: migrating).close()
        #expect(try colors == "red")
    }

    // * A store goes from the first version to the third at once, and a program of the second, which knows neither, takes it to its own.
    @Test("goes forward again where a version that was skipped has taken it")
    func taken() throws {
        try Stack(home.url(), version("text")).close()
        try Stack(home.url(), version("text", "color", "size"), options: migrating).close()
        try migrateToSecond()
        try Stack(home.url(), version("text", "color", "size"), options: migrating).close()
        #expect(try colors == "red")
        cocoaError(134130) { try Stack(home.url(), version("text"), options: migrating) }
    }

    enum Change: CaseIterable {
        case removed, renamed, shuffled, modified, ordered, completed

        var isLossless: Bool { [.removed, .renamed].contains(self) }

        /// A second version.
        func make(_ note: NSEntityDescription, _ text: NSAttributeDescription, _ notes: NSRelationshipDescription) {
            switch self {
            case .removed: note.properties.removeAll { $0.name == "draft" }
            case .renamed: (text.name, text.renamingIdentifier) = ("body", "text")
            case .shuffled:
                (text.name, text.renamingIdentifier) = ("body", "text")
                note.properties.append(attribute("text"))
            case .modified: text.versionHashModifier = "encrypted"
            case .ordered: notes.isOrdered = true
            case .completed: (text.isOptional, text.defaultValue) = (true, nil)
            }
        }
    }

    private func changed(_ change: Change?) -> NSManagedObjectModel {
        let (note, text, notes) = (NSEntityDescription("Note"), attribute("text"), NSRelationshipDescription())
        (text.isOptional, text.defaultValue) = (false, "none")
        (notes.name, notes.destinationEntity) = ("notes", note)
        note.properties = [text, attribute("draft"), notes]
        note.versionHashModifier = name
        change?.make(note, text, notes)
        return NSManagedObjectModel(note)
    }

    @Test("goes back where nothing is lost on the way, and else not", arguments: Change.allCases)
    func whole(change: Change) throws {
        let stack = try Stack(home.url(), changed(nil))
        let context = stack.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("kept", forKey: "text")
        try context.save()
        try stack.close()
        try Stack(home.url(), changed(change), options: migrating).close()
        guard change.isLossless else { return _ = cocoaError(134130) { try Stack(home.url(), changed(nil), options: migrating) } }
        try Stack(home.url(), changed(nil), options: migrating).close()
        #expect(try home.sql("SELECT ZTEXT FROM ZNOTE") == "kept")
    }

    // * What a document has behind it counts for the database that it becomes.
    @Test("is refused where it was a document when it was migrated")
    func document() throws {
        let name = name
        NSManagedObjectModel.register(name) { Self.version(name, ["text"]) }
        let stacks = [version("text"), version("text", "color")].map { Stack($0) }
        let folder = try TemporaryFolder()
        let url = folder.file("document")
        for stack in stacks {
            try stack.coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: url, options: migrating)
        }
        let document = stacks[1].coordinator.persistentStores[0]
        try stacks[1].coordinator.migratePersistentStore(document, to: home.url(), type: .sqlite)
        try stacks[1].close()
        cocoaError(134130) { try Stack(home.url(), version("text"), options: migrating) }
    }

    // * The program carries both versions, as one whose current version was set back in Xcode.
    @Test("goes back where the program has the newer version, too")
    func known() throws {
        try migrateForward()
        let name = name
        NSManagedObjectModel.register(name) { Self.version(name, ["text", "color"]) }
        try Stack(home.url(), version("text"), options: migrating).close()
        #expect(try home.sql("SELECT ZTEXT FROM ZNOTE") == "kept")
        // It has never left that version now.
        try Stack(home.url(), version("text", "size"), options: migrating).close()
    }

    @Test("goes back by a tool that is told to, and forward again")
    func told() throws {
        try migrateForward()
        try StoreFileMigration(of: home.url(), to: version("text"))?.run()
        try Stack(home.url(), version("text", "color"), options: migrating).close()
        #expect(try home.sql("SELECT ZTEXT FROM ZNOTE") == "kept")
        cocoaError(134130) { try Stack(home.url(), version("text"), options: migrating) }
    }

    enum Deed: CaseIterable { case notesOfOpen, notesOfClosed, emptied, moved }

    @Test("is refused whatever is done with its metadata", arguments: Deed.allCases)
    func kept(deed: Deed) throws {
        try migrateForward()
        var url = home.url()
        let stack = try Stack(url, version("text", "color"))
        let store = stack.coordinator.persistentStores[0]
        switch deed {
        case .notesOfOpen:
            store.metadata = ["note": "mine"]
            let context = stack.newContext()
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            try context.save()
        case .notesOfClosed:
            try NSPersistentStoreCoordinator.setMetadata(["note": "mine"], forPersistentStoreOfType: NSSQLiteStoreType, at: url)
        case .emptied: try stack.coordinator.emptyPersistentStore(store)
        case .moved:
            url = home.url("moved")
            try stack.coordinator.migratePersistentStore(store, to: url, type: .sqlite)
        }
        try stack.close()
        cocoaError(134130) { try Stack(url, version("text"), options: migrating) }
    }

    @Test("is refused where a mapping model has led away from its version")
    func mapped() throws {
        let (shop, url) = (Shop(), home.url())
        for model in [shop.old, shop.new] { for entity in model.entities { entity.versionHashModifier = name } }
        try shop.fill(url)
        let source = SourceModelSearch.Found(model: shop.old, configuration: nil)
        let site = StoreSite(url: url, type: NSSQLiteStoreType)
        try MigrationInPlace(site: site, source: source, model: shop.new, mapping: shop.mapping(policy: JoiningPolicy.self)).run()
        cocoaError(134130) { try Stack(url, shop.old, options: migrating) }
        #expect(try shop.contents(url) == Shop.migrated)
    }
}
