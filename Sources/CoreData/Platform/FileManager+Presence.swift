import Foundation

extension FileManager {
    /// Whether there is something at a place; what `fileExists(atPath:)` says is no for what it may not see, too.
    ///
    /// - Throws: `CocoaError` 257 where this user may not search a folder on the way: a store could be there.
    func hasItem(at url: URL) throws -> Bool {
        if fileExists(atPath: url.path) { return true }
        guard access(url.path, F_OK) != 0, errno == EACCES else { return false }
        throw CocoaError.coreData(
            .fileReadNoPermission,
            "Whether there is a store at \(url.path) cannot be told: a folder on the way is not to be searched by this user.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }
}
