import Foundation

/// The options of a store that concern its database, understood.
struct DatabaseOptions: Sendable {
    let isReadOnly: Bool
    let ignoresVersions: Bool
    let tracksHistory: Bool
    /// Whether a store of another version is brought to this one.
    var migrates: Bool
    /// Whether what that takes may be inferred from the two versions.
    let infersMapping: Bool
    /// Whether a migration leaves what can wait.
    let defersCleanup: Bool
    /// What a migration notes in the metadata: a stage that goes on after it.
    let stageMark: String?
    /// The model that the store is of where its stages know it, which is found nowhere else, maybe.
    let stagedModel: NSManagedObjectModel?
    /// Whether no turn of this process at the file is waited for: the caller has it locked in SQLite, for which whoever has the turn may be waiting.
    let takesNoTurns: Bool
    let timeout: TimeInterval
    /// How many seconds a statement may take before there is a line in the log; nil for no such line.
    let slowStatementThreshold: TimeInterval?
    let journalMode: String
    let pageSize: Int
    /// All other pragmas, by name.
    let pragmas: [(name: String, value: String)]

    /// - Parameter isInMemory: whether there is no file, so that pragmas, which are about it, do not count.
    /// - Throws: `CocoaError` 134080 for pragmas that are none.
    init(_ options: [AnyHashable: Any]?, isInMemory: Bool) throws {
        isReadOnly = Self.flag(options?[NSReadOnlyPersistentStoreOption])
        ignoresVersions = Self.flag(options?[NSIgnorePersistentStoreVersioningOption])
        tracksHistory = Self.tracksHistory(options)
        migrates = Self.flag(options?[NSMigratePersistentStoresAutomaticallyOption])
        infersMapping = Self.flag(options?[NSInferMappingModelAutomaticallyOption])
        defersCleanup = Self.flag(options?[NSPersistentStoreDeferredLightweightMigrationOptionKey])
        stageMark = options?[Self.stageKey] as? String
        stagedModel = options?[Self.stagedModelKey] as? NSManagedObjectModel
        takesNoTurns = Self.flag(options?[Self.noTurnsKey])
        timeout = Self.timeout(options)
        slowStatementThreshold = Self.number(options?[CoreDataSlowStatementThresholdOption]).flatMap { $0 >= 0 ? $0 : nil }
        var pragmas = try isInMemory ? [:] : Self.pragmas(options?[NSSQLitePragmasOption])
        journalMode = pragmas.removeValue(forKey: "journal_mode") ?? (isInMemory ? "MEMORY" : "WAL")
        let size = pragmas.removeValue(forKey: "page_size") ?? "4096"
        guard let size = Int(size) else { throw Self.unusable("page_size", size) }
        pageSize = size
        self.pragmas = pragmas.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The key of an unfinished stage, in options and in metadata.
    static let stageKey = "CoreDataUnfinishedStage"
    /// The key, in metadata, of the version that a store on the way through stages has come to, where its entities are the same in several.
    static let stagedVersionKey = "CoreDataStagedVersion"
    /// The key, in options, of the model that a store is of, as its stages say.
    static let stagedModelKey = "CoreDataStagedModel"
    /// The key, in options, of a store that is only read by whoever has it locked.
    static let noTurnsKey = "CoreDataTakesNoTurns"

    /// A flag as Swift or Objective-C programs write it; false for anything else.
    static func flag(_ value: Any?) -> Bool { (value as? NSNumber)?.boolValue ?? value as? Bool ?? number(value).map { $0 != 0 } ?? false }

    /// A dictionary, with which Apple's Core Data is told more about it, asks for a history, too.
    static func tracksHistory(_ options: [AnyHashable: Any]?) -> Bool {
        let value = options?[NSPersistentHistoryTrackingKey]
        return flag(value) || value is NSDictionary || value is [AnyHashable: Any]
    }

    /// How many seconds to wait for others; for what is no number, as long as without the option.
    static func timeout(_ options: [AnyHashable: Any]?) -> TimeInterval {
        number(options?[NSPersistentStoreTimeoutOption]).flatMap { $0.isNaN ? nil : $0 } ?? SQLiteStore.defaultTimeout
    }

    private static func number(_ value: Any?) -> Double? {
        (value as? NSNumber)?.doubleValue ?? value as? Double ?? (value as? any BinaryInteger).map { Double($0) }
    }

    /// By lower-case name. They become part of a statement, so only words and numbers are let through.
    private static func pragmas(_ option: Any?) throws -> [String: String] {
        guard let option else { return [:] }
        guard let pragmas = option as? [String: String] else {
            throw CocoaError.coreData(
                .persistentStoreOpen,
                "\(NSSQLitePragmasOption) takes texts by name, such as [\"cache_size\": \"1000\"]."
            )
        }
        for (name, value) in pragmas where !isWord(name) || !isWord(value) { throw unusable(name, value) }
        return Dictionary(pragmas.map { ($0.lowercased(), $1) }) { $1 }
    }

    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    private static func unusable(_ name: String, _ value: String) -> CocoaError {
        .coreData(.persistentStoreOpen, "\(NSSQLitePragmasOption) has a pragma that is none: \(name) = \(value).")
    }
}
