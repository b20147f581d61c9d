extension CocoaError {
    /// A Core Data error: `description` says what went wrong, in a sentence for the person who reads the log.
    static func coreData(_ code: CocoaError.Code, _ description: String, userInfo: [String: Any] = [:]) -> CocoaError {
        let said: [String: Any] = [NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: description]
        return CocoaError(code, userInfo: said.merging(userInfo) { $1 })
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
