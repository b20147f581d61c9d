import Foundation

/// Objects that a store's class is shown: in a context of their own, which nobody observes and nobody saves.
struct StagedObjects {
    let context: NSManagedObjectContext
    let made: [NSManagedObject]

    /// On the stores of a coordinator, as they are.
    init(_ coordinator: NSPersistentStoreCoordinator) {
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.registry.tellsStores = false
        context.registry.awakensObjects = false
        made = []
    }

    private init(_ context: NSManagedObjectContext, _ made: [NSManagedObject]) { (self.context, self.made) = (context, made) }

    /// On rows that are about to be saved.
    init(_ rows: any RowStore, _ model: NSManagedObjectModel) {
        let coordinator = NSPersistentStoreCoordinator(unclaimed: model)
        coordinator.adopt(rows)
        self.init(coordinator)
    }

    /// Objects with rows of their own, under keys that no row has yet.
    func objects(_ rows: [Row], _ keys: [Int64], of entity: NSEntityDescription, store: Int32) -> StagedObjects {
        let scope = context.registry.scope(of: entity, store: store)
        let objects = zip(rows, keys).map { row, key in
            let object = Construction.make(scope, row, key: key, state: [.registered, .ownRow, .sharedRow])
            scope.identity?.insert(object)
            return object
        }
        return StagedObjects(context, objects)
    }

    /// The objects of keys, with their rows and their to-many relationships read by few statements.
    ///
    /// - Throws: a store's error.
    func objects(_ keys: [Int64], of entity: NSEntityDescription, in store: any RowStore) throws -> [NSManagedObject] {
        guard !keys.isEmpty, let own = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity.name ?? ""] else {
            return []
        }
        let references = keys.map { RowReference(key: $0, entity: Int32(own.index), store: store.number) }
        let rows = try context.parentSource.rows(for: references)
        let objects = zip(references, rows).map { reference, row in
            row.map { context.object(for: reference, row: $0) } ?? context.object(for: reference)
        }
        for (index, relationship) in own.toManyRelationships.enumerated() { try context.read(relationship, index, of: objects) }
        return objects
    }
}
