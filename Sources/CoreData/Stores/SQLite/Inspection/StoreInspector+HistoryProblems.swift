import SQLiteDriver

extension StoreInspector {
    /// Where the history and the rows do not agree, as far as one file can say: what was deleted last is gone, all else that it names is there.
    func historyProblems(_ schema: SQLSchema) throws -> [String] {
        guard try hasHistory() else { return [] }
        let tables = Dictionary(grouping: schema.entities, by: \.table).sorted { binaryOrder($0.key, $1.key) }
        return try counterProblems() + referenceProblems() + tables.flatMap { try rowProblems($0.key, $0.value) }
    }

    private func counterProblems() throws -> [String] {
        let counters = [
            (HistoryTables.change, "ACHANGE"), (HistoryTables.transaction, "ATRANSACTION"), (HistoryTables.string, "ATRANSACTIONSTRING"),
        ]
        return try counters.compactMap { entity, table in
            let highest = try number("SELECT max(Z_PK) FROM \(table)")
            let counted = try number("SELECT max(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT = \(entity)")
            return highest > counted ? "\(table) has the key \(highest), and Z_PRIMARYKEY gives out keys from \(counted + 1) on." : nil
        }
    }

    private func referenceProblems() throws -> [String] {
        let lost = try number(
            "SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID IS NULL OR ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)"
        )
        let unknown = try number("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE IS NULL OR ZCHANGETYPE NOT IN (0, 1, 2)")
        let texts = try ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"].filter { name in
            let column = "Z\(name)TS"
            return try number(
                "SELECT count(*) FROM ATRANSACTION WHERE \(column) NOTNULL AND \(column) NOT IN (SELECT Z_PK FROM ATRANSACTIONSTRING)"
            ) > 0
        }
        return (lost > 0 ? ["The history has changes of no transaction: \(lost)."] : [])
            + (unknown > 0 ? ["The history has changes of an unknown kind: \(unknown)."] : [])
            + texts.map { "Transactions of the history name a Z\($0)TS that is not there." }
    }

    /// Of one table: the last change of each key against its row.
    private func rowProblems(_ table: String, _ entities: [SQLEntity]) throws -> [String] {
        let numbers = entities.map { "\($0.number)" }.joined(separator: ", ")
        let last = """
            SELECT ZENTITYPK k, ZCHANGETYPE kind, row_number() OVER (PARTITION BY ZENTITYPK ORDER BY ZTRANSACTIONID DESC, Z_PK DESC) place \
            FROM ACHANGE WHERE ZENTITY IN (\(numbers))
            """
        let rows = "SELECT Z_PK FROM \(table)"
        let there = try number("SELECT count(*) FROM (\(last)) WHERE place = 1 AND kind = 2 AND k IN (\(rows))")
        let gone = try number("SELECT count(*) FROM (\(last)) WHERE place = 1 AND kind < 2 AND k NOT IN (\(rows))")
        return (there > 0 ? ["\(table) has rows that the history says were deleted: \(there)."] : [])
            + (gone > 0 ? ["\(table) lacks rows that the history does not say were deleted: \(gone)."] : [])
    }
}
