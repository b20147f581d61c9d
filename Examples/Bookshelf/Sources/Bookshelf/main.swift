import CoreData
import Foundation

// The model that the plugin compiled: the program carries it, so there is no file to look for.
guard let model = NSManagedObjectModel.registered("Library") else { fatalError("The plugin did not make the model.") }
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
_ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator

let emma = Book(context: context)
emma.title = "Emma"
emma.pages = 474
let jane = Person(context: context)
jane.name = "Jane"
emma.addToAuthors(jane)
try context.save()

let request: NSFetchRequest<Book> = Book.fetchRequest()
request.predicate = NSPredicate(format: "pages > 100 AND ANY authors.name == %@", "Jane")
for book in try context.fetch(request) {
    let authors = book.authors?.array as? [Person] ?? []
    print("\(book.title ?? "?"), \(book.pages) pages. \(authors.map(\.greeting).joined(separator: ". "))")
}

// It is a resource too, with its older versions, for what wants a file.
let file = Bundle.module.url(forResource: "Library", withExtension: "momd")
let compiled = file.flatMap { NSManagedObjectModel(contentsOf: $0) }
print("The resource is the same model: \(compiled?.entityVersionHashesByName == model.entityVersionHashesByName)")
