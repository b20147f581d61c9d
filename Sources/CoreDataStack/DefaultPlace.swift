import CoreData
import Foundation

/// Where stores are when nobody says where.
enum DefaultPlace {
    /// Where the default store of a container of that name would be.
    static func url(for name: String) -> URL { NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("\(name).sqlite") }

    /// - Throws: `CoreDataStack.Error.unableToCreateStore`.
    static func makeFolder(for url: URL) throws {
        do {
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        } catch {
            throw CoreDataStack.Error.unableToCreateStore(at: url)
        }
    }
}
