import SQLiteDriver

/// The statements of a migration, in order, and what must be true of the data for them.
///
/// Everything that goes or changes its name is moved out of the way first, and dropped last: until then each step can read the old rows.
struct MigrationScript {
    enum Step {
        case run(String, [SQLiteValue])
        /// Fails the migration with a sentence where the query has a row.
        case refuse(String, CocoaError)
        /// Puts the data that a column has in files of their own into the rows.
        case embed(table: String, column: String, entities: [Int])
    }

    let transition: SchemaTransition
    let file: StoreFile
    private(set) var steps: [Step] = []
    /// What old tables are called at this point.
    private var current: [String: String] = [:]
    private var parkedCount: Int
    private let defersCleanup: Bool
    private(set) var droppedIndexes: Set<String> = []
    /// Whether tables stay that nothing needs any more.
    private(set) var leavesTables = false

    init(_ transition: SchemaTransition, _ file: StoreFile, defersCleanup: Bool = false) {
        self.transition = transition
        self.file = file
        self.defersCleanup = defersCleanup
        // NB: an earlier migration may have left some.
        parkedCount =
            file.tables.keys.filter { $0.hasPrefix(Self.parkedPrefix) }.compactMap { Int($0.dropFirst(Self.parkedPrefix.count)) }.max() ?? 0
        refuseObjectsWithoutEntity()
        dropDerivations()
        putStrangersAside()
        park()
        create()
        copyRows()
        fillJoins()
        fillKeys()
        dropStaleIndexes()
        reshape()
        dropParked()
        finish()
        putStrangersBack()
    }

    mutating func run(_ sql: String, _ values: [SQLiteValue] = []) { steps.append(.run(sql, values)) }
    mutating func refuse(_ query: String, _ error: CocoaError) { steps.append(.refuse(query, error)) }
    mutating func embed(_ table: String, _ column: String, of entities: [Int]) {
        steps.append(.embed(table: table, column: column, entities: entities))
    }

    mutating func dropIndex(_ name: String) {
        droppedIndexes.insert(name)
        run("DROP INDEX \(quotedName(name))")
    }

    /// What an old table is called now.
    func now(_ table: String) -> String { current[table] ?? table }

    /// An abstract entity has no objects, and those of another configuration have no place here.
    private mutating func refuseObjectsWithoutEntity() {
        for old in transition.old.entities {
            guard let entity = transition.models.successor(of: old.description), transition.new.entityIfStored(entity) == nil else {
                continue
            }
            refuse("SELECT 1 FROM \(old.table) WHERE Z_ENT = \(old.number) LIMIT 1", .objectsOfOtherConfiguration(entity))
        }
        for entity in transition.new.entities.map(\.description) where entity.isAbstract {
            guard let before = transition.models.origin(of: entity), let old = transition.old.entityIfStored(before) else { continue }
            refuse("SELECT 1 FROM \(old.table) WHERE Z_ENT = \(old.number) LIMIT 1", .objectsOfAbstractEntity(entity, before))
        }
    }

    /// NB: the triggers of derived attributes name tables and columns of the old version. Those of the new one come when everything is in place.
    private mutating func dropDerivations() {
        for trigger in file.triggers where trigger.name.hasPrefix(SQLDialect.derivationPrefix) {
            run("DROP TRIGGER \(quotedName(trigger.name))")
        }
    }

    private mutating func park() {
        for change in transition.tables where change.isInPlace {
            if let origin = change.origin, change.table.name != origin.name { park(origin.name) }
        }
        for join in transition.joins { if let kept = join.kept, kept.name != join.table.name { park(kept.name) } }
        parkForGood()
    }

    /// Tables that are dropped in the end.
    ///
    /// NB: whoever names one of them means the table that has the name afterwards. SQLite would change the name along in foreign keys and triggers.
    private mutating func parkForGood() {
        let rebuilt = transition.tables.filter { $0.manner == .rebuilt }.compactMap { $0.origin?.name }
        let names = rebuilt + transition.droppedTables.map(\.name) + transition.droppedJoins.map(\.name)
        guard !names.isEmpty else { return }
        run("PRAGMA legacy_alter_table = ON")
        for name in names { park(name) }
        run("PRAGMA legacy_alter_table = OFF")
    }

    private mutating func park(_ table: String) {
        parkedCount += 1
        let name = "\(Self.parkedPrefix)\(parkedCount)"
        run("ALTER TABLE \(table) RENAME TO \(name)")
        current[table] = name
    }

    private mutating func create() {
        for change in transition.tables where !change.isInPlace { run(change.table.creationStatement) }
        for join in transition.joins where join.kept == nil { run(join.table.creationStatement) }
        for change in transition.tables where change.isInPlace {
            for column in change.added {
                run("ALTER TABLE \(name(of: change)) ADD COLUMN \(temporaryName(column.name, change)) \(column.type)")
            }
        }
    }

    /// What the table of a change is called now.
    func name(of change: TableChange) -> String {
        if change.isInPlace, let origin = change.origin { now(origin.name) } else { change.table.name }
    }

    /// What a new column is called until the old ones have their new names.
    func temporaryName(_ column: String, _ change: TableChange) -> String {
        guard change.isInPlace, let origin = change.origin, file.columns[origin.name]?.contains(column) == true else { return column }
        return Self.parkedPrefix + column
    }

    private mutating func copyRows() {
        for change in transition.tables where change.manner == .rebuilt || change.manner == .split {
            guard let origin = change.origin else { continue }
            let copied = change.columns.filter { $0.origin != .none }
            let names = (["Z_PK", "Z_ENT", "Z_OPT"] + copied.map(\.name)).joined(separator: ", ")
            let values = (["Z_PK", Self.renumbered("Z_ENT", change.numbers), "Z_OPT"] + copied.map(\.value)).joined(separator: ", ")
            let rows = "Z_ENT IN (\(Self.list(change.numbers.map(\.old))))"
            run("INSERT INTO \(change.table.name)(\(names)) SELECT \(values) FROM \(now(origin.name)) WHERE \(rows)")
        }
    }

    private mutating func dropParked() {
        for change in transition.tables where change.manner == .rebuilt {
            if let origin = change.origin { drop(origin.name) }
        }
        for table in transition.droppedTables { drop(table.name) }
        for join in transition.droppedJoins { drop(join.name) }
        for change in transition.tables where change.isInPlace {
            if let origin = change.origin, now(origin.name) != change.table.name { rename(origin.name, to: change.table.name) }
        }
        for join in transition.joins {
            if let kept = join.kept, now(kept.name) != join.table.name { rename(kept.name, to: join.table.name) }
        }
    }

    /// NB: taking a large table out of a file touches every page of it. What hangs on it goes at once: others may need its names.
    private mutating func drop(_ table: String) {
        guard defersCleanup else { return run("DROP TABLE \(now(table))") }
        leavesTables = true
        for index in file.indexes where index.table == table { run("DROP INDEX \(quotedName(index.name))") }
        for trigger in file.triggers where trigger.table == table && !trigger.name.hasPrefix("Z_DA_") {
            run("DROP TRIGGER \(quotedName(trigger.name))")
        }
    }

    // NB: the tables and columns of a model begin with a Z, whatever its entities and properties are called.
    static let parkedPrefix = "CD_MIGRATING_"

    /// The tables that a migration has left.
    static func parkedTables(_ connection: Connection) throws -> [String] {
        let names = try connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '\(parkedPrefix)[0-9]*' ORDER BY name"
        )
        return names.compactMap { if case .text(let name) = $0[0], Int(name.dropFirst(parkedPrefix.count)) != nil { name } else { nil } }
    }

    private mutating func rename(_ table: String, to name: String) {
        run("ALTER TABLE \(now(table)) RENAME TO \(name)")
        current[table] = name
    }

    /// The new number of what has an old one, in SQL.
    static func renumbered(_ column: String, _ numbers: [(old: Int, new: Int)]) -> String {
        let changed = numbers.filter { $0.old != $0.new }
        guard !changed.isEmpty else { return column }
        return "CASE \(column) " + changed.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ") + " ELSE \(column) END"
    }

    static func list(_ numbers: [Int]) -> String { numbers.sorted().map(String.init).joined(separator: ", ") }
}

extension CocoaError {
    fileprivate static func objectsOfOtherConfiguration(_ entity: NSEntityDescription) -> CocoaError {
        let name = entity.name ?? ""
        return .coreData(
            .migration,
            "the store has objects of \(name), which is in another configuration than the one that it is opened with: copy them to a store of that, "
                + "and delete them here, before.",
            userInfo: ["entity": name]
        )
    }

    fileprivate static func objectsOfAbstractEntity(_ entity: NSEntityDescription, _ before: NSEntityDescription) -> CocoaError {
        .coreData(
            .migration,
            "\(entity.name ?? "") is abstract, and the store has objects of \(before.name ?? ""): delete them before, or migrate them to a "
                + "subentity with a mapping model.",
            userInfo: ["entity": entity.name ?? ""]
        )
    }
}

extension ColumnChange {
    /// The value in SQL over the old table.
    fileprivate var value: String {
        switch origin {
        case .none: "NULL"
        case .column(let name): name
        case .byEntity(let names):
            "CASE Z_ENT " + names.sorted { $0.key < $1.key }.map { "WHEN \($0.key) THEN \($0.value)" }.joined(separator: " ") + " END"
        }
    }
}
