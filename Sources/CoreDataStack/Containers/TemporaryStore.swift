import CoreData

/// A place for a store that one test has to itself: a file in a folder of its own, which is removed with the last reference to this.
///
/// ```swift
/// let place = try TemporaryStore()
/// let container: NSPersistentContainer = try .makePersistentContainer(named: "Test", for: model, configurator: place)
/// ```
/// Hold it for as long as the store is in use.
public final class TemporaryStore: PersistentStoreDescriptionConfigurator, Sendable {
    /// The folder, for whatever else the test needs.
    public let directory: URL
    /// The file of the store, which is made when the store is loaded.
    public let url: URL

    /// Makes the folder, in the system's temporary one.
    ///
    /// - Throws: a `CocoaError` where it cannot be made.
    public init(name: String = "Store") throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("TemporaryStore-\(UUID())", isDirectory: true)
        url = directory.appendingPathComponent("\(name).sqlite")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    // A store that is closing meanwhile removes files of its own: what finds one gone tries again.
    deinit {
        for _ in 0..<100 where FileManager.default.fileExists(atPath: directory.path) { try? FileManager.default.removeItem(at: directory) }
    }

    public func configure(_ description: NSPersistentStoreDescription) throws {
        try SQLitePersistentStoreDescriptionConfigurator(fileURL: url).configure(description)
    }
}
