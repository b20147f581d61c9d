import CoreData
import Foundation
import TestSupport
import Testing

@Suite("A coordinator")
struct CoordinatorQueueTests {
    private func coordinator() -> NSPersistentStoreCoordinator { NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make()) }

    @Test("runs blocks one at a time, in the order in which they were asked for")
    func order() async {
        let coordinator = coordinator()
        let numbers = Numbers()
        func begin() { for number in 1...50 { coordinator.perform { numbers.append(number) } } }
        begin()
        let count = await coordinator.perform { numbers.all.count }
        #expect(count == 50 && numbers.all == Array(1...50))
    }

    @Test("waits for a block and gives what it gives or throws, to any depth")
    func waiting() async throws {
        let coordinator = coordinator()
        coordinator.performAndWait {}
        #expect(coordinator.performAndWait { coordinator.performAndWait { 3 } } == 3)
        #expect(throws: CocoaError(.coreData)) { try coordinator.performAndWait { throw CocoaError(.coreData) } }
        await #expect(throws: CocoaError(.coreData)) { try await coordinator.perform { throw CocoaError(.coreData) } }
    }

    @Test("and a context may wait for each other")
    func circle() async throws {
        let coordinator = coordinator()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        async let down: Void = coordinator.perform { for _ in 0..<2000 { context.performAndWait {} } }
        async let up: Void = context.perform { for _ in 0..<2000 { coordinator.performAndWait {} } }
        _ = await (down, up)
    }

    @Test("is made by generic code")
    func genericCode() {
        final class Own: NSPersistentStoreCoordinator, @unchecked Sendable {}
        func make<Coordinator: NSPersistentStoreCoordinator>(_ type: Coordinator.Type) -> Coordinator {
            type.init(managedObjectModel: LibraryModel.make())
        }
        let made = make(Own.self)
        #expect(type(of: made) == Own.self && made.persistentStores.isEmpty)
    }

    @Test("reads the metadata of a store that is not open, by its type", arguments: StoreKind.allCases)
    func metadata(kind: StoreKind) throws {
        let library = try Library(kind)
        let type = NSPersistentStore.StoreType(rawValue: kind.type)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: try #require(library.store.url))
        #expect(metadata[NSStoreUUIDKey] as? String == library.store.identifier)
    }

    @Test("announces a change of its stores before it makes it", arguments: StoreKind.allCases)
    func storesWillChange(kind: StoreKind) throws {
        let library = try Library(kind)
        let coordinator = library.coordinator
        let seen = Numbers()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresWillChange,
            object: coordinator,
            queue: nil
        ) { note in
            let lists = [NSAddedPersistentStoresKey, NSRemovedPersistentStoresKey, NSUUIDChangedPersistentStoresKey]
                .map { (note.userInfo?[$0] as? [NSPersistentStore])?.count ?? 0 }
            seen.append(coordinator.persistentStores.count * 1000 + lists[0] * 100 + lists[1] * 10 + lists[2])
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        // * A store is emptied, removed, and added again.
        let fresh = try coordinator.emptyPersistentStore(library.store)
        let url = try #require(fresh.url)
        try coordinator.remove(fresh)
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url)
        // * It is refused a second time.
        #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url)
        }
        // => Each change was told of while it was still to come, and nothing else.
        #expect(seen.all == [1112, 1010, 100])
    }
}

/// Numbers that any thread may add to.
private final class Numbers: @unchecked Sendable {
    // Sendable: behind a lock.
    private let lock = NSLock()
    private var numbers: [Int] = []

    func append(_ number: Int) { lock.withLock { numbers.append(number) } }
    var all: [Int] { lock.withLock { numbers } }
}
