import Foundation

/// A folder of its own, removed with the object.
public final class TemporaryFolder: Sendable {
    public let url = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-tests-\(UUID())", isDirectory: true)

    public init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }

    deinit {
        // A temporary folder that cannot be removed is the system's to clear away.
        try? FileManager.default.removeItem(at: url)
    }

    /// The place of the store in it, where a test needs one only.
    public var store: URL { file("Store.sqlite") }

    public func file(_ name: String) -> URL { url.appendingPathComponent(name) }
    public func path(_ name: String) -> String { file(name).path }

    /// The names of what is in it, or in a folder of it.
    public func contents(_ name: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: name.isEmpty ? url.path : path(name)).sorted()
    }

    /// A copy of the store as it is now, with its write-ahead log, in the place of an earlier one.
    ///
    /// - Precondition: nobody has the store open.
    public func copyStore() throws -> URL {
        let copy = file("older.sqlite")
        for suffix in ["", "-wal"] {
            let (from, to) = (store.path + suffix, copy.path + suffix)
            if FileManager.default.fileExists(atPath: to) { try FileManager.default.removeItem(atPath: to) }
            if FileManager.default.fileExists(atPath: from) { try FileManager.default.copyItem(atPath: from, toPath: to) }
        }
        return copy
    }

    /// Writes a file, with the folders that it is in, and gives its place.
    @discardableResult public func write(_ text: String, to path: String) throws -> URL {
        let url = file(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return url
    }
}
