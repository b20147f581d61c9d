import CoreData
import Foundation

/// Contexts in three layers on a store, with the objects of a graph.
final class GraphStack {
    let coordinator: NSPersistentStoreCoordinator
    /// The root, the middle one, the leaf.
    let layers: [NSManagedObjectContext]
    private(set) var ids: [Int: NSManagedObjectID] = [:]
    private let shape: PlainShape

    /// - Parameter place: of the store; nil for one in memory.
    init(_ shape: PlainShape, _ model: NSManagedObjectModel, ofType type: String = NSInMemoryStoreType, at place: URL? = nil) throws {
        self.shape = shape
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place, options: nil)
        let root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        root.persistentStoreCoordinator = coordinator
        var layers = [root]
        for _ in 0..<2 {
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = layers[layers.count - 1]
            layers.append(child)
        }
        self.layers = layers
    }

    /// Makes the changes in a layer, and saves nothing.
    func apply(_ changes: [PlainGraph.Change], in layer: Int) {
        let context = layers[layer]
        context.performAndWait {
            for change in changes { apply(change, context) }
            context.processPendingChanges()
        }
    }

    func save(_ layer: Int) throws {
        let context = layers[layer]
        try context.performAndWait { try context.save() }
    }

    /// As somebody else finds it who has read nothing yet.
    func forgetObjects() {
        for number in ids.keys { ids[number] = layers[0].performAndWait { object(number, layers[0]).objectID } }
        for context in layers { context.performAndWait { context.reset() } }
    }

    /// As somebody else finds it who opens the store.
    ///
    /// - Precondition: everything is saved, and the store is not in memory.
    func reopen() throws {
        forgetObjects()
        for store in coordinator.persistentStores {
            let (type, place) = (store.type, store.url)
            try coordinator.remove(store)
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place, options: nil)
        }
    }

    private func object(_ number: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
        guard let id = ids[number] else { preconditionFailure("There is an object with the number \(number).") }
        return context.object(with: id)
    }

    private func apply(_ change: PlainGraph.Change, _ context: NSManagedObjectContext) {
        switch change {
        case .insert(let node):
            let object = NSEntityDescription.insertNewObject(forEntityName: shape.entities[node.entity].name, into: context)
            ids[node.number] = object.objectID
            object.setValue(node.number, forKey: "number")
            for (key, value) in node.values { object.setValue(value.constant, forKey: key) }
        case .set(let number, let key, let value): object(number, context).setValue(value.constant, forKey: key)
        case .link(let link, let pair):
            let (source, target) = (object(pair.source, context), object(pair.target, context))
            if shape.links[link].sourceIsSingle {
                source.setValue(target, forKey: "r\(link)")
            } else {
                source.mutableSetValue(forKey: "r\(link)").add(target)
            }
        case .unlink(let link, let pair):
            let source = object(pair.source, context)
            if shape.links[link].sourceIsSingle {
                source.setValue(nil, forKey: "r\(link)")
            } else {
                source.mutableSetValue(forKey: "r\(link)").remove(object(pair.target, context))
            }
        case .delete(let number): context.delete(object(number, context))
        }
    }
}

/// Asking.
extension GraphStack {
    /// The numbers of the results of a request in a layer; where only their count is asked for, so many zeros.
    func answer(_ plain: PlainRequest, in layer: Int, namingObjectsByID: Bool) throws -> [Int] {
        let context = layers[layer]
        return try context.performAndWait { try answer(plain, request(plain, context, namingObjectsByID), context) }
    }

    private func request(
        _ plain: PlainRequest,
        _ context: NSManagedObjectContext,
        _ namingObjectsByID: Bool
    ) throws -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: shape.entities[plain.entity].name)
        request.includesSubentities = plain.includesSubentities
        request.predicate = try plain.condition.map { condition in
            // One that this layer does not know is named by what it is known by elsewhere.
            try ConditionText.predicate(condition) { [ids] number in
                guard let id = ids[number] else { return NSNull() }
                return namingObjectsByID ? id : (context.registeredObject(for: id) as Any? ?? id)
            }
        }
        request.sortDescriptors = plain.order.map(\.descriptor)
        (request.fetchLimit, request.fetchOffset) = (plain.limit, plain.offset)
        return request
    }

    private func answer(
        _ plain: PlainRequest,
        _ request: NSFetchRequest<NSManagedObject>,
        _ context: NSManagedObjectContext
    ) throws -> [Int] {
        switch plain.form {
        case .objects: break
        case .noFaults: request.returnsObjectsAsFaults = false
        case .batches: request.fetchBatchSize = 3
        case .identitiesOnly: request.includesPropertyValues = false
        case .prefetching: request.relationshipKeyPathsForPrefetching = plain.relations
        case .partial: request.propertiesToFetch = ["number"]
        case .sequence: return try context.objects(of: request).map(Self.number)
        case .count: return try Array(repeating: 0, count: context.count(for: request))
        case .countResult:
            let count = try context.fetch(form(request, .countResultType, NSNumber.self))[0]
            return Array(repeating: 0, count: count.intValue)
        case .objectIDs:
            let ids = try context.fetch(form(request, .managedObjectIDResultType, NSManagedObjectID.self))
            return ids.map { Self.number(context.object(with: $0)) }
        }
        return try context.fetch(request).map(Self.number)
    }

    private func form<Result>(
        _ request: NSFetchRequest<NSManagedObject>,
        _ type: NSFetchRequestResultType,
        _: Result.Type
    ) -> NSFetchRequest<Result> {
        let other = NSFetchRequest<Result>(entityName: request.entityName ?? "")
        (other.resultType, other.includesSubentities) = (type, request.includesSubentities)
        (other.predicate, other.sortDescriptors) = (request.predicate, request.sortDescriptors)
        (other.fetchLimit, other.fetchOffset) = (request.fetchLimit, request.fetchOffset)
        return other
    }

    private static func number(_ object: NSManagedObject) -> Int { object.value(forKey: "number") as? Int ?? -1 }
}

extension PlainShape {
    /// The model with these entities.
    var model: NSManagedObjectModel {
        let descriptions = entities.map { entity in
            let description = NSEntityDescription()
            description.name = entity.name
            return description
        }
        for (index, entity) in entities.enumerated() {
            if let parent = entity.parent { descriptions[parent].subentities.append(descriptions[index]) }
            descriptions[index].properties = ownAttributes(of: index)
        }
        for (index, link) in links.enumerated() { relate(index, link, descriptions) }
        let model = NSManagedObjectModel()
        model.entities = descriptions
        return model
    }

    private func ownAttributes(of index: Int) -> [NSPropertyDescription] {
        let entity = entities[index]
        let inherited = entity.parent.map { entities[$0].attributes.map(\.name) } ?? []
        let own = entity.attributes.filter { !inherited.contains($0.name) }.map { LibraryModel.attribute($0.name, $0.type.type) }
        return entity.parent == nil ? [LibraryModel.attribute("number", .integer64AttributeType)] + own : own
    }

    private func relate(_ index: Int, _ link: Link, _ descriptions: [NSEntityDescription]) {
        let forward = NSRelationshipDescription()
        (forward.name, forward.maxCount, forward.deleteRule) = ("r\(index)", link.sourceIsSingle ? 1 : 0, .nullifyDeleteRule)
        forward.destinationEntity = descriptions[link.target]
        descriptions[link.source].properties.append(forward)
        guard link.hasInverse else { return }
        let inverse = NSRelationshipDescription()
        (inverse.name, inverse.maxCount, inverse.deleteRule) = ("i\(index)", link.targetIsSingle ? 1 : 0, .nullifyDeleteRule)
        inverse.destinationEntity = descriptions[link.source]
        inverse.isOrdered = entities[link.target].relations.contains { $0.name == inverse.name && $0.isOrdered }
        (forward.inverseRelationship, inverse.inverseRelationship) = (inverse, forward)
        descriptions[link.target].properties.append(inverse)
    }
}

extension PlainType {
    fileprivate var type: NSAttributeType {
        switch self {
        case .integer16: .integer16AttributeType
        case .integer64: .integer64AttributeType
        case .double: .doubleAttributeType
        case .float: .floatAttributeType
        case .decimal: .decimalAttributeType
        case .text: .stringAttributeType
        case .flag: .booleanAttributeType
        case .date: .dateAttributeType
        case .uuid: .UUIDAttributeType
        case .data: .binaryDataAttributeType
        }
    }
}
