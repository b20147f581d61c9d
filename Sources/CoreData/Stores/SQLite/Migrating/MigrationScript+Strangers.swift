import SQLiteDriver

/// What others have put into the file that names tables of the model: views, and triggers on tables of their own. All of it is afterwards as it was.
///
/// NB: SQLite changes the names of tables along in them, and changes no table and no column while one of them leads nowhere.
extension MigrationScript {
    mutating func putStrangersAside() {
        for trigger in strangersTriggers { run("DROP TRIGGER \(quotedName(trigger.name))") }
        for view in file.views { run("DROP VIEW \(quotedName(view.name))") }
    }

    mutating func putStrangersBack() {
        for sql in file.views.map(\.sql) + strangersTriggers.map(\.sql) { run(sql) }
    }

    private var strangersTriggers: [StoreFile.Trigger] {
        let own = Set(transition.old.tables.map(\.name) + transition.old.joinTables.map(\.name))
        return file.triggers.filter { !own.contains($0.table) && !$0.name.hasPrefix("Z_DA_") }
    }

    /// Indexes on tables that were rebuilt, of columns that are still there.
    ///
    /// NB: the names of Core Data's own begin with a Z.
    var lostIndexes: [StoreFile.Index] {
        transition.tables.filter { $0.manner == .rebuilt && $0.origin?.name == $0.table.name }.flatMap { change in
            let kept = Set(SQLNames.rowColumns + change.columns.filter { $0.origin == .column($0.name) }.map(\.name))
            let gone = (file.columns[change.table.name] ?? []).filter { !kept.contains($0) }
            return file.indexes.filter { index in
                index.table == change.table.name && !index.name.hasPrefix("Z") && !gone.contains(where: index.mentions)
            }
        }
    }
}
