import Foundation
import SQLiteDriver

/// What a store says about itself: the one row of `Z_METADATA`.
struct StoreMetadata {
    /// The identifier of the store, as in the URIs of its objects.
    var uuid: String
    /// The property list, without the identifier. Keys that are unknown here stay as they are.
    var values: [String: Any]
    /// The last replacement that the database has behind it of one state of the store by another; nil for none. It is kept beside the metadata.
    private(set) var replacement: String?

    /// The metadata of a new store for a model.
    init(model: NSManagedObjectModel, configuration: String?, type: String = NSSQLiteStoreType, uuid: UUID = UUID()) {
        self.uuid = uuid.uuidString
        values = [:]
        stamp(model: model, configuration: configuration, type: type)
    }

    private init(uuid: String, values: [String: Any], replacement: String?) {
        self.uuid = uuid
        self.values = values
        self.replacement = replacement
    }

    /// The versions of the entities that the rows are of.
    var versionHashes: [String: Data] { values[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:] }

    /// The metadata as a coordinator shows it: with `NSStoreUUID`. Setting it takes that identifier too, if there is one.
    var dictionary: [String: Any] {
        get { values.merging([NSStoreUUIDKey: uuid]) { $1 } }
        set {
            values = newValue
            if let uuid = values.removeValue(forKey: NSStoreUUIDKey) as? String { self.uuid = uuid }
        }
    }

    /// Brings the standard keys up to date with a model; the others stay.
    mutating func stamp(model: NSManagedObjectModel, configuration: String?, type: String = NSSQLiteStoreType) {
        let hashes = model.versionHashes(forConfigurationName: configuration) ?? [:]
        values[NSStoreTypeKey] = type
        values[NSStoreModelVersionHashesKey] = hashes
        values[NSStoreModelVersionIdentifiersKey] = model.versionIdentifiers.compactMap { $0.base as? String }.sorted(by: binaryOrder)
        values[NSPersistentStoreModelVersionChecksumKey] = VersionHash.checksum(of: hashes)
        values["NSStoreModelVersionHashesDigest"] = VersionHash.digest(of: hashes)
        values["NSStoreModelVersionHashesVersion"] = 3
        values["NSPersistenceFrameworkVersion"] = Self.frameworkVersion
        values["_NSAutoVacuumLevel"] = "2"
    }

    /// That of another store with the same tables, into which no program has put anything, and which nobody has replaced.
    var ofEmptiedStore: StoreMetadata {
        var fresh = self
        let kept = Self.ownKeys.union([Self.formerVersionsKey])
        (fresh.uuid, fresh.values, fresh.replacement) = (UUID().uuidString, values.filter { kept.contains($0.key) }, nil)
        return fresh
    }

    /// What says of which model and format the tables are.
    static let ownKeys: Set<String> = [
        NSStoreTypeKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, NSPersistentStoreModelVersionChecksumKey,
        "NSStoreModelVersionHashesDigest", "NSStoreModelVersionHashesVersion", "NSPersistenceFrameworkVersion",
        "NSPersistenceMaximumFrameworkVersion", "_NSAutoVacuumLevel",
    ]

    /// Takes what a program has set in place of what is noted here. That a migration has left tables, a stage that has not ended, or a version behind
    /// it, is nothing it could undo or make so.
    mutating func replaceNotes(by notes: [String: Any]) {
        let former = self
        dictionary = notes
        takeNotesOfMigrations(from: former)
    }

    /// What migrations have noted in the store is as they have left it there.
    mutating func takeNotesOfMigrations(from other: StoreMetadata) {
        for key in Self.migrationKeys { values[key] = other.values[key] }
    }

    /// What migrations note.
    static let migrationKeys = [
        NSPersistentStoreDeferredLightweightMigrationOptionKey, DatabaseOptions.stageKey, DatabaseOptions.stagedVersionKey,
        formerVersionsKey,
    ]

    /// The version of Apple's framework whose format this is.
    private static let frameworkVersion = 1344
}

extension StoreMetadata {
    /// The metadata in a file; nil when it has no `Z_METADATA` row, as a file that was just made.
    ///
    /// - Throws: `CocoaError.fileReadCorruptFile` for a row that cannot be understood, or the `SQLiteError` of the read.
    static func read(from connection: Connection) throws -> StoreMetadata? {
        guard try hasTable(SQLNames.metadataTable, in: connection) else { return nil }
        guard let row = try connection.rows("SELECT \(SQLNames.identifier), \(SQLNames.propertyList) \(newest)").first else { return nil }
        guard case .text(let uuid) = row[0], case .blob(let plist) = row[1],
            let values = PropertyListSerialization.list(Data(plist)) as? [String: Any]
        else {
            throw CocoaError.coreData(
                .fileReadCorruptFile,
                "The metadata of the store cannot be read: \(SQLNames.metadataTable) has no valid property list."
            )
        }
        return StoreMetadata(uuid: uuid, values: values, replacement: try replacement(in: connection))
    }

    private static func hasTable(_ name: String, in connection: Connection) throws -> Bool {
        try !connection.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1", [.text(name)]).isEmpty
    }

    private static let newest = "FROM \(SQLNames.metadataTable) ORDER BY \(SQLNames.metadataVersion) LIMIT 1"

    private static let replacementTable = "CD_REPLACEMENT"

    /// Notes that the contents of the database were replaced by others of the same store, of which who has it open finds out. Needs a transaction
    /// around it.
    static func noteReplacement(in connection: Connection) throws {
        try connection.execute("DROP TABLE IF EXISTS \(replacementTable)")
        try connection.execute("CREATE TABLE \(replacementTable) (ID TEXT)")
        try connection.run("INSERT INTO \(replacementTable)(ID) VALUES(?1)", [.text(UUID().uuidString)])
    }

    /// The last replacement alone; nil for none.
    static func replacement(in connection: Connection) throws -> String? {
        guard try hasTable(replacementTable, in: connection),
            case .text(let id)? = try connection.rows("SELECT ID FROM \(replacementTable)").first?.first
        else { return nil }
        return id
    }

    /// The identifier alone; nil where there is no store any more.
    static func uuid(in connection: Connection) throws -> String? {
        guard try hasTable(SQLNames.metadataTable, in: connection),
            case .text(let uuid)? = try connection.rows("SELECT \(SQLNames.identifier) \(newest)").first?.first
        else { return nil }
        return uuid
    }

    /// Writes the row, in place of the one that is there. Needs a transaction around it when more is written with it.
    ///
    /// - Throws: `CocoaError.persistentStoreOperation` for values that no property list can hold, or the `SQLiteError` of the write; in both
    ///   cases nothing has changed.
    func write(to connection: Connection) throws {
        guard PropertyListSerialization.propertyList(values, isValidFor: .binary) else {
            throw CocoaError.coreData(
                .persistentStoreOperation,
                "The metadata of the store has a value that no property list can hold: use texts, numbers, dates, data."
            )
        }
        let plist = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
        let (table, uuid, contents) = (SQLNames.metadataTable, SQLNames.identifier, SQLNames.propertyList)
        let values: [SQLiteValue] = [.text(self.uuid), .blob(Array(plist))]
        // NB: a table that some tool has restored may have its row under another number, or several.
        try connection.run("UPDATE \(table) SET \(uuid) = ?1, \(contents) = ?2", values)
        if connection.changes > 0 { return }
        try connection.run("INSERT INTO \(table)(\(SQLNames.metadataVersion), \(uuid), \(contents)) VALUES(1, ?1, ?2)", values)
    }
}
