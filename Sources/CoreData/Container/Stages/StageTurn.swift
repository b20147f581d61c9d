import Foundation

/// The turn at the stages of one store: one process, and one thread of it, at a time. It ends with the process.
enum StageTurn {
    /// Runs `body` while nobody else migrates the store in stages.
    ///
    /// NB: handlers open and close the store, so that a lock of SQLite's cannot be held meanwhile; and opening the store's own file would drop those
    /// that this process has. So it is a file of its own, which goes with the turn.
    static func holding<Result>(_ store: URL, _ body: () throws -> Result) throws -> Result {
        guard store.isFileURL, store.query == nil else { return try body() }
        let path = store.path + "-stages"
        let descriptor = try locked(path)
        defer {
            unlink(path)
            close(descriptor)
        }
        return try body()
    }

    private static func locked(_ path: String) throws -> Int32 {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw failure(path) }
            while flock(descriptor, LOCK_EX) != 0 {
                guard errno == EINTR else {
                    let error = failure(path)
                    close(descriptor)
                    throw error
                }
            }
            if isAtPlace(descriptor, path) { return descriptor }
            // Whoever had the turn before has removed it.
            close(descriptor)
        }
    }

    private static func isAtPlace(_ descriptor: Int32, _ path: String) -> Bool {
        var (opened, found) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && stat(path, &found) == 0 && opened.st_ino == found.st_ino && opened.st_dev == found.st_dev
    }

    private static func failure(_ path: String) -> CocoaError {
        .coreData(
            .fileWriteNoPermission,
            "The turn to migrate in stages cannot be taken: \(path) cannot be made: \(String(cString: strerror(errno))).",
            userInfo: [NSFilePathErrorKey: path]
        )
    }
}
