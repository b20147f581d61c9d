import Foundation

/// The relationships that a fetch reads along with its results, as a tree: what several key paths begin with is read once.
struct PrefetchPaths {
    struct Branch {
        let key: String
        var rest = PrefetchPaths()
    }
    private(set) var branches: [Branch] = []

    var isEmpty: Bool { branches.isEmpty }

    init() {}

    /// - Throws: `CocoaError` 134060 for a key that no object at its place in the path can have.
    init(_ paths: [String], _ entity: NSEntityDescription) throws {
        for path in paths {
            let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            try Self.requireRelationships(keys, path, entity)
            add(keys[...])
        }
    }

    private mutating func add(_ keys: ArraySlice<String>) {
        guard let key = keys.first else { return }
        let index = branches.firstIndex { $0.key == key } ?? branches.endIndex
        if index == branches.endIndex { branches.append(Branch(key: key)) }
        branches[index].rest.add(keys.dropFirst())
    }

    private static func requireRelationships(_ keys: [String], _ path: String, _ entity: NSEntityDescription) throws {
        var entity = entity
        for key in keys {
            guard let relationship = relationship(key, of: entity) else { throw refusal(entity, key, path) }
            entity = relationship.destination
        }
    }

    /// One of the entity, or of one that inherits from it: a result may hold such objects.
    private static func relationship(_ key: String, of entity: NSEntityDescription) -> NSRelationshipDescription? {
        ([entity] + entity.allSubentities).lazy.compactMap { $0.propertiesByName[key] as? NSRelationshipDescription }.first
    }

    private static func refusal(_ entity: NSEntityDescription, _ key: String, _ path: String) -> CocoaError {
        .coreData(
            .coreData,
            "A fetch cannot prefetch “\(path)”: entity \(entity.name ?? "?") has no relationship “\(key)” (relationshipKeyPathsForPrefetching)."
                + entity.hint(forRelationship: key)
        )
    }
}

extension NSFetchRequest {
    /// What is read along, where the results are objects.
    func prefetchPaths(_ entity: NSEntityDescription) throws -> PrefetchPaths {
        try PrefetchPaths(resultType == .managedObjectResultType ? relationshipKeyPathsForPrefetching ?? [] : [], entity)
    }
}
