import Foundation

/// Where a store's database is.
enum StorePlace: Sendable {
    case file(URL)
    case memory(MemoryDatabase)
    /// The null device, which Apple's Core Data takes for a database that nobody else sees.
    case null(URL, MemoryDatabase)

    /// The place that a store of that type would have: for one in memory, that of the database whose URL is given, or else a new one.
    ///
    /// - Throws: `CocoaError` 134000 for an unknown type, 134080 where a file's URL is needed, 134010 for the URL of a database in memory and the
    ///   type of a file.
    init(type: String, url: URL?) throws {
        let name = url.flatMap(MemoryDatabase.name)
        switch type {
        case NSInMemoryStoreType:
            self = try .memory(name.map(MemoryDatabase.named) ?? .fresh())
        case NSSQLiteStoreType:
            guard let url, url.isFileURL else {
                throw CocoaError.coreData(.persistentStoreOpen, "A store of type \(type) needs the URL of a file.")
            }
            if name != nil { throw Self.isInMemory(url) }
            self = try Self.isNull(url) ? .null(url, .fresh()) : .file(url)
        default: throw Self.unknown(type)
        }
    }

    /// The place of a store of that type that there is; nil where there is none.
    ///
    /// - Throws: `CocoaError` 134000 for an unknown type, 134010 as `init`, 257 where that cannot be told.
    static func existing(type: String, url: URL) throws -> StorePlace? {
        let name = MemoryDatabase.name(in: url)
        switch type {
        case NSInMemoryStoreType: return name.flatMap(MemoryDatabase.existing).map(StorePlace.memory)
        case NSSQLiteStoreType:
            if name != nil { throw isInMemory(url) }
            return try FileManager.default.hasItem(at: url) && !isNull(url) ? .file(url) : nil
        default: throw unknown(type)
        }
    }

    var url: URL {
        switch self {
        case .file(let url), .null(let url, _): url
        case .memory(let database): database.url
        }
    }

    var type: String {
        switch self {
        case .file, .null: NSSQLiteStoreType
        case .memory: NSInMemoryStoreType
        }
    }

    /// The database, where it is in memory.
    var database: MemoryDatabase? {
        switch self {
        case .file: nil
        case .memory(let database), .null(_, let database): database
        }
    }

    /// What tells the database from others; nil where there is no file.
    var identity: DatabaseIdentity? {
        if let database { database.lock.identity } else { DatabaseIdentity(path: url.path) }
    }

    /// The lock that everybody in this process who uses the database shares.
    ///
    /// - Throws: `CocoaError` 134080 where there is no file.
    func lock() throws -> StoreLock {
        if let identity { return StoreLock.of(identity) }
        throw CocoaError.coreData(
            .persistentStoreOpen,
            "The file at \(url.path) went while it was being opened.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }

    private static func isNull(_ url: URL) -> Bool { url.path == "/dev/null" }

    private static func unknown(_ type: String) -> CocoaError {
        .coreData(.persistentStoreInvalidType, "There are no stores of type \"\(type)\".")
    }

    private static func isInMemory(_ url: URL) -> CocoaError {
        .coreData(.persistentStoreTypeMismatch, "\(url) is the URL of a store in memory: its type is \(NSInMemoryStoreType).")
    }
}

extension StorePlace {
    /// NB: SQLite takes a file of one byte for an empty one, and would write over it. No database is smaller than 512 bytes.
    func refuseFragment() throws {
        guard database == nil else { return }
        try refusePipe()
        // Of what a link leads to, which may be a file that is yet to be made.
        var status = stat()
        guard stat(url.path, &status) == 0, (1..<512).contains(status.st_size) else { return }
        throw CocoaError.coreData(
            .fileReadCorruptFile,
            "\(url.path) is no database: it has only \(status.st_size) bytes.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }

    /// Whoever opens a pipe waits for somebody at its other end.
    private func refusePipe() throws {
        var status = stat()
        guard stat(url.path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { return }
        throw CocoaError.coreData(
            .fileReadCorruptFile,
            "\(url.path) is no database: it is a pipe, a socket or a device, and no file.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }
}
