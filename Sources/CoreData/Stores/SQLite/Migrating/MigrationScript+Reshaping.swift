import SQLiteDriver

/// Tables that stay: their rows, columns and indexes.
extension MigrationScript {
    /// NB: an index keeps its columns from being taken out, goes along with those that get another name, and has the table's name in its own.
    mutating func dropStaleIndexes() {
        let wanted = Dictionary(indexStatements(transition.new).map { ($0.name, plain($0.sql)) }) { $1 }
        let known = Set(indexStatements(transition.old).map(\.name))
        let (columns, kept) = (columnsThatGo, keptTables)
        for index in file.indexes {
            guard let goes = columns[index.table] else { continue }
            let isOurs = known.contains(index.name) || wanted[index.name] != nil
            let stays = kept.contains(index.table) && wanted[index.name] == plain(index.sql)
            if goes.contains(where: index.mentions) || isOurs && !stays { dropIndex(index.name) }
        }
    }

    /// For each old table that stays: the columns that go, or have other names.
    private var columnsThatGo: [String: [String]] {
        var columns: [String: [String]] = [:]
        for change in transition.tables where change.isInPlace {
            if let origin = change.origin { columns[origin.name] = dropped(change, origin) + change.renamed.map(\.old) }
        }
        for join in transition.joins {
            if let kept = join.kept { columns[kept.name] = zip(kept.columns, join.table.columns).filter { $0 != $1 }.map(\.0) }
        }
        return columns
    }

    /// The columns that nothing comes from, and those of no model under a name that is needed now, as a migration that was put off may leave them.
    private func dropped(_ change: TableChange, _ origin: SQLTable) -> [String] {
        let (own, wanted) = (Set(origin.columns.map(\.name)), Set(change.columns.map(\.name)))
        return change.dropped + (file.columns[origin.name] ?? []).filter { !own.contains($0) && wanted.contains($0) }
    }

    mutating func reshape() {
        let stored = Dictionary(grouping: transition.old.entities, by: \.table)
        for change in transition.tables where change.isInPlace {
            guard let origin = change.origin else { continue }
            let (table, kept) = (now(origin.name), Self.list(change.numbers.map(\.old)))
            let goes = (stored[origin.name] ?? []).contains { entity in !change.numbers.contains { $0.old == entity.number } }
            if goes { run("DELETE FROM \(table) WHERE Z_ENT NOT IN (\(kept))") }
            let changed = change.numbers.filter { $0.old != $0.new }
            if !changed.isEmpty {
                run("UPDATE \(table) SET Z_ENT = \(Self.renumbered("Z_ENT", changed)) WHERE Z_ENT IN (\(Self.list(changed.map(\.old))))")
            }
            let dropped = dropped(change, origin)
            for column in dropped { run("ALTER TABLE \(table) DROP COLUMN \(column)") }
            let added = change.added.map { (old: temporaryName($0.name, change), new: $0.name) }.filter { $0.old != $0.new }
            renameColumns(change.renamed + added, of: table, beside: Set(file.columns[origin.name] ?? []).subtracting(dropped))
        }
        for join in transition.joins {
            guard let kept = join.kept else { continue }
            let pairs = zip(kept.columns, join.table.columns).filter { $0 != $1 }.map { (old: $0, new: $1) }
            renameColumns(pairs, of: now(kept.name), beside: Set(kept.columns))
        }
    }

    /// Names may change places: then all of them are given up first.
    private mutating func renameColumns(_ names: [(old: String, new: String)], of table: String, beside others: Set<String>) {
        guard names.contains(where: { others.contains($0.new) }) else {
            for name in names { run("ALTER TABLE \(table) RENAME COLUMN \(name.old) TO \(name.new)") }
            return
        }
        for (number, name) in names.enumerated() { run("ALTER TABLE \(table) RENAME COLUMN \(name.old) TO CD_RENAMING_\(number)") }
        for (number, name) in names.enumerated() { run("ALTER TABLE \(table) RENAME COLUMN CD_RENAMING_\(number) TO \(name.new)") }
    }

    /// Indexes by their names.
    func indexStatements(_ schema: SQLSchema) -> [(name: String, sql: String)] {
        schema.creationStatements.filter { $0.hasPrefix("CREATE INDEX ") || $0.hasPrefix("CREATE UNIQUE INDEX ") }.compactMap { sql in
            let words = sql.components(separatedBy: " INDEX ")[1].components(separatedBy: " ON ")
            return words.first.map { ($0.replacingOccurrences(of: "\"", with: ""), sql) }
        }
    }

    /// NB: SQLite puts quotes around the name of a table that was renamed.
    func plain(_ sql: String) -> String { sql.replacingOccurrences(of: "\"", with: "") }
}
