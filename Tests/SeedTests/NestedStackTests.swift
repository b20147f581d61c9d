import CoreData
import Foundation
import Testing

/// A main context in front of a private one, which writes; made by hand, for either kind of store.
private final class NestedStack {
    enum StoreType {
        case sqlite(URL)
        case inMemory
    }

    struct MissingStore: Error {}

    private let storeType: StoreType
    private(set) lazy var persistingContext: NSManagedObjectContext = makePersistingContext()
    private(set) lazy var mainContext: NSManagedObjectContext = makeMainContext()

    /// A new coordinator gets new contexts.
    private(set) var coordinator: NSPersistentStoreCoordinator {
        didSet {
            persistingContext = makePersistingContext()
            mainContext = makeMainContext()
        }
    }

    var managedObjectModel: NSManagedObjectModel { coordinator.managedObjectModel }

    private init(_ coordinator: NSPersistentStoreCoordinator, _ storeType: StoreType) {
        self.coordinator = coordinator
        self.storeType = storeType
    }

    static func make(modelName: String, in bundle: Bundle, _ storeType: StoreType) throws -> NestedStack {
        guard let model = bundle.managedObjectModel(named: modelName) else { throw CocoaError(.fileReadNoSuchFile) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try addStore(to: coordinator, storeType)
        return NestedStack(coordinator, storeType)
    }

    private static func addStore(to coordinator: NSPersistentStoreCoordinator, _ storeType: StoreType) throws {
        switch storeType {
        case .sqlite(let url):
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        case .inMemory:
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
    }

    private func makePersistingContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.name = "Persisting Context"
        context.persistentStoreCoordinator = coordinator
        return context
    }

    // A main-queue context can be made on any thread: there is no going to the main one first.
    private func makeMainContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.name = "Main Context"
        context.parent = persistingContext
        return context
    }

    /// Saves both layers.
    func save() throws {
        try mainContext.save()
        try persistingContext.performAndWait { try persistingContext.save() }
    }

    /// Removes the store, as for a logout, and begins with an empty one.
    func resetStore() throws {
        switch storeType {
        case .inMemory:
            guard let store = coordinator.persistentStores.first else { throw MissingStore() }
            try coordinator.remove(store)
            try Self.addStore(to: coordinator, storeType)
            mainContext.reset()
            persistingContext.performAndWait { persistingContext.reset() }
        case .sqlite(let url):
            guard coordinator.persistentStore(for: url) != nil else { throw MissingStore() }
            try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
            let fresh = NSPersistentStoreCoordinator(managedObjectModel: managedObjectModel)
            try Self.addStore(to: fresh, storeType)
            coordinator = fresh
        }
    }
}

extension Bundle {
    /// Nil where the file is missing or damaged.
    fileprivate func managedObjectModel(named name: String) -> NSManagedObjectModel? {
        guard let url = url(forResource: name, withExtension: "xcdatamodeld") else { return nil }
        return NSManagedObjectModel(contentsOf: url)
    }
}

@Suite("A nested stack made by hand")
@MainActor struct NestedStackTests {
    private let documents: Documents
    init() throws { documents = try Documents() }

    private func stacks() throws -> [NestedStack] {
        let file = documents.url.appendingPathComponent("Nested.sqlite")
        return try [.sqlite(file), .inMemory].map { try NestedStack.make(modelName: "DataModel", in: .module, $0) }
    }

    @Test("is saved layer by layer, in either kind of store")
    func saving() throws {
        for stack in try stacks() {
            let (main, persisting) = (stack.mainContext, stack.persistingContext)
            #expect(main.parent === persisting && persisting.persistentStoreCoordinator === stack.coordinator)
            main.insertUser("Ada")
            try main.save()
            #expect(!main.hasChanges && persisting.performAndWait { persisting.hasChanges })
            try stack.save()
            let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            reader.persistentStoreCoordinator = stack.coordinator
            #expect(try reader.performAndWait { try reader.userNames() } == ["Ada"])
        }
    }

    @Test("is empty after a reset, and works as before")
    func resetting() throws {
        for stack in try stacks() {
            for name in ["Ada", "Grace"] {
                stack.mainContext.insertUser(name)
                try stack.save()
                #expect(try stack.mainContext.userNames() == [name])
                try stack.resetStore()
                #expect(try stack.mainContext.userNames() == [])
            }
            stack.mainContext.insertUser("Barbara")
            try stack.save()
            #expect(try stack.mainContext.userNames() == ["Barbara"])
        }
    }

    @Test("is not made without its model")
    func missingModel() {
        #expect(throws: CocoaError.self) { try NestedStack.make(modelName: "Nothing", in: .module, .inMemory) }
    }
}
