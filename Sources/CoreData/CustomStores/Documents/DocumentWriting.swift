import Foundation

/// Makes a document of the objects that a store has.
struct DocumentWriting {
    private let model: NSManagedObjectModel
    private let context: NSManagedObjectContext
    /// The number of an object in the document, by its key and the name of its root entity.
    private let number: (Int64, String) -> Int64

    /// - Parameter rows: a store that nobody else has.
    init(_ rows: any RowStore, _ model: NSManagedObjectModel, number: @escaping (Int64, String) -> Int64 = { key, _ in key }) {
        (self.model, self.number) = (model, number)
        context = StagedObjects(rows, model).context
    }

    /// What tells an object from others in a document.
    private struct Place: Hashable {
        let root: String
        let number: Int64
    }

    private struct Group {
        let entity: NSEntityDescription
        /// With the number of each, in their order.
        let objects: [(object: NSManagedObject, number: Int64)]
        var root: String { entity.rootEntity.name ?? "" }
    }

    /// - Throws: an error of the store.
    func document(_ metadata: [String: Any]) throws -> Document {
        var lastNumbers: [String: Int64] = [:]
        var objects: [String: [[String: Any]]] = [:]
        let groups = try model.entitiesInIndexOrder.filter { !$0.isAbstract && isStored($0) }.map(group)
        let present = Set(groups.flatMap { group in group.objects.map { Place(root: group.root, number: $0.number) } })
        for group in groups {
            objects[group.entity.name ?? ""] = try group.objects.map { try fields($0.object, $0.number, present) }
            lastNumbers[group.root] = max(lastNumbers[group.root] ?? 0, group.objects.last?.number ?? 0)
        }
        return Document(metadata: metadata, lastNumbers: lastNumbers, objects: objects.filter { !$0.value.isEmpty })
    }

    private func group(_ entity: NSEntityDescription) throws -> Group {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.includesSubentities = false
        let root = entity.rootEntity.name ?? ""
        let all = try context.fetch(request).map { (object: $0, number: number($0.objectID.identity.key, root)) }
        return Group(entity: entity, objects: all.sorted { $0.number < $1.number })
    }

    private func isStored(_ entity: NSEntityDescription) -> Bool {
        context.persistentStoreCoordinator?.allStores.contains { $0.holds(entity) } ?? false
    }

    /// NB: a relationship without inverse may lead to what was deleted.
    ///
    /// - Throws: `CocoaError` 134030 for a value that its transformer cannot read.
    private func fields(_ object: NSManagedObject, _ number: Int64, _ present: Set<Place>) throws -> [String: Any] {
        try object.requireReadableValues()
        var values: [String: Any] = [:]
        for case let attribute? in object.entity.shape.attributes {
            guard let value = object.value(forKey: attribute.name) else { continue }
            values[attribute.name] = try DocumentValue.encoded(value, of: attribute, object.entity)
        }
        var ends: [String: [Int64]] = [:]
        for relationship in object.entity.relationshipsByName.values where !relationship.isTransient {
            let root = relationship.destinationEntity?.rootEntity.name ?? ""
            let numbers = object.objectIDs(forRelationshipNamed: relationship.name).map { self.number($0.identity.key, root) }
                .filter { present.contains(Place(root: root, number: $0)) }
            if !numbers.isEmpty { ends[relationship.name] = relationship.isOrdered ? numbers : numbers.sorted() }
        }
        var fields: [String: Any] = ["id": number]
        if !values.isEmpty { fields["values"] = values }
        if !ends.isEmpty { fields["relationships"] = ends }
        return fields
    }
}
