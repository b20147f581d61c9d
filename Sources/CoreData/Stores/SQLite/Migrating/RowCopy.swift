import Foundation
import Logging
import SQLiteDriver

/// Copies rows of one database into another by statements, as far as that is all that becomes of them, while a migration makes other objects one by
/// one.
///
/// > Concurrency: the thread that migrates.
final class RowCopy {
    let source: SQLiteStore
    let destination: SQLiteStore
    /// What was copied, by the number of its mapping.
    private(set) var copied: [Int: CopiedRows] = [:]
    /// To the destination, with the source beside it.
    private let connection: Connection
    /// What the source said of its latest commit when the copying began.
    private let version: [[SQLiteValue]]

    /// Nil unless both stores are files, and the one can be read through a connection to the other; the log says why it cannot.
    static func between(_ source: NSPersistentStore, _ destination: NSPersistentStore) -> RowCopy? {
        guard let source = source.databaseFile, let destination = destination.databaseFile else { return nil }
        do {
            return try RowCopy(from: source, to: destination)
        } catch {
            let place = source.url?.path ?? "?"
            Logger(label: "CoreData").notice("\(place) is migrated object by object, as its rows cannot be copied: \(error)")
            return nil
        }
    }

    private init(from source: SQLiteStore, to destination: SQLiteStore) throws {
        (self.source, self.destination, connection) = (source, destination, try Self.connect(destination))
        do {
            version = try Self.attach(source, connection)
        } catch {
            connection.close()
            throw error
        }
    }

    /// Nothing has to last before the migration is done: it is brought to the disk then.
    ///
    /// NB: a journal in memory would have every page that a statement changes, which may be all there are.
    private static func connect(_ store: SQLiteStore) throws -> Connection {
        let connection = try Connection(path: location(store), mode: .readWrite, isURI: true)
        connection.setBusyTimeout(seconds: patience)
        connection.harden()
        try SQLFunctions.register(on: connection)
        SQLLog.observe(connection, counter: store.counter, slow: nil)
        try connection.trustSchemaWithVirtualTables()
        try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF")
        return connection
    }

    /// How long is waited for whoever keeps the source from being read: its objects can be read by the store that has it open.
    private static let patience: TimeInterval = 1

    private static func location(_ store: SQLiteStore) -> String {
        let path = store.url?.path ?? ""
        return "file:" + (path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path)
    }

    /// NB: for reading only: a transaction would lock what can be written, too.
    private static func attach(_ source: SQLiteStore, _ connection: Connection) throws -> [[SQLiteValue]] {
        try connection.run("ATTACH ?1 AS source", [.text(location(source) + "?mode=ro")])
        _ = try connection.rows("SELECT 1 FROM source.Z_METADATA")
        try connection.execute(
            """
            CREATE TEMP TABLE became (root INTEGER, key INTEGER, mapping INTEGER, made INTEGER, kind INTEGER,
                PRIMARY KEY (root, key, mapping, made)) WITHOUT ROWID;
            CREATE TEMP TABLE relation (owner INTEGER, target INTEGER, kind INTEGER, position INTEGER, back INTEGER,
                PRIMARY KEY (owner, target)) WITHOUT ROWID
            """
        )
        return try connection.rows("PRAGMA source.data_version")
    }

    /// Calls `body` before each statement; where it throws, the statement fails.
    func observe(_ body: @escaping (String) throws -> Void) {
        let note = connection.onStatement
        connection.onStatement = {
            try note?($0)
            try body($0)
        }
    }

    /// Lets go of both files, before their stores are closed.
    func close() { connection.close() }

    /// Runs `body` in a transaction.
    ///
    /// - Throws: `CocoaError` 134110 where others have written to the source since the beginning: what was copied before would not go with the rest.
    func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try destination.reporting("copy rows of \(source.url?.path ?? "the source")") {
            try destination.lock.write {
                try connection.transaction(.immediate) {
                    if try connection.rows("PRAGMA source.data_version") != version { throw CocoaError.writtenMeanwhile(source) }
                    return try body(connection)
                }
            }
        }
    }
}

/// The rows of an entity that were copied.
struct CopiedRows {
    let old, new: SQLEntity
    /// The keys that were kept for them, which nobody else has.
    let keys: ClosedRange<Int64>

    /// How far the keys were moved.
    var distance: Int64 { keys.lowerBound - 1 }
}

/// What becomes of all objects of an entity of the source.
struct CopiedEntity {
    let source: NSEntityDescription
    let destination: NSEntityDescription
    /// The attributes that go on as others; all else has its default.
    let attributes: [(old: NSAttributeDescription, new: NSAttributeDescription)]
}

extension RowCopy {
    /// Copies the objects of an entity, under keys that nobody has yet, and calls `note` with the older and newer keys, in order.
    ///
    /// - Parameter progress: is called with how much is done, now and then.
    /// - Returns: whether it was done; false where values have to be written in another form.
    /// - Throws: a `CocoaError`, 134111 where objects are equal in what is unique now; what `progress` throws.
    func copy(_ entity: CopiedEntity, mapping: Int, progress: (Float) throws -> Void = { _ in }, _ note: (Int64, Int64) -> Void) throws
        -> Bool
    {
        guard let old = source.schema.entityIfStored(entity.source), let new = destination.schema.entityIfStored(entity.destination),
            let columns = columns(entity, old, new)
        else { return false }
        return try write { connection in
            let last = try connection.rows("SELECT max(Z_PK) FROM source.\(old.table)").first?.first
            guard case .integer(let last)? = last, last > 0 else { return true }
            guard last < Self.highestKey else { return false }
            let first = try destination.reserveKeys(Int(last), root: new.rootNumber, connection)
            var end: Int64 = 0
            while let next = try endOfPart(of: old, after: end, connection) {
                try insert(columns, old, new, end + 1...next, first - 1, connection)
                end = next
                try progress(Float(end) / Float(last))
            }
            copied[mapping] = CopiedRows(old: old, new: new, keys: first...first + last - 1)
            try connection.withCached("SELECT Z_PK FROM source.\(old.table) WHERE Z_ENT = \(old.number) AND Z_PK > 0 ORDER BY Z_PK") {
                while try $0.step() { note($0.int(0), $0.int(0) + first - 1) }
            }
            return true
        }
    }

    /// So many rows are copied by one statement: nobody can end that.
    static let rowsAtOnce = 50_000

    private func endOfPart(of entity: SQLEntity, after key: Int64, _ connection: Connection) throws -> Int64? {
        let rows = "FROM source.\(entity.table) WHERE Z_ENT = \(entity.number) AND Z_PK > ?1 ORDER BY Z_PK LIMIT \(Self.rowsAtOnce)"
        let end = try connection.rows("SELECT max(Z_PK) FROM (SELECT Z_PK \(rows))", [.integer(key)])
        return if case .integer(let end)? = end.first?.first { end } else { nil }
    }

    /// Keys beyond are not moved on, as there would be an end to them soon.
    private static let highestKey: Int64 = 1 << 48

    private struct Column {
        let name: String
        /// The column of the source that it comes from; nil for a default.
        let origin: String?
        let value: SQLiteValue
    }

    private func columns(_ entity: CopiedEntity, _ old: SQLEntity, _ new: SQLEntity) -> [Column]? {
        let origins = Dictionary(entity.attributes.map { ($0.new.name, $0.old.name) }) { $1 }
        let stored = entity.destination.propertiesByName.values.compactMap { $0 as? NSAttributeDescription }.filter {
            !$0.isTransient && !($0 is NSDerivedAttributeDescription)
        }
        var columns: [Column] = []
        for attribute in stored {
            guard let column = new.columns[attribute.name] else { return nil }
            guard let origin = origins[attribute.name] else {
                columns.append(Column(name: column.name, origin: nil, value: attribute.storedDefault(isMarked: column.isMarked) ?? .null))
                continue
            }
            guard let before = old.columns[origin], before.type == column.type, before.isMarked == column.isMarked, isInRows(before) else {
                return nil
            }
            columns.append(Column(name: column.name, origin: before.name, value: .null))
        }
        return columns.sorted { binaryOrder($0.name, $1.name) }
    }

    /// Whether no value of a column is in a file beside the source.
    private func isInRows(_ column: SQLColumn) -> Bool {
        !column.isMarked || source.supportFolder.map { !FileManager.default.fileExists(atPath: $0.path) } ?? true
    }

    private func insert(
        _ columns: [Column],
        _ old: SQLEntity,
        _ new: SQLEntity,
        _ keys: ClosedRange<Int64>,
        _ distance: Int64,
        _ connection: Connection
    ) throws {
        let defaults = columns.filter { $0.origin == nil && $0.value != .null }
        let copied = columns.compactMap { column in column.origin.map { (column.name, $0) } }
        let names = ["Z_PK", "Z_ENT", "Z_OPT"] + copied.map(\.0) + defaults.map(\.name)
        let places = defaults.indices.map { "?\($0 + 1)" }
        let values = ["Z_PK + \(distance)", "\(new.number)", "1"] + copied.map(\.1) + places
        do {
            try connection.run(
                """
                INSERT INTO main.\(new.table)(\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) \
                FROM source.\(old.table) WHERE Z_ENT = \(old.number) AND Z_PK BETWEEN \(keys.lowerBound) AND \(keys.upperBound) ORDER BY Z_PK
                """,
                defaults.map(\.value)
            )
        } catch let error as SQLiteError where error.isBrokenUniqueIndex {
            throw CocoaError.equalObjects(new.description, new.description.constraintNames.flatMap { $0 })
        }
    }

    /// Whether it is certain that all objects of an entity have what the model asks for: that can be said by looking at what is there at all.
    func isValid(_ entity: NSEntityDescription) throws -> Bool {
        let shape = entity.shape
        guard shape.restricted.isEmpty, shape.transformables.isEmpty, !shape.limitsToManys,
            let stored = destination.schema.entityIfStored(entity)
        else { return false }
        let mandatory = entity.propertiesByName.values.filter { !$0.isOptional && !$0.isTransient }
        let missing = mandatory.compactMap { stored.columns[$0.name]?.name }.sorted(by: binaryOrder).map { "\($0) IS NULL" }
        guard !missing.isEmpty else { return true }
        let query = "SELECT 1 FROM main.\(stored.table) WHERE Z_ENT = \(stored.number) AND (\(missing.joined(separator: " OR "))) LIMIT 1"
        return try write { try $0.rows(query).isEmpty }
    }
}
