import Foundation

/// Files that Apple's tools wrote, in a folder beside the package. They are not part of it.
public enum Fixtures {
    public static let folder = Places.package.deletingLastPathComponent().appendingPathComponent("shared/fixtures")

    public static let areThere = FileManager.default.fileExists(atPath: folder.path)
    public static let whyNot = "The fixture files are not beside the package."

    public static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }
    public static func data(_ path: String) throws -> Data { try Data(contentsOf: url(path)) }

    /// Copies a store with its log: rows, and even tables, can be in the log only, and opening a store changes the files beside it.
    public static func copyStore(_ path: String, to copy: URL) throws {
        for suffix in ["", "-wal"] where suffix.isEmpty || FileManager.default.fileExists(atPath: url(path + suffix).path) {
            try FileManager.default.copyItem(atPath: url(path + suffix).path, toPath: copy.path + suffix)
        }
    }

    /// The paths of all files and folders that end so, in order.
    public static func paths(endingIn suffix: String) -> [String] {
        guard let all = FileManager.default.enumerator(atPath: folder.path) else { return [] }
        return all.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) }.sorted()
    }

    public static let sources = paths(endingIn: ".xcdatamodel/contents")
    public static let compiled = paths(endingIn: ".mom")
}
