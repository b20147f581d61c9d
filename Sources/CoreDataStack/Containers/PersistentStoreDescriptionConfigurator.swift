import CoreData

/// Says what a store is to be like, right before a container gets it.
///
/// ```swift
/// let container: NSPersistentContainer = try .makePersistentContainer(
///     named: "Library",
///     for: model,
///     configurator: SQLitePersistentStoreDescriptionConfigurator(directory: folder, name: "Library")
/// )
/// try await container.loadPersistentStores()
/// ```
public protocol PersistentStoreDescriptionConfigurator {
    /// Changes a description, and makes what has to be there before the store is loaded.
    func configure(_ description: NSPersistentStoreDescription) throws
}

/// Configurators as one: each changes what those before it have left.
public struct CompositePersistentStoreDescriptionConfigurator: PersistentStoreDescriptionConfigurator {
    private let parts: [any PersistentStoreDescriptionConfigurator]

    public init(_ parts: any PersistentStoreDescriptionConfigurator...) { self.parts = parts }
    public init(_ parts: [any PersistentStoreDescriptionConfigurator]) { self.parts = parts }

    /// - Throws: what the first of them throws; those after it are not asked.
    public func configure(_ description: NSPersistentStoreDescription) throws {
        for part in parts { try part.configure(description) }
    }
}

/// A store in memory, which nobody else sees.
public struct InMemoryPersistentStoreDescriptionConfigurator: PersistentStoreDescriptionConfigurator {
    public init() {}

    public func configure(_ description: NSPersistentStoreDescription) {
        (description.type, description.url) = (NSInMemoryStoreType, nil)
    }
}
