import Foundation
import ModelFormat
import SQLiteDriver

/// The row of `Z_MODELCACHE`: the store's own copy of its model, from which Apple's Core Data can migrate it.
enum ModelCache {
    /// Writes the model in place of the one that is there. The model must be frozen.
    ///
    /// Left out of the copy: validation predicates, fetch requests and fetched properties, and what a file has no form for. None of them is part
    /// of a version hash.
    static func write(_ model: NSManagedObjectModel, to connection: Connection) throws {
        try connection.execute("DELETE FROM \(SQLNames.modelTable)")
        try connection.run("INSERT INTO \(SQLNames.modelTable)(\(SQLNames.modelContent)) VALUES(?1)", [.blob(try content(of: model))])
    }

    /// The model that the store carries; nil for a store without one, as older ones are.
    ///
    /// - Throws: `ModelFormatError` where it cannot be read, or the `SQLiteError` of a statement.
    static func read(from connection: Connection) throws -> Model? {
        let table = try connection.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '\(SQLNames.modelTable)'")
        let copy = "SELECT \(SQLNames.modelContent) FROM \(SQLNames.modelTable) LIMIT 1"
        guard !table.isEmpty, case .blob(let content)? = try connection.rows(copy).first?.first
        else { return nil }
        return try Model(archive: Data(Inflater.inflated(content)))
    }

    /// The archive as a raw DEFLATE stream.
    static func content(of model: NSManagedObjectModel) throws -> [UInt8] { storedDeflate(try Model(cached: model).cacheArchive()) }

    /// A DEFLATE stream (RFC 1951) of stored blocks: valid for every reader, though not smaller.
    static func storedDeflate(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        var start = 0
        repeat {
            let block = bytes[start..<min(start + 0xffff, bytes.count)]
            start = block.endIndex
            let count = UInt16(block.count)
            stream.append(start == bytes.count ? 1 : 0)
            for number in [count, ~count] { stream += [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }
            stream += block
        } while start < bytes.count
        return stream
    }
}
