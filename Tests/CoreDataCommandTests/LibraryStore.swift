import CoreData
import Foundation
import TestSupport

/// A folder with the model of `Library` and a store of its current version.
struct LibraryStore {
    let folder: TemporaryFolder
    var store: String { folder.path("library.sqlite") }
    var model: String { folder.path("Library.xcdatamodeld") }

    /// A store with a book and its author.
    init() throws {
        folder = try TemporaryFolder()
        try Library.write(to: folder.file("Library.xcdatamodeld"))
        let model = try NSManagedObjectModel(reading: folder.file("Library.xcdatamodeld"))
        try fillStore(at: folder.file("library.sqlite"), of: model) { context in
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            book.setValue("Emma", forKey: "name")
            book.setValue(474, forKey: "pages")
            let author = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            author.setValue("Jane", forKey: "name")
            book.mutableOrderedSetValue(forKey: "authors").add(author)
        }
    }
}

/// Makes a store of what `body` inserts, and closes it.
func fillStore(at url: URL, of model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
        try body(context)
        try context.save()
    }
    try coordinator.remove(store)
}
