import CoreData

/// A store in an SQLite file that migrates by itself and is loaded at once. The folders to it are made.
public struct SQLitePersistentStoreDescriptionConfigurator: PersistentStoreDescriptionConfigurator, Sendable {
    private let fileURL: URL

    public init(fileURL: URL) { self.fileURL = fileURL }

    /// The file `NAME.sqlite` in a folder of its own, `NAME`, in a directory.
    public init(directory: URL, name: String) {
        self.init(fileURL: directory.appendingPathComponent(name, isDirectory: true).appendingPathComponent("\(name).sqlite"))
    }

    /// - Throws: a `CocoaError` where the folders cannot be made; the description is not changed then.
    public func configure(_ description: NSPersistentStoreDescription) throws {
        try FileManager.default.createDirectory(at: fileURL.deletingLastPathComponent(), withIntermediateDirectories: true)
        (description.type, description.url) = (NSSQLiteStoreType, fileURL)
        description.shouldMigrateStoreAutomatically = true
        description.shouldInferMappingModelAutomatically = true
        description.shouldAddStoreAsynchronously = false
    }
}
