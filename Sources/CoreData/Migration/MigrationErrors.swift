import Foundation

extension CocoaError {
    /// 134110: a migration by mapping model did not take place. The reason is underneath where it is an error of its own.
    static func migration(
        _ reason: String,
        entity: String? = nil,
        property: String? = nil,
        mapping: String? = nil,
        under code: CocoaError.Code? = nil,
        _ underlying: (any Error)? = nil
    ) -> CocoaError {
        var userInfo: [String: Any] = ["reason": reason]
        (userInfo["entity"], userInfo["property"], userInfo["mapping"]) = (entity, property, mapping)
        userInfo[NSUnderlyingErrorKey] = underlying ?? code.map { CocoaError.coreData($0, reason) }
        return .coreData(.migration, reason, userInfo: userInfo)
    }

    /// 134110: a store could not be migrated where it is. The reason is underneath, and what a mapping was at where it says so.
    static func notMigrated(_ url: URL, _ error: any Error) -> CocoaError {
        var userInfo = (error as? CocoaError)?.userInfo.filter { ["entity", "property", "mapping", "reason"].contains($0.key) } ?? [:]
        userInfo[NSFilePathErrorKey] = url.path
        let told = (error as? CocoaError).flatMap { $0.code == .migration ? $0.userInfo[NSUnderlyingErrorKey] : nil }
        userInfo[NSUnderlyingErrorKey] = told ?? error
        let text = "The store at \(url.path) was not migrated, and is what it was: \(error.localizedDescription)"
        return .coreData(.migration, text, userInfo: userInfo)
    }

    /// 134160: there is no room for a destination.
    static func destination(_ url: URL, _ reason: String, _ underlying: (any Error)? = nil) -> CocoaError {
        var userInfo: [String: Any] = [NSFilePathErrorKey: url.path, "reason": reason]
        userInfo[NSUnderlyingErrorKey] = underlying
        return .coreData(.migrationManagerDestinationStore, "Nothing was migrated to \(url.path): \(reason)", userInfo: userInfo)
    }

    /// 134140: the mapping model that there was is there no more.
    static func mappingIsGone(_ url: URL?) -> CocoaError {
        let path = url?.path ?? "?"
        return .coreData(
            .migrationMissingMappingModel,
            "The store at \(path) cannot be migrated. The mapping model was removed while it was looked for.",
            userInfo: [NSFilePathErrorKey: path]
        )
    }

    /// 134150: the source cannot be read.
    static func source(_ url: URL, _ underlying: any Error) -> CocoaError {
        let reason = underlying.localizedDescription
        return .coreData(
            .migrationManagerSourceStore,
            "The store at \(url.path) was not migrated: \(reason)",
            userInfo: [NSFilePathErrorKey: url.path, "reason": reason, NSUnderlyingErrorKey: underlying]
        )
    }
}

/// What `cancelMigrationWithError(_:)` was given, on its way to the caller of the migration, who gets it as it is.
struct MigrationCancellation: Error {
    let error: any Error
}
