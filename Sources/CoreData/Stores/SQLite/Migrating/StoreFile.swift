import SQLiteDriver

/// What is in a file beside what its model says: names that a migration must not run into, and what hangs on its tables.
struct StoreFile {
    struct Index {
        let name: String
        let table: String
        let sql: String
        /// The columns that it is over, and all words of the statement, in upper case: an expression, or a condition, may have others.
        let names: Set<String>

        init(name: String, table: String, sql: String, columns: [String]) {
            (self.name, self.table, self.sql) = (name, table, sql)
            let words = sql.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map { $0.uppercased() }
            names = Set(words + columns.map { $0.uppercased() })
        }

        func mentions(_ column: String) -> Bool { names.contains(column.uppercased()) }
    }

    struct Trigger {
        let name: String
        let table: String
        let sql: String
    }

    /// The statement that made each table.
    let tables: [String: String]
    let indexes: [Index]
    let triggers: [Trigger]
    /// Others' only: Core Data makes none.
    let views: [(name: String, sql: String)]
    /// The columns of each table, those too that no model has.
    let columns: [String: [String]]
    /// The keys that were given out, by the number of the root entity.
    let highestKeys: [Int: Int64]
    let hasHistory: Bool

    init(_ connection: Connection) throws {
        let master = try connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
            .map { $0.map(\.text) }
        tables = Dictionary(master.filter { $0[0] == "table" }.map { ($0[1], $0[3]) }) { $1 }
        triggers = master.filter { $0[0] == "trigger" }.map { Trigger(name: $0[1], table: $0[2], sql: $0[3]) }
        views = master.filter { $0[0] == "view" }.map { ($0[1], $0[3]) }
        indexes = try master.filter { $0[0] == "index" }.map {
            let columns = try connection.rows("SELECT name FROM pragma_index_info(?1)", [.text($0[1])])
            return Index(name: $0[1], table: $0[2], sql: $0[3], columns: columns.map { $0[0].text })
        }
        columns = try tables.keys.reduce(into: [:]) { columns, table in
            columns[table] = try connection.rows("SELECT name FROM pragma_table_info(?1)", [.text(table)]).map { $0[0].text }
        }
        highestKeys = try connection.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY").reduce(into: [:]) { keys, row in
            if case .integer(let number) = row[0], case .integer(let key) = row[1] { keys[Int(number)] = key }
        }
        hasHistory = tables["ACHANGE"] != nil
    }

    /// Tables with a constraint of their own, which old versions of Core Data made: no column of one can be taken out.
    var constrainedTables: Set<String> { Set(tables.filter { $0.value.uppercased().contains(" UNIQUE (") }.keys) }
}

extension SQLiteValue {
    fileprivate var text: String { if case .text(let text) = self { text } else { "" } }
}
