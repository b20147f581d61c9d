import SQLiteDriver

/// Finds out, inside the transaction that is to act on it, whether a decision of memory's is still right.
struct DecisionCheck {
    let store: SQLiteStore
    let connection: Connection

    /// The rows of a query of keys, numbers of entities and versions.
    func candidates(_ query: SQLText) throws -> [BatchDecision.Candidate] {
        var rows: [BatchDecision.Candidate] = []
        try connection.withCached(query.sql) { statement in
            try statement.bind(query.parameters)
            while try statement.step() {
                guard let entity = store.schema.entity(numbered: Int(statement.int(1))) else { continue }
                rows.append(.init(key: statement.int(0), entity: entity.description.index, version: statement.int(2)))
            }
        }
        return rows
    }

    /// Whether the rows are those that were looked at, and the others that were read are what they were.
    func holds(_ decision: BatchDecision, for candidates: [BatchDecision.Candidate]) throws -> Bool {
        let isOfRows = candidates == decision.candidates
        return try forgetOvertakenPremises(of: decision) && isOfRows
    }

    /// NB: whoever decides again has to read them, and not find them in the cache.
    private func forgetOvertakenPremises(of decision: BatchDecision) throws -> Bool {
        let own = decision.premises.keys.filter { $0.store == store.number }
        var isTrue = true
        for (root, references) in Dictionary(grouping: own, by: { store.model.entitiesInIndexOrder[Int($0.entity)].rootEntity.index }) {
            let versions = try versions(references.map(\.key), root: root)
            let overtaken = references.filter { versions[$0.key] != decision.premises[$0] }
            store.cache.forget(root: root, keys: overtaken.map(\.key))
            isTrue = isTrue && overtaken.isEmpty
        }
        return isTrue
    }

    private func versions(_ keys: [Int64], root: Int) throws -> [Int64: Int32] {
        let table = store.schema.entity(for: store.model.entitiesInIndexOrder[root]).table
        var versions: [Int64: Int32] = [:]
        let select = "SELECT \(SQLNames.key), \(SQLNames.version) FROM \(table) WHERE \(SQLNames.key) IN \(SQLDialect.list)"
        try connection.withCached(select) { statement in
            try statement.bind([.keys(keys)])
            while try statement.step() { versions[statement.int(0)] = EntityLayout.version(ofStored: statement.int(1)) }
        }
        return versions
    }
}
