import Foundation
import Predicates

@testable import CoreData

/// An incremental store that keeps everything in this process, by URL: what a service on another machine would be.
final class DictionaryStore: NSIncrementalStore {
    static let storeType = "Dictionary"
    override var type: String { Self.storeType }

    struct Entry {
        let entity: String
        var values: [String: Any]
        /// The ends of relationships, as reference objects.
        var ends: [String: [String]]
        var version: UInt64
    }

    /// A request that only this kind of store knows: how many entries there are.
    final class Count: NSPersistentStoreRequest {
        var more = 0
    }

    /// What is on the other machine.
    // Sendable: the lock orders access.
    final class Service: @unchecked Sendable {
        private let lock = NSLock()
        private var stored: [String: Entry] = [:]
        private var last = 0
        let uuid = UUID().uuidString
        private var versions: [String: Data]?

        /// The versions of the entities that it was made with: these, where it is new.
        func versions(_ current: [String: Data]?) -> [String: Data]? {
            lock.withLock {
                versions = versions ?? current
                return versions
            }
        }

        var entries: [String: Entry] { lock.withLock { stored } }
        func change(_ body: (inout [String: Entry]) -> Void) { lock.withLock { body(&stored) } }
        func nextReference() -> String {
            lock.withLock {
                last += 1
                return "r\(last)/ä"
            }
        }
    }

    private static let lock = NSLock()
    // As the lock says.
    nonisolated(unsafe) private static var services: [URL: Service] = [:]

    private(set) var service = Service()
    /// How many objects the last save was to delete.
    private(set) var lastDeleted = 0

    override func loadMetadata() throws {
        service = Self.lock.withLock {
            let service = Self.services[url!] ?? Service()
            Self.services[url!] = service
            return service
        }
        metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: service.uuid]
        let model = persistentStoreCoordinator!.managedObjectModel
        let names = Set((model.entities(forConfigurationName: configurationName) ?? []).compactMap(\.name))
        metadata[NSStoreModelVersionHashesKey] = service.versions(model.entityVersionHashesByName.filter { names.contains($0.key) })
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let request = request as? NSSaveChangesRequest { return try save(request) }
        if let request = request as? Count { return service.entries.count + request.more }
        guard let request = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = request.entity, let context else {
            return try super.execute(request, with: context)
        }
        let names = Set(([entity] + (request.includesSubentities ? allSubentities(of: entity) : [])).compactMap(\.name))
        let entities = persistentStoreCoordinator!.managedObjectModel.entitiesByName
        var objects = service.entries.filter { names.contains($0.value.entity) }.sorted {
            $0.key.count == $1.key.count ? $0.key < $1.key : $0.key.count < $1.key.count
        }
        .map { context.object(with: newObjectID(for: entities[$0.value.entity]!, referenceObject: $0.key)) }
        // As SQL has it, where nil is neither equal to anything nor different from it.
        if let predicate = request.predicate { objects = try objects.filter { try predicate.tree.holds(for: $0) } }
        if let order = request.sortDescriptors {
            objects.sort { left, right in
                for descriptor in order {
                    let result = descriptor.compare(left, to: right)
                    if result != .orderedSame { return result == .orderedAscending }
                }
                return false
            }
        }
        objects = Array(objects.dropFirst(request.fetchOffset))
        if request.fetchLimit > 0 { objects = Array(objects.prefix(request.fetchLimit)) }
        switch request.resultType {
        case .countResultType: return [NSNumber(value: objects.count)]
        case .dictionaryResultType: return dictionaries(of: objects, request)
        default: return objects
        }
    }

    /// Columns are attributes or, for each group of them, the number of its objects.
    private func dictionaries(
        of objects: [NSManagedObject],
        _ request: NSFetchRequest<any NSFetchRequestResult>
    ) -> [[String: Any]] {
        let columns = request.propertiesToFetch ?? []
        let keys = columns.compactMap { $0 as? String }
        let rows = objects.map { object in
            Dictionary(uniqueKeysWithValues: keys.compactMap { key in object.value(forKey: key).map { (key, $0) } })
        }
        guard let count = columns.compactMap({ $0 as? NSExpressionDescription }).first else { return rows }
        var groups: [(row: [String: Any], number: Int)] = []
        for row in rows {
            if let index = groups.firstIndex(where: { NSDictionary(dictionary: $0.row).isEqual(to: row) }) {
                groups[index].number += 1
            } else {
                groups.append((row, 1))
            }
        }
        return groups.map { group in group.row.merging([count.name: group.number]) { $1 } }
    }

    private func allSubentities(of entity: NSEntityDescription) -> [NSEntityDescription] {
        entity.subentities.flatMap { [$0] + allSubentities(of: $0) }
    }

    private func save(_ request: NSSaveChangesRequest) throws -> [Any] {
        let saved = (request.insertedObjects ?? []).union(request.updatedObjects ?? []).map {
            ("\(referenceObject(for: $0.objectID))", entry(of: $0))
        }
        let deleted = (request.deletedObjects ?? []).map { "\(referenceObject(for: $0.objectID))" }
        lastDeleted = deleted.count
        service.change { entries in
            for (reference, entry) in saved {
                let version = entries[reference]?.version ?? 0
                entries[reference] = entry
                entries[reference]?.version = version + 1
            }
            for reference in deleted { entries[reference] = nil }
        }
        return []
    }

    private func entry(of object: NSManagedObject) -> Entry {
        var entry = Entry(entity: object.entity.name ?? "", values: [:], ends: [:], version: 0)
        for name in object.entity.attributesByName.keys { entry.values[name] = object.value(forKey: name) }
        for name in object.entity.relationshipsByName.keys {
            entry.ends[name] = object.objectIDs(forRelationshipNamed: name).map { "\(referenceObject(for: $0))" }
        }
        return entry
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        let entry = try entry(objectID)
        return NSIncrementalStoreNode(objectID: objectID, withValues: entry.values, version: entry.version)
    }

    private func entry(_ objectID: NSManagedObjectID) throws -> Entry {
        guard let entry = service.entries["\(referenceObject(for: objectID))"] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        return entry
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let (entries, entities) = (service.entries, persistentStoreCoordinator!.managedObjectModel.entitiesByName)
        let ids = try entry(objectID).ends[relationship.name, default: []].compactMap { end in
            entries[end].map { newObjectID(for: entities[$0.entity]!, referenceObject: end) }
        }
        return relationship.isToMany ? ids : ids.first ?? NSNull()
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: service.nextReference()) }
    }
}
