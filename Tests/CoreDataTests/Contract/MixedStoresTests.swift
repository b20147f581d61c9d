import Foundation
import Testing

@testable import CoreData

@Suite("Stores of different kinds beside each other")
struct MixedStoresTests {
    // * Books in a database and in an incremental store; a predicate that is a block, and an order that compares the books themselves.
    // => Those of each store that the predicate holds for, also of the one that leaves it to the framework.
    @Test("keep to a predicate that only memory knows, in an order of the objects themselves", arguments: [true, false])
    func residue(databaseIsFirst: Bool) throws {
        let homes = try [ContractHome(.file), ContractHome(.dictionary)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let stores = try (databaseIsFirst ? homes : homes.reversed()).map {
            try coordinator.addPersistentStore(ofType: $0.kind.type, configurationName: nil, at: $0.url)
        }
        let context = homes[0].context(on: coordinator)
        for pages in 0..<6 {
            let book = Book(context: context)
            (book.title, book.pages) = ("\(pages)", Int32(pages))
            context.assign(book, to: stores[pages % 2])
        }
        try context.save()
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate { book, _ in (book as? Book)?.pages ?? 0 > 2 }
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.pages, ascending: false)]
        #expect(request.sortDescriptors?.first?.key == nil)
        #expect(try context.fetch(request).map(\.pages) == [5, 4, 3])
        #expect(try context.count(for: request) == 3)
    }
}
