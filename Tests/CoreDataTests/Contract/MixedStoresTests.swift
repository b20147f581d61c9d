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

    // * Books in two databases, only one of which has authors too; a predicate about the author, and a part that only memory knows.
    // => Those of each store for which all of it holds: the one that can join has left less.
    @Test("of which one has less of the model each leave to memory what they cannot say", arguments: [true, false])
    func residues(joiningIsFirst: Bool) throws {
        let model = LibraryModel.make()
        let books = ["Book", "Tag", "Chapter"].compactMap { model.entitiesByName[$0] }
        model.setEntities(model.entities, forConfigurationName: "All")
        model.setEntities(books, forConfigurationName: "Books")
        let homes = try [ContractHome(.file), ContractHome(.file)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let names = joiningIsFirst ? ["All", "Books"] : ["Books", "All"]
        let stores = try zip(homes, names).map {
            try coordinator.addPersistentStore(ofType: $0.kind.type, configurationName: $1, at: $0.url)
        }
        let context = homes[0].context(on: coordinator)
        let jane = Author(context: context)
        jane.name = "Jane"
        for (store, name) in zip(stores, names) {
            for pages in 0..<3 {
                let book = Book(context: context)
                (book.title, book.pages, book.author) = ("\(name) \(pages)", Int32(pages), name == "All" ? jane : nil)
                context.assign(book, to: store)
            }
        }
        try context.save()
        func titles(_ format: String) throws -> Set<String> {
            let request = NSFetchRequest<Book>(entityName: "Book")
            let isOdd = NSPredicate { book, _ in ((book as? Book)?.pages ?? 0) % 2 == 1 }
            request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: format), isOdd])
            #expect(try context.count(for: request) == context.fetch(request).count)
            return Set(try context.fetch(request).compactMap(\.title))
        }
        #expect(try titles("author.name == 'Jane'") == ["All 1"])
        #expect(try titles("author.name == nil") == ["Books 1"])
    }

    // * A database, and two incremental stores, one of which refuses its part when the other has written.
    // => The error names the store that refused, and the database, which has taken its part back.
    @Test("of which one refuses its part too late: the error names all that have nothing of the save")
    func incompleteSave() throws {
        NSPersistentStoreCoordinator.registerStoreClass(UnwritableStore.self, forStoreType: UnwritableStore.storeType)
        let homes = try [ContractHome(.file), ContractHome(.dictionary)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let stores = try homes.map { try coordinator.addPersistentStore(ofType: $0.kind.type, configurationName: nil, at: $0.url) }
        // Before those of other names, so that it is asked last.
        let late = try coordinator.addPersistentStore(
            ofType: UnwritableStore.storeType,
            configurationName: nil,
            at: URL(fileURLWithPath: "/!late")
        )
        let context = homes[0].context(on: coordinator)
        for store in stores + [late] {
            let tag = Tag(context: context)
            context.assign(tag, to: store)
        }
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .persistentStoreIncompleteSave)
        #expect(Set(error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] ?? []) == [late, stores[0]])
        #expect(error?.userInfo[NSUnderlyingErrorKey] is UnwritableStore.Refusal)
        let counts = try stores.map { store in
            let request = NSFetchRequest<Tag>(entityName: "Tag")
            request.affectedStores = [store]
            return try homes[0].context(on: coordinator).count(for: request)
        }
        #expect(counts == [0, 1])
    }
}
