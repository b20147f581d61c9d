extension CocoaError {
    /// A Core Data error: `description` says what went wrong, in a sentence for the person who reads the log.
    static func coreData(_ code: CocoaError.Code, _ description: String, userInfo: [String: Any] = [:]) -> CocoaError {
        let said: [String: Any] = [NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: description]
        return CocoaError(code, userInfo: said.merging(userInfo) { $1 })
    }

    /// Something is asked of a store that is none of the coordinator's any more, and never will be.
    static func removedStore(_ description: String) -> CocoaError {
        coreData(.persistentStoreOperation, description, userInfo: [NSAffectedStoresErrorKey: [] as [Any]])
    }
}
