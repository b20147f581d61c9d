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
        case SQLiteError.fileMoved: SQLiteError.ofMovedFile.message
        default: url.flatMap { obstacle(to: error, at: $0) } ?? error.message
        }
    }

    private static func obstacle(to error: SQLiteError, at url: URL) -> String? {
        switch error.code {
        case SQLITE_CANTOPEN: obstacle(at: url)
        case SQLITE_READONLY: writingObstacle(at: url)
        default: nil
        }
    }

    /// Why a file that is there cannot be written, where its permissions say so.
    private static func writingObstacle(at url: URL) -> String? {
        let (files, folder) = (FileManager.default, url.deletingLastPathComponent().path)
        let cure = "NSReadOnlyPersistentStoreOption opens a store to be read only"
        if !files.isWritableFile(atPath: folder) { return "the folder \(folder) is not to be written by this user; \(cure)" }
        return files.isWritableFile(atPath: url.path) ? nil : "the file is not to be written by this user; \(cure)"
    }

    /// Why a file cannot be opened, where its place says so.
    private static func obstacle(at url: URL) -> String? {
        let (files, folder) = (FileManager.default, url.deletingLastPathComponent().path)
        if !files.fileExists(atPath: folder) { return "there is no folder \(folder): make it first" }
        if (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true { return "there is a folder at its place" }
        if files.fileExists(atPath: url.path) {
            return files.isReadableFile(atPath: url.path) ? nil : "the file is not to be read by this user"
        }
        return files.isWritableFile(atPath: folder)
            ? "there is no file at its place" : "the folder \(folder) is not to be written by this user"
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
