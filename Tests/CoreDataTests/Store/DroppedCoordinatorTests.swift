import Foundation
import Testing

@testable import CoreData

@Suite("A coordinator that is dropped without removing its stores")
struct DroppedCoordinatorTests {
    // * Objects are read one by one, each by a statement of its own: their rows are kept for a while.
    @Test("leaves nothing in memory, whether or not objects outlive it", arguments: StoreKind.allCases, [true, false])
    func cache(kind: StoreKind, survives: Bool) throws {
        let library = try Library(kind)
        for number in 0..<50 { Tag(context: library.context).label = "\(number)" }
        try library.context.save()
        var survivor: NSManagedObject?
        weak let store = try {
            let coordinator = try library.separateCoordinator()
            let context = Library.context(on: coordinator)
            for key in 1...50 {
                let store = try #require(coordinator.persistentStores.first?.identifier)
                let id = try #require(coordinator.managedObjectID(for: "x-coredata://\(store)/Tag/p\(key)"))
                let tag = try #require(try context.existingObject(with: id) as? Tag)
                #expect(tag.label == "\(key - 1)")
                if survives { survivor = tag }
            }
            return coordinator.persistentStores.first as? SQLiteStore
        }()
        #expect(store == nil)
        weak let cache = try {
            let coordinator = try library.separateCoordinator()
            let store = try #require(coordinator.persistentStores.first as? SQLiteStore)
            let context = Library.context(on: coordinator)
            let tags = try context.all(Tag.self, "Tag")
            store.cache.forget(root: tags[0].entity.rootEntity.index, key: tags[0].rowReference.key)
            _ = try store.row(for: tags[0].rowReference)
            return store.cache
        }()
        #expect(cache == nil)
        withExtendedLifetime(survivor) {}
    }
}
