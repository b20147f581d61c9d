import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What each kind of store says of itself, held against what it does.
@Suite("What a kind of store says that it can")
struct CapabilityTests {
    @Test("is what the list of kinds says", arguments: ContractKind.allCases)
    func list(_ kind: ContractKind) throws {
        let context = try ContractHome(kind).open()
        let store = try #require(context.persistentStoreCoordinator?.allStores.first)
        for capability in StoreCapability.allCases {
            #expect(
                store.capabilities.contains(.init(capability)) == kind.capabilities.contains(.init(capability)),
                "\(kind) says otherwise of \(capability) than the list of kinds"
            )
        }
    }

    @Test("it can, and cannot what it does not say", arguments: ContractKind.allCases, StoreCapability.allCases)
    func behaviour(_ kind: ContractKind, _ capability: StoreCapability) throws {
        let home = try ContractHome(kind)
        defer { withExtendedLifetime(home) {} }
        let probe = CapabilityProbe(home)
        #expect(try probe.can(capability) == kind.capabilities.contains(.init(capability)), "\(kind), \(capability)")
    }

    // * A file with the option for a history, which the kinds are listed without.
    @Test("it can, of a history")
    func history() throws {
        let home = try ContractHome(.file)
        let coordinator = try home.coordinator(options: [NSPersistentHistoryTrackingKey: true])
        let context = home.context(on: coordinator)
        #expect(coordinator.allStores[0].capabilities.contains(.history))
        #expect(try CapabilityProbe(home).keepsHistory(context))
    }
}

/// Finds out whether a store can do something, by having it done.
private struct CapabilityProbe {
    let home: ContractHome

    init(_ home: ContractHome) { self.home = home }

    /// - Throws: what is neither the one nor the other.
    func can(_ capability: StoreCapability) throws -> Bool {
        switch capability {
        case .sql: try !home.open().explain(NSFetchRequest<Tag>(entityName: "Tag")).statements.isEmpty
        case .constraints: try keepsUnique()
        case .severalProcesses: try seesOthers()
        case .batch: try updatesMany(home.open())
        case .history: try keepsHistory(home.open())
        case .generations: try readsAsBefore()
        case .schemaMigration: try migrates()
        case .transactions: try takesBack()
        case .emptying: try empties()
        case .positions: try keepsPositions()
        case .rowsOnDemand: try !knowsRowsOfFetch()
        case .ownReferences: try choosesReferences()
        case .durable: try lasts()
        case .ownRequests: try knowsOwnRequests()
        }
    }

    /// Whether a store does what is asked. One that cannot says so, with one of these codes.
    private func isDone(refusedWith codes: Int..., by body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch let error as CocoaError where codes.contains(error.code.rawValue) { return false }
    }

    private func tag(_ label: String, _ context: NSManagedObjectContext) -> Tag {
        let tag = Tag(context: context)
        tag.label = label
        return tag
    }

    private func labels(_ context: NSManagedObjectContext) throws -> [String?] { try context.all(Tag.self, sortedBy: "label").map(\.label) }

    private func close(_ coordinator: NSPersistentStoreCoordinator?) throws {
        for store in coordinator?.persistentStores ?? [] { try coordinator?.remove(store) }
    }

    private func keepsUnique() throws -> Bool {
        let model = LibraryModel.make()
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["label"]]
        let home = try ContractHome(self.home.kind, model: model)
        defer { withExtendedLifetime(home) {} }
        let context = try home.open()
        for _ in 0..<2 { _ = tag("same", context) }
        return try !isDone(refusedWith: CocoaError.Code.managedObjectConstraintMerge.rawValue) { try context.save() }
    }

    // * Two coordinators have read a row; one of them changes it, then the other.
    // => The second is told of a conflict. Where that cannot be found out, the save is refused, or is written over the first.
    private func seesOthers() throws -> Bool {
        let first = try home.open()
        let tag = tag("old", first)
        try first.save()
        let second = try home.open()
        let same = try second.all(Tag.self)
        guard let other = same.first, other.label == "old" else { return false }
        tag.label = "first"
        try first.save()
        other.label = "second"
        do {
            try second.save()
        } catch let error as CocoaError where [.managedObjectMerge, .persistentStoreSave].contains(error.code) {
            return error.code == .managedObjectMerge
        }
        return false
    }

    private func updatesMany(_ context: NSManagedObjectContext) throws -> Bool {
        _ = tag("old", context)
        try context.save()
        let update = NSBatchUpdateRequest(entityName: "Tag")
        update.propertiesToUpdate = ["label": "new"]
        let done = try isDone(refusedWith: 134_091) { try context.execute(update) }
        context.reset()
        #expect(try labels(context) == [done ? "new" : "old"])
        return done
    }

    func keepsHistory(_ context: NSManagedObjectContext) throws -> Bool {
        _ = tag("a", context)
        try context.save()
        var found = 0
        let done = try isDone(refusedWith: 134_091) {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            found = (result?.result as? [NSPersistentHistoryTransaction])?.count ?? 0
        }
        return done && found > 0
    }

    private func readsAsBefore() throws -> Bool {
        let context = try home.open()
        _ = tag("a", context)
        try context.save()
        let reader = home.context(on: try #require(context.persistentStoreCoordinator))
        try reader.setQueryGenerationFrom(.current)
        _ = try labels(reader)
        _ = tag("b", context)
        try context.save()
        return try labels(reader) == ["a"]
    }

    /// A model of its own, whose hashes no store of another test has.
    private static func version(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
        let model = LibraryModel.make()
        model.entities.forEach { $0.versionHashModifier = "capability" }
        model.entitiesByName["Tag"].map(change)
        return model
    }

    private func migrates() throws -> Bool {
        NSManagedObjectModel.register("Library of CapabilityTests") { Self.version() }
        let home = try ContractHome(self.home.kind, model: Self.version())
        let context = try home.open()
        _ = tag("a", context)
        try context.save()
        let old = context.persistentStoreCoordinator
        // Of a store in memory the last one would take everything along.
        let keeper = home.kind == .memory ? try home.coordinator() : nil
        try close(old)
        defer { withExtendedLifetime(keeper) {} }
        let model = Self.version { $0.properties.append(LibraryModel.attribute("more", .stringAttributeType)) }
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        return try isDone(refusedWith: 134_100, 134_130) {
            let migrated = home.context(on: try home.coordinator(model, options: options))
            let tags = try migrated.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            #expect(tags.map { $0.value(forKey: "label") as? String } == ["a"])
            tags.first?.setValue("x", forKey: "more")
            try migrated.save()
        }
    }

    // * Another store of the coordinator refuses its part when this one has written what it can.
    // => Nothing has reached the data. Where that cannot be, the data are written once more as they were, or the error says that they are saved.
    private func takesBack() throws -> Bool {
        NSPersistentStoreCoordinator.registerStoreClass(UnwritableStore.self, forStoreType: UnwritableStore.storeType)
        let coordinator = try home.coordinator()
        // Before those of other names, so that it is asked last.
        let place = URL(fileURLWithPath: "/!")
        let refusing = try coordinator.addPersistentStore(ofType: UnwritableStore.storeType, configurationName: nil, at: place)
        let context = home.context(on: coordinator)
        let before = FileStamp(home.url)
        let (here, there) = (tag("a", context), tag("b", context))
        context.assign(here, to: coordinator.persistentStores[0])
        context.assign(there, to: refusing)
        do {
            try context.save()
            Issue.record("nothing was refused")
        } catch let error as CocoaError where error.code == .persistentStoreIncompleteSave {
            return false
        } catch is UnwritableStore.Refusal {}
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.affectedStores = [coordinator.persistentStores[0]]
        #expect(try home.context(on: coordinator).count(for: request) == 0)
        return FileStamp(home.url) == before
    }

    private func empties() throws -> Bool {
        let context = try home.open()
        _ = tag("a", context)
        try context.save()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let done = try isDone(refusedWith: CocoaError.Code.persistentStoreOperation.rawValue) {
            try coordinator.emptyPersistentStore(coordinator.persistentStores[0])
        }
        #expect(try labels(home.context(on: coordinator)) == (done ? [] : ["a"]))
        return done
    }

    // * A member is put between two others.
    // => It has a position between theirs; where there are none, members are counted.
    private func keepsPositions() throws -> Bool {
        let context = try home.open()
        let book = Book(context: context)
        book.title = "B"
        book.chapters = (0..<3).map { _ in Chapter(context: context) }
        try context.save()
        book.chapters.swapAt(0, 1)
        try context.save()
        let other = try home.reopened(context)
        let found = try #require(try other.all(Book.self).first)
        let chapters = try #require(found.entity.relationshipsByName["chapters"])
        return try other.parentSource.relatedRows(chapters, owners: [found.rowReference]).compactMap(\.position) != [0, 1, 2]
    }

    private func knowsRowsOfFetch() throws -> Bool {
        let first = try home.open()
        let id = try {
            let tag = tag("a", first)
            try first.save()
            return tag.objectID.uriRepresentation()
        }()
        first.reset()
        let context = try home.reopened(first)
        let found = try context.all(Tag.self)
        let store = try #require(context.persistentStoreCoordinator?.allStores.first)
        let key = try #require(found.first).key
        #expect(found.first?.objectID.uriRepresentation() == id && found.first?.isFault == true)
        return store.cachedRow(root: try #require(found.first).scope.root, key: key) != nil
    }

    private func choosesReferences() throws -> Bool {
        let context = try home.open()
        let tag = tag("a", context)
        try context.obtainPermanentIDs(for: [tag])
        let store = try #require(context.persistentStoreCoordinator?.allStores.first)
        let entity = tag.entity
        #expect(try store.reserveKeys(for: [tag.currentRow], of: entity).count == 1)
        return store.pooledKeys(1, for: entity) == nil && store.key(named: "p77", of: entity) != 77
    }

    private func lasts() throws -> Bool {
        let context = try home.open()
        _ = tag("a", context)
        try context.save()
        try close(context.persistentStoreCoordinator)
        return try labels(home.open()) == ["a"]
    }

    private func knowsOwnRequests() throws -> Bool {
        let context = try home.open()
        _ = tag("a", context)
        try context.save()
        let coordinator = try #require(context.persistentStoreCoordinator)
        return try isDone(refusedWith: 134_091) {
            let count = try coordinator.execute(DictionaryStore.Count(), with: context) as? Int
            #expect(count == 1)
        }
    }
}
