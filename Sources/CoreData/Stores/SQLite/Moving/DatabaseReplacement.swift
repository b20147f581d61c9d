import Foundation
import SQLiteDriver

/// The contents of one database take the place of another's, which others may have open.
struct DatabaseReplacement {
    let source: StorePlace
    let destination: StorePlace
    let timeout: TimeInterval
    /// Whether what is replaced need not be a database.
    let isForced: Bool

    /// - Parameter release: called once it is known that there is a store to copy.
    /// - Throws: a `CocoaError` where the source is no store, or the destination cannot be written; its contents are what they were then.
    func run(releasing release: () throws -> Void) throws {
        _ = try source.metadata(timeout: timeout)
        guard source.identity != destination.identity || source.identity == nil else { return }
        try release()
        do {
            try replace()
        } catch let error as SQLiteError {
            throw CocoaError(error, url: destination.url, doing: "replace the store")
        }
    }

    private func replace() throws {
        if !isForced { try destination.refuseFragment() }
        let isNew = destination.database == nil && !FileManager.default.fileExists(atPath: destination.url.path)
        if let folder = source.supportFolder, let target = destination.supportFolder { try ExternalFiles(folder).copy(to: target) }
        let (reader, writer) = (try source.connectForReading(timeout: timeout), try destination.connect(.readWriteCreate, timeout: timeout))
        defer {
            reader.close()
            writer.close()
        }
        do {
            try prepare(writer, for: reader)
            try destination.lock().write { try copy(reader, to: writer) }
        } catch {
            writer.close()
            if isNew { for suffix in ["", "-journal", "-wal", "-shm"] { unlink(destination.url.path + suffix) } }
            throw error
        }
        // The data of objects that are gone.
        if let target = destination.ownSupportFolder { try ExternalFiles(target).remove(except: source.supportFolder) }
    }

    /// What comes already says what it replaces: who is killed leaves the one state or the other, and nobody sees anything between.
    ///
    /// NB: a database without a name is in a file that SQLite makes for it and nobody else finds. What cannot be read, the copy heals, or fails at
    /// itself.
    private func copy(_ reader: Connection, to writer: Connection) throws {
        guard let succession = try? StateSuccession(of: writer, by: reader) else { return try reader.copyDatabase(to: writer) }
        let stage = try Connection(path: "", mode: .readWriteCreate)
        defer { stage.close() }
        try reader.copyDatabase(to: stage)
        try succession.apply(to: stage)
        try stage.copyDatabase(to: writer)
    }

    /// NB: a write-ahead log keeps the size of pages. Without one they may be of any.
    private func prepare(_ writer: Connection, for reader: Connection) throws {
        if isForced, (try? writer.rows("PRAGMA schema_version")) == nil { try writer.empty() }
        let sizes = try [reader, writer].map { try $0.rows("PRAGMA page_size") }
        if sizes[0] != sizes[1] { _ = try writer.rows("PRAGMA journal_mode = DELETE") }
    }
}
