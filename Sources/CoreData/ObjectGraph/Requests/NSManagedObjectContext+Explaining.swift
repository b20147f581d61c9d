import Foundation

extension NSManagedObjectContext {
    /// How this context would answer a request: statements, SQLite's plans, and what is left to memory. No row is fetched.
    ///
    /// ```swift
    /// print(try context.explain(request))
    /// ```
    /// - Throws: as `fetch(_:)`.
    public func explain<Result>(_ request: NSFetchRequest<Result>) throws -> FetchExplanation {
        try reading(request) { entity in
            guard let coordinator = persistentStoreCoordinator else { return FetchExplanation(statements: []) }
            if request.resultType == .dictionaryResultType {
                return try coordinator.explain(.dictionaries(DictionaryQuery(request, query(request, entity))))
            }
            var query = query(request, entity)
            query.properties = try heldProperties(request, entity)
            guard let overlay = try overlay(request, query) else { return try coordinator.explain(request.explained(query)) }
            var explanation = try coordinator.explain(.objects(overlay.storeQuery))
            explanation.inMemory.append(overlay.explanation)
            return explanation
        }
    }
}

extension NSFetchRequest {
    fileprivate func explained(_ query: FetchQuery) -> ExplainedQuery {
        switch resultType {
        case .countResultType: .count(query)
        case .managedObjectIDResultType: .references(query)
        default: fetchBatchSize > 0 || !includesPropertyValues ? .references(query) : .objects(query)
        }
    }
}

extension NSPersistentStoreCoordinator {
    func explain(_ query: ExplainedQuery) throws -> FetchExplanation {
        let stores = try stores(for: query.rows)
        var explanation = FetchExplanation(statements: [])
        for store in stores {
            let part = try store.explain(query)
            explanation.statements += part.statements
            for line in part.inMemory where !explanation.inMemory.contains(line) { explanation.inMemory.append(line) }
        }
        if stores.count > 1 { explanation.inMemory.append("order, groups, limit and offset: there are \(stores.count) stores") }
        return explanation
    }
}
