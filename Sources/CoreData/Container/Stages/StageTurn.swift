import Foundation

/// The turn at the stages of one store: one process, and one thread of it, at a time. It ends with the process.
enum StageTurn {
    /// The stores that this thread, or task, migrates.
    @TaskLocal private static var held: Set<String> = []

    /// Runs `body` while nobody else migrates the store in stages.
    ///
    /// - Throws: `CocoaError` 134110 where a handler of a stage, in `body`, opens the store that waits for it.
    ///
    /// NB: handlers open and close the store, so that a lock of SQLite's cannot be held meanwhile; and opening the store's own file would drop those
    /// that this process has. So it is a file of its own, which goes with the turn.
    static func holding<Result>(_ store: URL, _ body: () throws -> Result) throws -> Result {
        guard let path = path(store) else { return try body() }
        guard !held.contains(path) else { throw heldAlready(store) }
        let descriptor = try locked(path)
        defer {
            unlink(path)
            close(descriptor)
        }
        return try $held.withValue(held.union([path])) { try body() }
    }

    /// Takes away the file of a turn that has ended with its process.
    static func removeAbandoned(_ store: URL) {
        guard let path = path(store) else { return }
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0, isAtPlace(descriptor, path) { unlink(path) }
    }

    /// Nil for a store in memory.
    private static func path(_ store: URL) -> String? {
        store.isFileURL && store.query == nil ? store.resolvingSymlinksInPath().path + "-stages" : nil
    }

    private static func heldAlready(_ store: URL) -> CocoaError {
        .coreData(
            .migration,
            "A handler of a stage opens the store at \(store.path), which waits for the handler. Open it without its migration manager, with the "
                + "stage's model, as a container of the handler's own.",
            userInfo: [NSFilePathErrorKey: store.path]
        )
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
