import CoreData
import Foundation
import ModelTools

/// A page of objects.
struct BrowserRows: Encodable, Sendable {
    /// The entity whose properties are the columns.
    let entity: String
    /// How many objects there are on all pages.
    let total: Int
    let objects: [StoredObject]
}

extension StoreBrowser {
    /// How many members of a to-many are named; the rest is counted.
    private static let namedMembers = 20

    /// The objects of an entity that satisfy a predicate, sorted by an attribute.
    func rows(_ parameters: BrowserParameters) throws -> BrowserRows {
        let name = try parameters.required("entity")
        let entity = try entity(name)
        let predicate = try parameters["predicate"].map(Self.predicate)
        let sorting = try parameters["sort"].map { try Self.sorting($0, entity, isDescending: parameters["descending"] != nil) }
        let (offset, limit) = (parameters.offset, parameters.limit)
        let (ids, total) = try fetched(name, predicate, sorting, offset, limit)
        return BrowserRows(entity: name, total: total, objects: try shown(ids, memberLimit: 0))
    }

    private func fetched(
        _ entity: String,
        _ predicate: NSPredicate?,
        _ sorting: NSSortDescriptor?,
        _ offset: Int,
        _ limit: Int
    ) throws -> ([String], Int) {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        request.resultType = .managedObjectIDResultType
        request.predicate = predicate
        let context = context
        return try context.performAndWait {
            let total = try context.count(for: request)
            request.sortDescriptors = sorting.map { [$0] }
            (request.fetchOffset, request.fetchLimit) = (offset, limit)
            return (try context.fetch(request).map { $0.uriRepresentation().absoluteString }, total)
        }
    }

    /// One object with all that it has.
    func object(_ parameters: BrowserParameters) throws -> StoredObject {
        let id = try parameters.required("id")
        guard let object = try shown([id], memberLimit: Self.namedMembers).first else {
            throw BrowserError(404, "There is no object \(id) in the store.")
        }
        return object
    }

    /// The members of a to-many relationship of an object.
    func members(_ parameters: BrowserParameters) throws -> BrowserRows {
        let (id, name) = (try parameters.required("id"), try parameters.required("relationship"))
        guard let object = try inspector.objects([id], of: model, memberLimit: .max).first else {
            throw BrowserError(404, "There is no object \(id) in the store.")
        }
        let target = try entity(object.entity).relationshipsByName[name]?.destinationEntity?.name
        guard let target, case .some(let (ids, total)) = object.relationships[name]?.members else {
            throw BrowserError(404, "\(object.entity) has no to-many relationship \(name).")
        }
        let page = Array(ids.dropFirst(parameters.offset).prefix(parameters.limit))
        return BrowserRows(entity: target, total: total, objects: try shown(page, memberLimit: 0))
    }

    private func shown(_ ids: [String], memberLimit: Int) throws -> [StoredObject] {
        try inspector.objects(ids, of: model, memberLimit: memberLimit).map { object in
            var object = object
            object.attributes = object.attributes.mapValues(\.shown)
            return object
        }
    }

    private func entity(_ name: String) throws -> NSEntityDescription {
        guard let entity = model.entitiesByName[name] else { throw BrowserError(404, "The model has no entity \(name).") }
        return entity
    }

    private static func predicate(_ text: String) throws -> NSPredicate {
        do {
            return try NSPredicate(parsing: text)
        } catch {
            throw BrowserError(400, "\(error)")
        }
    }

    private static func sorting(_ key: String, _ entity: NSEntityDescription, isDescending: Bool) throws -> NSSortDescriptor {
        guard entity.attributesByName[key]?.isSortable == true else {
            throw BrowserError(400, "\(entity.name ?? "") has no attribute \(key) to sort by.")
        }
        return NSSortDescriptor(key: key, ascending: !isDescending)
    }
}

extension StoredValue {
    /// As much of it as a page shows: of data how many bytes there are, of a long text its beginning.
    fileprivate var shown: StoredValue {
        switch self {
        case .data(let data): .entries(["bytes": .integer(Int64(data.count))])
        case .text(let text) where text.utf8.count > 10_000: .text(text.prefix(10_000) + "…")
        case .list(let values): .list(values.map(\.shown))
        case .entries(let values): .entries(values.mapValues(\.shown))
        default: self
        }
    }
}
