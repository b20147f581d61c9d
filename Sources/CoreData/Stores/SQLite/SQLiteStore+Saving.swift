import CSQLite
import Foundation
import SQLiteDriver

extension SQLiteStore {
    /// Writes changes in one transaction. `next` runs before the commit, with what was written: where it throws, nothing is written here either.
    ///
    /// The caller calls `publish()` of the run that is returned.
    ///
    /// - Throws: `SaveConflicts` or a `CocoaError`; the file is as it was then.
    func write(_ changes: StoreChanges, _ next: (SaveRun) throws -> Void) throws -> SaveRun {
        do {
            let run = try pool.write { connection in
                do { return try write(changes, connection, next) } catch let conflicts as SaveConflicts {
                    // Others would change the same rows once more before they are resolved.
                    throw conflicts.keepingTurn(lock.keepNextTurn())
                }
            }
            snapshots.noteSave(of: self)
            return run
        } catch let error as SQLiteError {
            orderMarks.forget()
            throw CocoaError(error, url: url, doing: "save", default: .persistentStoreSave)
        } catch {
            orderMarks.forget()
            throw error
        }
    }

    /// Where rows break a unique index, it is found out which. Where the rows of the save were only in each other's way, since one takes a value
    /// that another gives up, their values are taken away before the new ones are written.
    private func write(_ changes: StoreChanges, _ connection: Connection, _ next: (SaveRun) throws -> Void) throws -> SaveRun {
        for attempt in 0..<Self.maximumAttempts {
            do {
                return try write(SaveRun(self, changes, connection, freesValues: attempt > 0), connection, next)
            } catch let broken as BrokenUniqueIndex {
                try ConstraintSearch(self, changes, connection).throwConflicts()
                // The model knows nothing of that index.
                if attempt == Self.maximumAttempts - 1 { throw broken.error }
            }
        }
        misuse("unreachable: the last attempt returns or throws")
    }

    /// Another process may write between two attempts.
    private static let maximumAttempts = 3

    private func write(_ run: SaveRun, _ connection: Connection, _ next: (SaveRun) throws -> Void) throws -> SaveRun {
        do {
            try connection.transaction(.immediate) {
                try run.write()
                try requireFile(of: connection)
                try next(run)
            }
        } catch {
            run.revertPositions()
            orderMarks.forget()
            throw error
        }
        run.noteCommit()
        lock.commits.signal()
        return run
    }

    /// Takes a block of primary keys; the first is returned. Runs in the caller's transaction.
    func reserveKeys(_ count: Int, root: Int, _ connection: Connection) throws -> Int64 {
        let (counter, last) = (SQLNames.entityTable, SQLNames.lastKey)
        let entity = schema.entity(numbered: root)
        let present = entity.map { "(SELECT max(\(SQLNames.key)) FROM \($0.table))" } ?? "NULL"
        let counted = "SELECT \(last), \(present) FROM \(counter) WHERE \(SQLNames.entity) = ?"
        guard let row = try connection.rows(counted, [.integer(Int64(root))]).first, case .integer(let highest) = row[0] else {
            throw CocoaError.coreData(
                .persistentStoreSave,
                "\(SQLNames.entityTable) of \(url?.path ?? "the store") has no row for entity number \(root)."
            )
        }
        // Keys of objects are positive, and those of rows are given out, whatever a file says.
        let used = if case .integer(let key) = row[1] { max(highest, key, 0) } else { max(highest, 0) }
        let floor = references.map { $0.reserve(count, after: used, root: entity?.description.name ?? "") } ?? used
        let (lastGiven, isBeyond) = floor.addingReportingOverflow(Int64(count))
        guard !isBeyond else {
            throw CocoaError.coreData(
                .persistentStoreSave,
                "\(url?.path ?? "The store") has no keys left for new objects: \(SQLNames.lastKey) of entity number \(root) is \(highest)."
            )
        }
        try connection.run(
            "\(SQLDialect.updateUpToFailure) \(counter) SET \(last) = ? WHERE \(SQLNames.entity) = ? AND \(last) = ?",
            [.integer(lastGiven), .integer(Int64(root)), .integer(highest)]
        )
        return lastGiven - Int64(count) + 1
    }

    /// No key that was given out before is given out again, though somebody has counted back: nobody could write a row of that key then.
    func noteKeys(upTo key: Int64, root: Int, _ connection: Connection) throws {
        let last = max(key, keyPool.last(root: root))
        let column = SQLNames.lastKey
        try connection.run(
            "UPDATE \(SQLNames.entityTable) SET \(column) = ?1 WHERE \(SQLNames.entity) = ?2 AND \(column) < ?1",
            [.integer(last), .integer(Int64(root))]
        )
    }

    /// Takes a block of primary keys in a transaction of its own.
    func reserveKeys(_ count: Int, for entity: NSEntityDescription) throws -> Int64 {
        try reporting("reserve object IDs") {
            try pool.write { connection in
                try connection.transaction(.immediate) {
                    try requireFile(of: connection)
                    try requireSameStore(connection)
                    return try reserveKeys(count, root: schema.entity(for: entity).rootNumber, connection)
                }
            }
        }
    }

    /// The versions that rows have in the file, by key; those that are there. One statement.
    func readVersions(_ keys: [Int64], _ entity: NSEntityDescription, _ connection: Connection) throws -> [Int64: Int64] {
        guard !keys.isEmpty else { return [:] }
        return try connection.withCached(saveStatements(entity).versions) { statement in
            try statement.bind([.keys(keys)])
            var versions: [Int64: Int64] = [:]
            while try statement.step() { versions[statement.int(0)] = statement.int(1) }
            return versions
        }
    }

    /// The statements of an entity, made at first use.
    func saveStatements(_ entity: NSEntityDescription) -> SaveStatements {
        entityStatements.withLock { known in
            if let statements = known[entity.index]?.save { return statements }
            let statements = SaveStatements(schema.entity(for: entity), shape: entity.shape, marks: orderMarks)
            known[entity.index, default: EntityStatements()].save = statements
            return statements
        }
    }

    /// The statement that reads one row of an entity.
    func lookUp(of entity: NSEntityDescription) -> RowLookUp {
        entityStatements.withLock { known in
            if let lookUp = known[entity.index]?.lookUp { return lookUp }
            let lookUp = RowLookUp(entity, schema)
            known[entity.index, default: EntityStatements()].lookUp = lookUp
            return lookUp
        }
    }

    struct EntityStatements {
        var save: SaveStatements?
        var lookUp: RowLookUp?
        var history: HistoryBits?
    }
}

/// The statement that reads one row by its key, whichever entity of the tree it is of.
struct RowLookUp {
    let sql: String
    let columns: SelectedColumns

    init(_ entity: NSEntityDescription, _ schema: SQLSchema) {
        columns = SelectedColumns(entity: entity.rootEntity, includesSubentities: true, schema: schema, alias: "t0", firstColumn: 0)
        sql = "SELECT \(columns.list) FROM \(schema.entity(for: entity).table) t0 WHERE t0.\(SQLNames.key) = ?"
    }
}
