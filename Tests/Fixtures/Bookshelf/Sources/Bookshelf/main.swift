import Catalog
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

// Key paths have the names that the plugin gave them.
request.sortDescriptors = [NSSortDescriptor(\Book.pages)]
print("Sorted by \(request.sortDescriptors?.compactMap(\.key) ?? []), and \(NSExpression(forKeyPath: \Book.pages))")

// It is a resource too, with its older versions, for what wants a file.
let file = Bundle.module.url(forResource: "Library", withExtension: "momd")
let compiled = file.flatMap { NSManagedObjectModel(contentsOf: $0) }
print("The resource is the same model: \(compiled?.entityVersionHashesByName == model.entityVersionHashesByName)")

// A model of a single version, which is no bundle, with a fetched property.
let ledger = NSPersistentContainer(name: "Ledger")
ledger.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
try await ledger.loadPersistentStores()
let loans = ["Fanny", "Edmund", "Fanny"].map { reader in
    let loan = Loan(context: ledger.viewContext)
    loan.reader = reader
    return loan
}
try ledger.viewContext.save()
print("Other loans of each reader: \(loans.map(\.others.count))")

// A model of another module, with classes in Swift's own types and classes that Xcode wrote.
let container = NSPersistentContainer(name: "Catalog")
container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
try await container.loadPersistentStores()
let shelf = Shelf(context: container.viewContext)
print("A new shelf is \(shelf.place).")
shelf.place = "attic"
let boxes = ["novels", "letters", "maps"].map { label in
    let box = Box(context: container.viewContext)
    box.label = label
    box.weight += 12
    box.packed = Date(timeIntervalSinceReferenceDate: 0)
    return box
}
boxes[0].isFull = true
boxes[0].addToInner(boxes[1])
boxes[0].insertIntoInner(boxes[2], at: 0)
shelf.addToBoxes(boxes[0])
try container.viewContext.save()
container.viewContext.reset()

for shelf in try container.viewContext.fetch(Shelf.fetchRequest()) {
    print("In the \(shelf.place), \(shelf.weight) kg:")
    for box in shelf.boxes {
        let inner = box.inner?.array as? [Box] ?? []
        print("\(box.label ?? "?") (\(box.isFull ? "full" : "open")) with \(inner.map { $0.label ?? "?" }.joined(separator: " and "))")
    }
}

// What those classes say as people write it for a Mac.
let light = Box(context: container.viewContext)
print("A new box is \(light.label ?? "nil").")
let boxesInPlace = NSFetchRequest<Box>(entityName: "Box")
boxesInPlace.predicate = Box.inPlace("attic")
print(Shelf.Keys.place.name)
boxesInPlace.sortDescriptors = [Box.byLabel()]
print(try container.viewContext.fetch(boxesInPlace).compactMap(\.label).joined(separator: ", "))
let transformer = ValueTransformer(forName: NSValueTransformerName("LBLabelTransformer"))
print(transformer?.transformedValue("maps") as? String ?? "nil")

// A name that Foundation has, too.
let length = NSExpression(forKeyPath: "label.length")
let comparison = NSComparisonPredicate(
    leftExpression: length,
    rightExpression: NSExpression(forConstantValue: 4),
    modifier: .direct,
    type: .equalTo
)
print(NSCompoundPredicate(andPredicateWithSubpredicates: [comparison, NSPredicate(format: "weight > 1")]))

// A store of the first version, which a mapping model brings to the second.
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Bookshelf-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let place = folder.appendingPathComponent("Books.sqlite")
if let former = file.flatMap({ NSManagedObjectModel(contentsOf: $0.appendingPathComponent("Library.mom")) }) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: former)
    let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: place)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue("Persuasion", forKey: "title")
    try context.save()
    try coordinator.remove(store)
}
let books = NSPersistentContainer(name: "Library", managedObjectModel: model)
books.persistentStoreDescriptions = [NSPersistentStoreDescription(url: place)]
books.persistentStoreDescriptions[0].shouldInferMappingModelAutomatically = false
try await books.loadPersistentStores()
for book in try books.viewContext.fetch(Book.fetchRequest()) { print("\(book.title ?? "?") has \(book.pages) pages now.") }
