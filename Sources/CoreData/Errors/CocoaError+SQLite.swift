import CSQLite
import SQLiteDriver

extension CocoaError {
    /// The Core Data error for a failed SQLite call.
    ///
    /// SQLite's own error is underneath: under `NSUnderlyingErrorKey` as an error in `NSSQLiteErrorDomain`, under that domain's name as
    /// a number.
    ///
    /// - Parameters:
    ///   - url: the file of the store, where there is one.
    ///   - doing: what failed, such as “save changes”.
    ///   - code: the code for failures that say nothing more particular.
    init(_ error: SQLiteError, url: URL?, doing: String, default code: CocoaError.Code = .sqlite) {
        var userInfo: [String: Any] = [
            NSUnderlyingErrorKey: NSError(
                domain: NSSQLiteErrorDomain,
                code: Int(error.extendedCode),
                userInfo: [NSLocalizedDescriptionKey: error.description]
            ),
            NSSQLiteErrorDomain: NSNumber(value: error.extendedCode),
        ]
        if let url {
            userInfo[NSURLErrorKey] = url
            userInfo[NSFilePathErrorKey] = url.path
        }
        let place = url.map { " in \($0.lastPathComponent)" } ?? ""
        let reason =
            error.extendedCode == SQLiteError.needsRollback
            ? "a save that was interrupted is to be taken back first, which needs a program that may write" : error.message
        self = .coreData(Self.code(for: error, default: code), "Could not \(doing)\(place): \(reason)", userInfo: userInfo)
    }

    private static func code(for error: SQLiteError, default code: CocoaError.Code) -> CocoaError.Code {
        switch error.code {
        case SQLITE_READONLY where error.extendedCode == SQLiteError.fileMoved: .fileNoSuchFile
        case SQLITE_BUSY, SQLITE_LOCKED: .persistentStoreTimeout
        case SQLITE_NOTADB, SQLITE_CORRUPT: .fileReadCorruptFile
        case SQLITE_CANTOPEN: .persistentStoreOpen
        case SQLITE_READONLY, SQLITE_PERM: .fileWriteNoPermission
        case SQLITE_FULL: .fileWriteOutOfSpace
        case SQLITE_IOERR: .persistentStoreOperation
        default: code
        }
    }
}
