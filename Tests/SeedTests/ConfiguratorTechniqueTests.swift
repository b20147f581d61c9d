import CoreData
import Foundation
import Testing

// The technique as an app would write it for itself. `CoreDataStack` has it ready to use.

private protocol PersistentStoreDescriptionConfigurator {
    func configure(_ description: NSPersistentStoreDescription) throws
}

private struct SQLitePersistentStoreDescriptionConfigurator: PersistentStoreDescriptionConfigurator {
    private let fileURL: URL

    init(directory: URL, name: String) {
        self.init(
            fileURL: directory.appendingPathComponent(name, isDirectory: true).appendingPathComponent(name).appendingPathExtension("sqlite")
        )
    }

    init(fileURL: URL) {
        self.fileURL = fileURL
    }

    func configure(_ description: NSPersistentStoreDescription) throws {
        description.type = NSSQLiteStoreType
        description.shouldInferMappingModelAutomatically = true
        description.shouldMigrateStoreAutomatically = true
        description.shouldAddStoreAsynchronously = false
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSSQLiteAnalyzeOption)
        let directory = fileURL.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true, attributes: nil)
        description.url = fileURL
    }
}

/// Several configurators as one.
private struct Composite: PersistentStoreDescriptionConfigurator {
    let parts: [PersistentStoreDescriptionConfigurator]

    func configure(_ description: NSPersistentStoreDescription) throws {
        try parts.forEach { try $0.configure(description) }
    }
}

/// What one business domain adds.
private struct ShortTimeout: PersistentStoreDescriptionConfigurator {
    func configure(_ description: NSPersistentStoreDescription) { description.timeout = 5 }
}

private final class FeatureContainer: NSPersistentContainer, @unchecked Sendable {}

extension NSPersistentContainer {
    fileprivate static func makePersistentContainer<P: NSPersistentContainer>(
        named name: String,
        for model: NSManagedObjectModel,
        configurator: PersistentStoreDescriptionConfigurator
    ) throws -> P {
        let persistentContainer = P(name: name, managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        try configurator.configure(description)
        persistentContainer.persistentStoreDescriptions = [description]
        return persistentContainer
    }

    fileprivate static func makePersistentContainer<P: NSPersistentContainer>(
        forModelsInBundle bundle: Bundle,
        configurator: PersistentStoreDescriptionConfigurator
    ) throws -> P {
        try makePersistentContainer(named: bundle.name, for: try mergedModel(from: bundle), configurator: configurator)
    }

    fileprivate static func mergedModel(from bundle: Bundle) throws -> NSManagedObjectModel {
        guard let model = NSManagedObjectModel.mergedModel(from: [bundle]), model.entities.count > 0 else {
            throw MissingModelInBundleError(bundle: bundle)
        }
        return model
    }
}

extension Bundle {
    /// The resource bundles of packages say no name on Linux.
    fileprivate var name: String {
        object(forInfoDictionaryKey: "CFBundleName") as? String ?? bundleURL.deletingPathExtension().lastPathComponent
    }
}

private struct MissingModelInBundleError: LocalizedError {
    let bundle: Bundle
    var errorDescription: String? { "\(bundle.name) has no data model." }
}

@Suite("The configurator technique")
struct ConfiguratorTechniqueTests {
    private let documents: Documents
    init() throws { documents = try Documents() }

    private var sqlite: SQLitePersistentStoreDescriptionConfigurator {
        SQLitePersistentStoreDescriptionConfigurator(directory: documents.url.appendingPathComponent("not there"), name: "Feature")
    }

    @Test("makes a container of the type that stands before the equals sign, ready to be loaded")
    func types() throws {
        let model = try NSManagedObjectModel(named: "DataModel")
        let plain: NSPersistentContainer = try .makePersistentContainer(named: "F", for: model, configurator: sqlite)
        let special: FeatureContainer = try .makePersistentContainer(named: "F", for: model, configurator: sqlite)
        let cloud: NSPersistentCloudKitContainer = try .makePersistentContainer(named: "F", for: model, configurator: sqlite)
        #expect(type(of: plain) == NSPersistentContainer.self && special.name == "F" && cloud.persistentStoreDescriptions.count == 1)
        #expect(special.persistentStoreCoordinator.persistentStores.isEmpty)
        let url = documents.url.appendingPathComponent("not there/Feature/Feature.sqlite")
        special.loadPersistentStores { description, error in
            #expect(error == nil && description.url == url)
        }
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(special.persistentStoreDescriptions[0].options[NSSQLiteAnalyzeOption] == true as NSNumber)
    }

    @Test("is partitioned by composition")
    func composite() throws {
        let container: NSPersistentContainer = try .makePersistentContainer(
            named: "F",
            for: NSManagedObjectModel(named: "DataModel"),
            configurator: Composite(parts: [sqlite, ShortTimeout()])
        )
        #expect(container.persistentStoreDescriptions[0].timeout == 5)
        container.loadPersistentStores { #expect($1 == nil) }
    }

    @Test("needs but a bundle, or says which one has no model")
    func bundle() async throws {
        let container: FeatureContainer = try .makePersistentContainer(forModelsInBundle: .module, configurator: sqlite)
        #expect(container.name.hasSuffix("SeedTests"))
        container.loadPersistentStores { #expect($1 == nil) }
        let names = try await container.performBackgroundTask { context in
            context.insertUser("Ada")
            try context.save()
            return try context.userNames()
        }
        #expect(names == ["Ada"])
        let empty = try #require(Bundle(url: documents.url))
        let error = #expect(throws: MissingModelInBundleError.self) {
            let _: FeatureContainer = try .makePersistentContainer(forModelsInBundle: empty, configurator: sqlite)
        }
        #expect(error?.localizedDescription.contains(empty.name) == true)
    }

    @Test("isolates tests: each has a store of its own")
    func isolation() async throws {
        for name in ["Ada", "Grace"] {
            let place = try Documents()
            let container: NSPersistentContainer = try .makePersistentContainer(
                forModelsInBundle: .module,
                configurator: SQLitePersistentStoreDescriptionConfigurator(directory: place.url, name: "Test")
            )
            container.loadPersistentStores { #expect($1 == nil) }
            let names = try await container.performBackgroundTask { context in
                context.insertUser(name)
                try context.save()
                return try context.userNames()
            }
            #expect(names == [name])
        }
    }
}
