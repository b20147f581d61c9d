import Foundation
import Predicates

/// Fetches and counts.
extension NodeReading {
    func references(_ query: FetchQuery) throws -> [RowReference] {
        let excluded = Set(query.excludedKeys(in: store.number))
        let request = request(query, excluded.count)
        let context = StagedObjects(coordinator).context
        let answer = try store.answer(request, context)
        guard let results = answer as? [Any] else {
            throw broken("execute(_:with:)", "has returned \(type(of: answer)) for a fetch, not an array")
        }
        guard request.fetchLimit == 0 || results.count <= request.fetchLimit else {
            throw broken("execute(_:with:)", "has returned \(results.count) objects for a fetch that is limited to \(request.fetchLimit)")
        }
        let references = try results.map { try reference(of: $0, query) }
        try requireDistinct(references)
        return excluded.isEmpty ? references : window(references.filter { !excluded.contains($0.key) }, query)
    }

    private func requireDistinct(_ references: [RowReference]) throws {
        var known = Set<Int64>(minimumCapacity: references.count)
        if let twice = references.first(where: { !known.insert($0.key).inserted }) {
            throw broken("execute(_:with:)", "has returned \(id(twice)) twice for one fetch")
        }
    }

    private func request(_ query: FetchQuery, _ excluded: Int) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = query.entity
        request.predicate = query.predicate?.predicate
        request.sortDescriptors = query.sortDescriptors.isEmpty ? nil : query.sortDescriptors
        request.includesSubentities = query.includesSubentities
        // What a class sends on to a stack of its own names no store of this one, unless it has to be named.
        if coordinator.persistentStores.count > 1 { request.affectedStores = [store] }
        (request.fetchLimit, request.fetchOffset) = (query.limit, query.offset)
        if excluded > 0 {
            // What does not count is only known afterwards.
            let (sum, isOverflown) = query.rowsUpToLimit.addingReportingOverflow(excluded)
            (request.fetchLimit, request.fetchOffset) = (query.rowsUpToLimit == 0 || isOverflown ? 0 : sum, 0)
        }
        return request
    }

    private func window(_ references: [RowReference], _ query: FetchQuery) -> [RowReference] {
        let rest = references.dropFirst(query.offset)
        return Array(query.limit > 0 ? rest.prefix(query.limit) : rest)
    }

    private func reference(of result: Any, _ query: FetchQuery) throws -> RowReference {
        guard let id = (result as? NSManagedObject)?.objectID ?? result as? NSManagedObjectID else {
            throw broken("execute(_:with:)", "has returned \(result) among the objects of a fetch")
        }
        let reference = try own(id, "execute(_:with:)")
        guard entity(reference).isKindOf(entity: query.entity) else {
            throw broken("execute(_:with:)", "has returned \(id) for a fetch of \(query.entity.name ?? "?")")
        }
        return reference
    }

    /// - Throws: where an ID is not of the store.
    func own(_ id: NSManagedObjectID, _ method: String) throws -> RowReference {
        guard store.isOwn(id), let entity = coordinator.managedObjectModel.entitiesByName[id.entity.name ?? ""] else {
            throw broken(method, "has returned \(id), which is the ID of no object of this store")
        }
        return RowReference(key: id.identity.key, entity: Int32(entity.index), store: store.number)
    }

    func count(_ query: FetchQuery) throws -> Int {
        let query = query.ordersObjects ? query.unordered : query
        guard query.excludedKeys(in: store.number).isEmpty else { return try references(query).count }
        let request = request(query, 0)
        request.resultType = .countResultType
        let answer = try store.answer(request, StagedObjects(coordinator).context)
        guard case .number(let count)? = ReferenceObject((answer as? [Any])?.first ?? answer), count >= 0, Int(exactly: count) != nil else {
            throw broken("execute(_:with:)", "has returned \(Self.summary(of: answer)) for a count")
        }
        guard query.limit == 0 || count <= query.limit else {
            throw broken("execute(_:with:)", "has returned \(count) for a count that is limited to \(query.limit)")
        }
        return Int(count)
    }
}

extension FetchQuery {
    /// Whether a descriptor without a key compares the objects themselves, which a store's class does not have.
    var ordersObjects: Bool { sortDescriptors.contains { $0.key == nil } }

    /// The query without its order.
    fileprivate var unordered: FetchQuery {
        var query = self
        query.sortDescriptors = []
        return query
    }

    /// All rows, of which order, limit and offset make what is asked for.
    var whole: FetchQuery {
        var query = unordered
        (query.limit, query.offset) = (0, 0)
        return query
    }
}

/// Fetches for dictionaries.
extension NodeReading {
    func values(_ query: DictionaryQuery) throws -> [[Any?]] {
        let request = request(query.rows, 0)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = query.columns.map(\.property)
        request.propertiesToGroupBy = query.groups.isEmpty ? nil : query.groups.map(\.property)
        request.havingPredicate = query.having?.predicate
        request.returnsDistinctResults = query.isDistinct
        let answer = try store.answer(request, StagedObjects(coordinator).context)
        guard let dictionaries = answer as? [[String: Any]] else {
            throw broken("execute(_:with:)", "has returned \(Self.summary(of: answer)) for a fetch of dictionaries")
        }
        return try dictionaries.map { dictionary in try query.columns.map { try value(dictionary[$0.name], $0, query.rows.entity) } }
    }

    /// An answer in an error: of many objects, which a class may give that looks at no result type, the first.
    private static func summary(of answer: Any) -> String {
        guard let answers = answer as? [Any], let first = answers.first, answers.count > 1 else { return "\(answer)" }
        return "\(answers.count) values, the first of which is \(first),"
    }

    /// What a dictionary has for a column; of an attribute what it can hold.
    private func value(_ given: Any?, _ column: DictionaryQuery.Column, _ entity: NSEntityDescription) throws -> Any? {
        let value = unwrapped(given)
        guard let value, !(value is NSNull), case .keyPath(nil, let name) = column.expression.tree,
            let attribute = entity.attributesByName[name]
        else { return value }
        if SlotValue(given: value, for: attribute) != nil { return value }
        throw broken(
            "execute(_:with:)",
            "has returned \(type(of: value)) for \(entity.name ?? "?").\(name) in a dictionary, which is of another type, or does not fit"
        )
    }
}

extension DictionaryQuery.Column {
    /// The column as a request names it: its key, or what computes it.
    fileprivate var property: Any {
        if type == .undefinedAttributeType, case .keyPath(nil, name) = expression.tree { return name }
        let description = NSExpressionDescription()
        (description.name, description.expression, description.expressionResultType) = (name, expression, type)
        return description
    }
}

extension PredicateTree {
    /// The tree as a predicate that can be evaluated, printed or translated.
    var predicate: NSPredicate {
        switch self {
        case .constant(let value): NSPredicate(value: value)
        case .and(let parts): NSCompoundPredicate(andPredicateWithSubpredicates: parts.map(\.predicate))
        case .or(let parts): NSCompoundPredicate(orPredicateWithSubpredicates: parts.map(\.predicate))
        case .not(let part): NSCompoundPredicate(notPredicateWithSubpredicate: part.predicate)
        case .comparison(let comparison): comparison
        case .opaque(let predicate): predicate
        }
    }
}
