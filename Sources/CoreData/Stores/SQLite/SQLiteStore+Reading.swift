import Foundation
import Predicates
import SQLiteDriver

extension SQLiteStore {
    /// Gives the rows of a query in order; what is left to be done in memory, if anything.
    func fetch(_ query: FetchQuery, _ body: (RowRun) throws -> Void) throws -> FetchResidue? {
        let plan = try plan(query, query.rowsToRead)
        if pool.locksReaders {
            // `body` makes objects, whose initialisers may fetch or save.
            for run in try runs(of: plan, query) { try body(run) }
        } else {
            try read(plan, query, body)
        }
        return residue(of: plan)
    }

    private func runs(of plan: FetchPlan, _ query: FetchQuery) throws -> [RowRun] {
        var runs: [RowRun] = []
        try read(plan, query) { (run: RowRun) in runs.append(run) }
        return runs
    }

    /// Gives the rows as they are read.
    private func read(_ plan: FetchPlan, _ query: FetchQuery, _ body: (RowRun) throws -> Void) throws {
        try withoutActuallyEscaping(body) { body in
            try read(plan.sinkSQL ?? plan.sql, plan, query) { statement, connection in
                let reader = RowReader(plan.columns, store: self) { run in
                    // Before objects get strangers' rows.
                    try self.requireNoStrangers(connection)
                    try body(run)
                }
                if plan.sinkSQL == nil { try reader.read(statement) } else { try reader.sink(statement, connection) }
            }
        }
    }

    func plan(_ query: FetchQuery, _ result: FetchPlan.Result) throws -> FetchPlan {
        if result != .count, type == NSSQLiteStoreType { try query.requireStoredOrder() }
        let plan = try FetchPlan(query, cache: plans, result: result, home: home, excluding: query.excludedKeys(in: number))
        if let error = plan.otherKind { throw error }
        return plan
    }

    private func residue(of plan: FetchPlan) -> FetchResidue? {
        guard plan.remainder != nil || plan.sortsInMemory else { return nil }
        return FetchResidue(predicates: plan.remainder.map { [number: $0] } ?? [:], sorts: plan.sortsInMemory, windows: true)
    }

    private func read<Result>(_ plan: FetchPlan, _ query: FetchQuery, _ body: (Statement) throws -> Result) throws -> Result {
        try read(plan.sql, plan, query) { statement, _ in try body(statement) }
    }

    private func read<Result>(
        _ sql: String,
        _ plan: FetchPlan,
        _ query: FetchQuery,
        _ body: (Statement, Connection) throws -> Result
    ) throws -> Result {
        try reporting("fetch") {
            try reading { connection in
                try connection.withCached(sql) { statement in
                    try statement.bind(plan.parameters)
                    SQLLog.note("parameters: \(plan.parameters)", level: 3)
                    return try connection.cancellable(when: query.isCancelled) { try body(statement, connection) }
                }
            }
        }
    }

    /// The identities of a query's rows; nil where part of the query can only be answered with objects.
    func references(_ query: FetchQuery) throws -> [RowReference]? {
        let plan = try plan(query, .references)
        guard residue(of: plan) == nil else { return nil }
        return try read(plan, query) { statement in
            var references: [RowReference] = []
            while try statement.step() { references.append(try reference(statement.int(0), number: Int(statement.int(1)), query.entity)) }
            return references
        }
    }

    private func reference(_ key: Int64, number: Int, _ entity: NSEntityDescription) throws -> RowReference {
        guard key > 0 else { throw RowReader.unusableKey(key, entity) }
        return RowReference(key: key, entity: Int32(schema.entity(numbered: number)?.description.index ?? 0), store: self.number)
    }

    /// The number of a query's rows; nil as for `references`.
    func count(_ query: FetchQuery) throws -> Int? {
        let plan = try plan(query, .count)
        guard residue(of: plan) == nil else { return nil }
        return try read(plan, query) { try $0.step() ? Int($0.int(0)) : 0 }
    }

    /// The newest row of one key: the cached one, else the one in the file.
    func row(for reference: RowReference) throws -> Row? {
        let entity = model.entitiesInIndexOrder[Int(reference.entity)]
        if let row = cache.row(root: entity.rootEntity.index, key: reference.key) { return row }
        return try reporting("read a row") { try reading { try readRow(reference.key, entity, $0) } }
    }

    /// The rows of many keys below one root entity, read with one statement.
    func rows(for keys: [Int64], root: NSEntityDescription) throws -> [Int64: Row] {
        if keys.isEmpty { return [:] }
        let frame = plans.frame(entity: root, includesSubentities: true, result: .rows)
        var rows: [Int64: Row] = [:]
        rows.reserveCapacity(keys.count)
        try reporting("read rows") {
            try reading { connection in
                try connection.withCached("\(frame.select) WHERE t0.\(SQLNames.key) IN \(SQLDialect.list)") { statement in
                    try statement.bind([.keys(keys)])
                    try RowReader(frame.columns, store: self) { run in
                        try self.requireNoStrangers(connection)
                        for (offset, index) in run.range.enumerated() {
                            let row = (run.known.isEmpty ? nil : run.known[offset]) ?? Row(run.batch, index)
                            rows[EntityLayout.key(run.batch.row(index))] = row
                        }
                    }.read(statement)
                }
            }
        }
        return rows
    }

    /// Reads a row past the cache, which then has it.
    func readRow(_ key: Int64, _ entity: NSEntityDescription, _ connection: Connection) throws -> Row? {
        let lookUp = lookUp(of: entity)
        return try connection.withCached(lookUp.sql) { statement in
            try statement.bind(.integer(key), at: 1)
            var found: Row?
            try RowReader(lookUp.columns, store: self) { [cache] run in
                found = run.known.first.flatMap { $0 } ?? Row(run.batch, run.range.lowerBound)
                cache.keep(run.batch)
            }.read(statement)
            return found
        }
    }

    private func relationshipPlan(_ relationship: NSRelationshipDescription) -> RelationshipPlan? {
        relationshipPlans.withLock { plans in
            if let plan = plans[ObjectIdentifier(relationship)] { return plan }
            let plan = relationship.owner(in: schema).flatMap { RelationshipPlan(relationship, of: $0, schema: schema) }
            plans[ObjectIdentifier(relationship)] = plan
            return plan
        }
    }

    /// The rows of a to-many relationship for many owners, by owner and place.
    func relatedRows(_ relationship: NSRelationshipDescription, owners: [Int64]) throws -> [RelatedRow] {
        guard !owners.isEmpty, let plan = relationshipPlan(relationship) else { return [] }
        return try reporting("read a relationship") {
            try reading { connection in
                let collector = RelatedRowCollector(store: number, isOrdered: plan.isOrdered)
                let reader = RowReader(plan.columns, from: 2, store: self) { collector.add($0) }
                try plan.scan?.read(of: owners, connection, with: reader) { collector.noteSide($0) }
                if !collector.rows.isEmpty { return collector.sortedRows }
                try connection.withCached(plan.sql(ownerCount: owners.count)) { statement in
                    try statement.bind(plan.parameters(owners[...]))
                    try reader.read(statement) { collector.noteSide($0) }
                }
                return collector.rows
            }
        }
    }
}
