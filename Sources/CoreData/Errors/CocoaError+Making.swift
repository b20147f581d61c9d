extension CocoaError {
    /// A Core Data error: `description` says what went wrong, in a sentence for the person who reads the log.
    static func coreData(_ code: CocoaError.Code, _ description: String, userInfo: [String: Any] = [:]) -> CocoaError {
        let said: [String: Any] = [NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: description]
        return CocoaError(code, userInfo: said.merging(userInfo) { $1 })
    }

    /// A store was made with another model than the one that it is opened with.
    ///
    /// - Parameter migrates: whether it was to be migrated, and could not be, as it is only to be read.
    static func ofAnotherModel(_ path: String, metadata: [String: Any], migrates: Bool) -> CocoaError {
        let options = "\(NSMigratePersistentStoresAutomaticallyOption) and \(NSInferMappingModelAutomaticallyOption)"
        return coreData(
            .persistentStoreIncompatibleVersionHash,
            "The model used to open the store at \(path) is not the one used to create it.",
            userInfo: [
                "metadata": metadata, NSFilePathErrorKey: path,
                "reason": "The model used to open the store is incompatible with the one used to create the store",
                NSLocalizedRecoverySuggestionErrorKey: migrates
                    ? "The store is only read: it is migrated where it is opened for writing."
                    : "The options \(options), both true, migrate the store to the model.",
            ]
        )
    }

    /// Something is asked of a store that is none of the coordinator's any more, and never will be.
    static func removedStore(_ description: String) -> CocoaError {
        coreData(.persistentStoreOperation, description, userInfo: [NSAffectedStoresErrorKey: [] as [Any], removedStoreKey: true])
    }

    /// Whether it says that a store was closed before it was asked.
    var isOfRemovedStore: Bool { userInfo[Self.removedStoreKey] as? Bool == true }

    private static let removedStoreKey = "CoreDataRemovedStore"

    /// Others have made another store of a database, or of its tables, while it was open.
    static func replacedStore(_ description: String, _ store: Any) -> CocoaError {
        coreData(.persistentStoreOperation, description, userInfo: [NSAffectedStoresErrorKey: [store], replacedStoreKey: true])
    }

    /// Whether it says that others have made another store of a database: what else goes wrong with a file may have the same code.
    package var isOfReplacedStore: Bool { userInfo[Self.replacedStoreKey] as? Bool == true }

    private static let replacedStoreKey = "CoreDataReplacedStore"
}
