import Foundation
import Testing

/// Files that Apple's tools wrote, in a folder beside the package. They are not part of it.
enum Fixtures {
    static let folder: URL? = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
                let fixtures = folder.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
                return FileManager.default.fileExists(atPath: fixtures.path) ? fixtures : nil
            }
        }
        return nil
    }()

    static var areThere: Bool { folder != nil }
    static let whyNot: Comment = "The fixture files are not beside the package."

    static func url(_ path: String) throws -> URL { try #require(folder).appendingPathComponent(path) }
    static func data(_ path: String) throws -> Data { try Data(contentsOf: url(path)) }

    /// The paths of all files and folders that end so, in order.
    static func paths(endingIn suffix: String) -> [String] {
        guard let folder, let all = FileManager.default.enumerator(atPath: folder.path) else { return [] }
        return all.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) }.sorted()
    }

    static let sources = paths(endingIn: ".xcdatamodel/contents")
    static let compiled = paths(endingIn: ".mom")
}
