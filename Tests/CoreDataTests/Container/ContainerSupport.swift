import Foundation
import Testing

@testable import CoreData

extension NSPersistentContainer {
    /// A container with stores in SQLite files at some places.
    static func make(_ urls: URL..., model: NSManagedObjectModel = ContainerModel.make()) -> Self {
        let container = Self(name: "Test", managedObjectModel: model)
        container.persistentStoreDescriptions = urls.map { NSPersistentStoreDescription(url: $0) }
        return container
    }

    /// Loads at once what is not said to be asynchronous: the file names and error codes, in order.
    func loaded() -> [String: Int] {
        var codes: [String: Int] = [:]
        loadPersistentStores { codes[$0.url?.lastPathComponent ?? "?"] = ($1 as? CocoaError)?.code.rawValue ?? ($1 == nil ? 0 : -1) }
        return codes
    }

    /// The texts of all notes, as a new context finds them.
    func texts() throws -> [String] {
        let context = newBackgroundContext()
        return try context.performAndWait { try context.notes() }
    }
}

extension NSManagedObjectContext {
    func insertNote(_ text: String) {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: self).setValue(text, forKey: "text")
    }

    func notes() throws -> [String] {
        try fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).compactMap { $0.value(forKey: "text") as? String }.sorted()
    }
}
