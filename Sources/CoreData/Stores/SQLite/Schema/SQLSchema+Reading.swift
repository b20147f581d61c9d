import SQLiteDriver

extension SQLSchema {
    /// The schema of an existing store: numbers, columns and join tables are those of the file. Nothing is written.
    ///
    /// - Precondition: the model is frozen and has the configuration.
    /// - Throws: `CocoaError.persistentStoreIncompatibleSchema` that names the first entity, table or column that is missing, or the
    ///   `SQLiteError` of a statement that fails.
    init(reading connection: Connection, model: NSManagedObjectModel, configuration: String?) throws {
        let file = StoreCatalog(connection: connection)
        let numbering = try EntityNumbering(names: file.entityNumbers(), model: model, configuration: configuration)
        let joinTables = try Self.pairs(numbering).map { try file.joinTable(for: $0, $0.newTable(numbering: numbering)) }
        self.init(model: model, numbering: numbering, joinTables: joinTables)
        for table in tables { try file.check(table) }
    }
}

/// What a file says about its tables.
private struct StoreCatalog {
    let connection: Connection

    func entityNumbers() throws -> [String: Int] {
        var numbers: [String: Int] = [:]
        for row in try connection.rows("SELECT \(SQLNames.entity), \(SQLNames.entityName) FROM \(SQLNames.entityTable)") {
            guard case .integer(let number) = row[0], case .text(let name) = row[1], Self.modelNumbers.contains(number) else { continue }
            numbers[name] = Int(number)
        }
        return numbers
    }

    /// NB: numbers from 16001 on belong to the tables of the history, which no model describes.
    private static let modelNumbers: ClosedRange<Int64> = 1...16_000

    func check(_ table: SQLTable) throws {
        let present = try columns(of: table.name)
        guard !present.isEmpty else { throw missing("table \(table.name)", for: table.entities[0].name ?? "") }
        for column in table.columns where !present.contains(column.name) {
            throw missing("column \(column.name) in table \(table.name)", for: table.entities[0].name ?? "")
        }
    }

    /// NB: for one model, files differ in which of the two relationships names the table, and in which of two columns that collide carries
    /// the suffix. So both are looked up. Of two that differ in nothing but the suffix, it says what it says in a new store.
    func joinTable(for pair: ManyToMany, _ new: SQLJoinTable) throws -> SQLJoinTable {
        if try columns(of: new.name).isSuperset(of: new.columns) { return new }
        for pair in [pair, pair.swapped] {
            let present = try columns(of: pair.tableName)
            guard let masterColumn = variant(of: pair.masterColumn, in: present, except: nil),
                let otherColumn = variant(of: pair.otherColumn, in: present, except: masterColumn)
            else { continue }
            let table = SQLJoinTable(
                name: pair.tableName,
                master: pair.master,
                other: pair.other,
                masterColumn: masterColumn,
                otherColumn: otherColumn
            )
            if let column = table.columns.first(where: { !present.contains($0) }) {
                throw missing("column \(column) in table \(table.name)", for: pair.master.path)
            }
            return table
        }
        throw missing("table \(pair.tableName) or \(pair.swapped.tableName)", for: pair.master.path)
    }

    private func variant(of name: String, in columns: Set<String>, except taken: String?) -> String? {
        let free = columns.filter { $0 != taken }
        return free.contains(name) ? name : free.sorted().first { SQLNames.isVariant($0, of: name) }
    }

    /// The names of a table's columns; none when there is no such table.
    private func columns(of table: String) throws -> Set<String> {
        let rows = try connection.rows("SELECT name FROM pragma_table_info(?1)", [.text(table)])
        return Set(rows.compactMap { if case .text(let name) = $0[0] { name } else { nil } })
    }

    private func missing(_ what: String, for user: String) -> CocoaError {
        .coreData(.persistentStoreIncompatibleSchema, "The store has no \(what), where \(user) should be.")
    }
}
