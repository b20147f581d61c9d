import Foundation
import SQLiteDriver

/// A migration of one store in its place, in a transaction that somebody else begins and ends.
struct StoreMigration {
    let transition: SchemaTransition
    let script: MigrationScript
    private let connection: Connection
    private let place: StorePlace
    private let stageMark: String?

    /// Looks at what there is; nothing is written.
    ///
    /// - Throws: `CocoaError` 134190 where no mapping can be inferred, and what reading the tables throws.
    init(
        _ connection: Connection,
        _ place: StorePlace,
        from source: SourceModelSearch.Found,
        to model: NSManagedObjectModel,
        configuration: String?,
        _ options: DatabaseOptions? = nil
    ) throws {
        let models = ModelTransition(from: source.model, to: model)
        try models.requireInferable(configuration: configuration)
        let old = try SQLSchema(reading: connection, model: source.model, configuration: source.configuration)
        let new = SQLSchema(model: model, configuration: configuration)
        let file = try StoreFile(connection)
        transition = SchemaTransition(models, from: old, to: new, mustBeRebuilt: file.constrainedTables)
        script = MigrationScript(transition, file, defersCleanup: options?.defersCleanup ?? false)
        (self.connection, self.place, stageMark) = (connection, place, options?.stageMark)
    }

    /// Runs all of it: afterwards the file is one of the new version.
    ///
    /// - Returns: the names of files with data of objects that are gone, or whose data are in the rows now: to be removed after the commit.
    /// - Throws: a `CocoaError`, or the `SQLiteError` of a statement; the transaction is to be rolled back then.
    func run(_ metadata: StoreMetadata, configuration: String?, progress: (Int, Int) -> Void = { _, _ in }) throws -> Set<String> {
        let files = try externalFiles(transition.old)
        for (number, step) in script.steps.enumerated() {
            try run(step)
            progress(number + 1, script.steps.count)
        }
        try checkTriggers()
        let model = transition.models.destination
        var metadata = metadata
        metadata.values[StoreMetadata.formerVersionsKey] = StoreMetadata.formerVersions(
            metadata.values,
            leavingFor: model,
            configuration
        )
        metadata.stamp(model: model, configuration: configuration)
        if let stageMark { metadata.values[DatabaseOptions.stageKey] = stageMark }
        if script.leavesTables { metadata.values[NSPersistentStoreDeferredLightweightMigrationOptionKey] = true }
        try metadata.write(to: connection)
        try connection.execute("CREATE TABLE IF NOT EXISTS Z_MODELCACHE (Z_CONTENT BLOB)")
        try ModelCache.write(model, to: connection)
        // What opens the store reads the same, and sees here whether it can.
        _ = try SQLSchema(reading: connection, model: model, configuration: configuration)
        return files.isEmpty ? [] : try files.subtracting(externalFiles(transition.new))
    }

    private func externalFiles(_ schema: SQLSchema) throws -> Set<String> {
        guard let folder = place.supportFolder, FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try connection.externalFiles(schema)
    }

    private func run(_ step: MigrationScript.Step) throws {
        switch step {
        // Statements that change tables are run once: keeping them prepared would be of no use.
        case .run(let sql, let values): if values.isEmpty { try connection.execute(sql) } else { try connection.run(sql, values) }
        case .refuse(let query, let error): if try !connection.rows(query).isEmpty { throw error }
        case .embed(let table, let column, let entities):
            try connection.embed(table, column, of: entities, from: place.supportFolder)
        }
    }

    /// NB: SQLite looks at what a trigger says when a statement sets it off, which would be the next save. Tables that are not the model's are nobody's
    /// business here.
    private func checkTriggers() throws {
        let columns = transition.tables.map { ($0.table.name, "Z_OPT") } + transition.joins.map { ($0.table.name, $0.table.masterColumn) }
        let checked = Dictionary(columns) { first, _ in first }
        for row in try connection.rows("SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger'") {
            guard case .text(let table) = row[0], let column = checked[table] else { continue }
            for statement in ["INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET \(column) = \(column)", "DELETE FROM \(table)"] {
                _ = try connection.prepare("EXPLAIN " + statement)
            }
        }
    }
}
