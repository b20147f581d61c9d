import ArgumentParser
import CBaseline
import Foundation

/// What is measured, by the name it has on the command line and in the report.
enum Operation: String, CaseIterable, ExpressibleByArgument {
    case insert, fetch
    case fetchRead3 = "fetch+read3"
    case fetchIndexed = "fetch-indexed"
    case count, update, delete
    case upsertSave = "upsert-save"
    case batchInsert = "batch-insert"
    case batchInsertDictionaries = "batch-insert-dictionaries"
    case batchUpdate = "batch-update"
    case batchDelete = "batch-delete"
    case batchUpsert = "batch-upsert"
    case growthBatchInsert = "growth-batch-insert"
    case insertWithHistory = "insert-with-history"
    case historyInsert = "history-insert"
    case historyFetch = "history-fetch"
    case faultByID = "fault-by-id"
    case importWordNet = "import-wordnet"
    case memoryPerObject = "memory-per-object"
    case memoryBatches = "memory-batch-size"
    case memoryWalk = "memory-objects-of"
    case growthInsert = "growth-insert"
    case growthFetch = "growth-fetch"
    case threeLayers = "three-layers"
    case threeLayersHooks = "three-layers-hooks"
    case batchImportAlone = "batch-import-alone"
    case batchImportWithMain = "batch-import-with-main"
    case performAndWait = "perform-and-wait"
    case awaitPerform = "await-perform"
    case orderedAppend = "ordered-append"
    case orderedAppendTyped = "ordered-append-typed"
    case growthOrderedAppend = "growth-ordered-append"
    case orderedSaveOne = "ordered-save-one"
    case orderedSaveOneShort = "ordered-save-one-short"
    case orderedSaveOneLayers = "ordered-save-one-layers"
    case orderedSaveOneLayersShort = "ordered-save-one-layers-short"
    case fetchDictionary = "fetch-dictionary"
    case fetchSortedLimit = "fetch-sorted-limit"
    case fetchContainsFolded = "fetch-contains-cd"
    case fetchJoin = "fetch-join"
    case subqueryCount = "subquery-count"
    case prefetch
    case findOrCreate = "find-or-create"
    case pendingFetch = "pending-fetch"
    case pendingFetchNone = "pending-fetch-none"
    case resultsController = "results-controller"
    case resultsControllerNone = "results-controller-none"
    case twoReaders = "two-readers"
    case migrateAddAttribute = "migrate-add-attribute"
    case migrateRebuild = "migrate-rebuild"
    case migratePolicy = "migrate-policy"
    case growthMigratePolicy = "growth-migrate-policy"
    case memoryMigratePolicy = "memory-migrate-policy"

    /// What our side has to reach.
    var gate: Gate {
        switch self {
        case .insert, .update, .delete: .timesRaw(1.6)
        case .batchImportAlone, .orderedAppendTyped, .orderedSaveOneShort, .orderedSaveOneLayersShort, .pendingFetchNone,
            .resultsControllerNone, .migratePolicy:
            .none
        case .fetchDictionary, .subqueryCount: .timesRaw(1.3)
        case .fetchSortedLimit, .migrateAddAttribute: .timesRaw(1.2)
        case .fetchContainsFolded, .fetchJoin, .historyFetch: .timesRaw(1.5)
        case .insertWithHistory: .timesDirect(1.25)
        case .historyInsert: .timesRaw(1.25)
        case .prefetch, .migrateRebuild: .timesRaw(2.0)
        case .findOrCreate: .timesRaw(2.5)
        case .pendingFetch: .timesDirect(1.5)
        case .resultsController: .timesDirect(1.2)
        case .twoReaders: .value(1.3)
        case .orderedAppend: .timesDirect(1.5)
        case .orderedSaveOne, .orderedSaveOneLayers: .timesDirect(3.0)
        // Four times the members.
        case .growthOrderedAppend, .growthMigratePolicy: .value(5.0)
        case .batchInsert: .timesRaw(1.2)
        case .batchInsertDictionaries: .timesRaw(3.0)
        case .batchUpdate: .timesRaw(1.05)
        case .batchUpsert: .timesRaw(1.5)
        case .fetch: .timesRaw(1.7)
        case .fetchRead3, .upsertSave, .faultByID, .importWordNet: .timesRaw(2.0)
        case .fetchIndexed: .timesRaw(3.0)
        case .count, .growthInsert, .growthFetch, .growthBatchInsert, .batchDelete: .timesRaw(1.1)
        case .memoryPerObject: .value(300)
        case .memoryBatches: .value(90e6)
        case .memoryWalk: .value(40e6)
        case .memoryMigratePolicy: .value(150e6)
        case .threeLayers, .threeLayersHooks: .timesDirect(1.5)
        // What main does meanwhile takes one of the processor's cores.
        case .batchImportWithMain: .timesDirect(2.0)
        case .performAndWait: .value(80)
        case .awaitPerform: .value(300)
        }
    }

    /// Our own work that stands in the place of the C loop's: without layers, without main, by other means, on a list that is short.
    var direct: Operation? {
        switch self {
        case .threeLayers, .threeLayersHooks, .insertWithHistory: .insert
        case .batchImportWithMain: .batchImportAlone
        case .orderedAppend: .orderedAppendTyped
        case .orderedSaveOne: .orderedSaveOneShort
        case .orderedSaveOneLayers: .orderedSaveOneLayersShort
        case .pendingFetch: .pendingFetchNone
        case .resultsController: .resultsControllerNone
        default: nil
        }
    }

    var unit: Unit {
        switch self {
        case .memoryPerObject, .memoryBatches, .memoryWalk, .memoryMigratePolicy: .bytes
        case .growthInsert, .growthFetch, .growthBatchInsert, .growthOrderedAppend, .growthMigratePolicy, .twoReaders: .factor
        case .performAndWait, .awaitPerform: .nanoseconds
        default: .seconds
        }
    }

    /// Whether it is only there for another to be compared with.
    var isBase: Bool { Operation.allCases.contains { $0.direct == self } && self != .insert }

    /// Whether the side does something that compares: the C loop makes no objects that could have a size.
    func applies(to side: any Side) -> Bool {
        switch self {
        case .memoryPerObject: !(side is RawSide)
        case .upsertSave, .growthInsert, .growthFetch, .growthBatchInsert, .importWordNet, .fetchDictionary, .fetchSortedLimit,
            .fetchContainsFolded,
            .fetchJoin,
            .subqueryCount, .prefetch, .findOrCreate, .historyInsert, .historyFetch, .migrateAddAttribute, .migrateRebuild:
            !(side is GRDBSide)
        case .batchInsert, .batchInsertDictionaries, .batchUpdate, .batchDelete, .batchUpsert: !(side is GRDBSide)
        case .insert, .fetch, .fetchRead3, .fetchIndexed, .count, .update, .delete, .faultByID: true
        default: side is CoreDataSide
        }
    }
}

enum Gate {
    /// Our value is at most this many times the C loop's.
    case timesRaw(Double)
    /// Our value is at most this many times that of our own direct work.
    case timesDirect(Double)
    /// Our value is at most this.
    case value(Double)
    case none
}

enum Unit { case seconds, bytes, factor, nanoseconds }

/// Runs `body` and returns the CPU time it took, user and system, of all threads.
func cpuSeconds<R>(_ body: () throws -> R) rethrows -> (seconds: Double, result: R) {
    let start = baseline_cpu_seconds()
    let result = try body()
    return (baseline_cpu_seconds() - start, result)
}
