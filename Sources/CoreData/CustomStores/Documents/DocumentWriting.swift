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

    /// - Throws: an error of the store.
    func document(_ metadata: [String: Any]) throws -> Document {
        var lastNumbers: [String: Int64] = [:]
        var objects: [String: [[String: Any]]] = [:]
        for entity in model.entitiesInIndexOrder where !entity.isAbstract && isStored(entity) {
            let root = entity.rootEntity.name ?? ""
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            let all = try context.fetch(request).map { ($0, number($0.objectID.identity.key, root)) }.sorted { $0.1 < $1.1 }
            objects[entity.name ?? ""] = all.map(fields)
            lastNumbers[root] = max(lastNumbers[root] ?? 0, all.last?.1 ?? 0)
        }
        return Document(metadata: metadata, lastNumbers: lastNumbers, objects: objects.filter { !$0.value.isEmpty })
    }

    private func isStored(_ entity: NSEntityDescription) -> Bool {
        context.persistentStoreCoordinator?.allStores.contains { $0.holds(entity) } ?? false
    }

    private func fields(_ object: NSManagedObject, _ number: Int64) -> [String: Any] {
        var values: [String: Any] = [:]
        for case let attribute? in object.entity.shape.attributes {
            guard let value = object.value(forKey: attribute.name) else { continue }
            values[attribute.name] = DocumentValue.encoded(SlotValue(value, for: attribute))
        }
        var ends: [String: [Int64]] = [:]
        for relationship in object.entity.relationshipsByName.values where !relationship.isTransient {
            let root = relationship.destinationEntity?.rootEntity.name ?? ""
            let numbers = object.objectIDs(forRelationshipNamed: relationship.name).map { self.number($0.identity.key, root) }
            if !numbers.isEmpty { ends[relationship.name] = relationship.isOrdered ? numbers : numbers.sorted() }
        }
        var fields: [String: Any] = ["id": number]
        if !values.isEmpty { fields["values"] = values }
        if !ends.isEmpty { fields["relationships"] = ends }
        return fields
    }
}
