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
        let description = "Could not \(doing)\(place): \(Self.reason(of: error, url))"
        self = .coreData(Self.code(for: error, default: code), description, userInfo: userInfo)
    }

    private static func reason(of error: SQLiteError, _ url: URL?) -> String {
        switch error.extendedCode {
        case SQLiteError.needsRollback: "a save that was interrupted is to be taken back first, which needs a program that may write"
        case SQLiteError.fileMoved: "the file was removed or replaced by another while it was open"
        default: missingFolder(error, url).map { "there is no folder \($0): make it first" } ?? error.message
        }
    }

    /// The folder of a file that cannot be opened, where that is why.
    private static func missingFolder(_ error: SQLiteError, _ url: URL?) -> String? {
        guard error.code == SQLITE_CANTOPEN, let folder = url?.deletingLastPathComponent().path else { return nil }
        return FileManager.default.fileExists(atPath: folder) ? nil : folder
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
        case SQLITE_INTERRUPT: .userCancelled
        default: code
        }
    }
}
