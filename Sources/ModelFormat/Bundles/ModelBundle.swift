import Foundation

/// The versions of a model: an `.xcdatamodeld` of sources or a `.momd` of compiled models.
public struct ModelBundle: Sendable, Equatable {
    /// By the names of the versions, which are those of the files without extension.
    public var versions: [String: Model] = [:]
    /// The version that new stores are made with; nil where the bundle does not say it.
    public var currentVersion: String?
    /// The version hashes of each version's entities; in compiled bundles only.
    public var versionHashes: [String: [String: Data]] = [:]
    /// One text for all hashes of a version; in newer compiled bundles only.
    public var versionChecksums: [String: String] = [:]

    public init() {}

    /// The model of the current version.
    public var currentModel: Model? { currentVersion.flatMap { versions[$0] } }
}

extension ModelBundle {
    /// Reads all files in a folder that end so, each with `read`.
    mutating func readVersions(in folder: URL, withExtension ending: String, _ read: (URL) throws -> Model) throws {
        let files = try inFile(folder) { try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) }
        for file in files where file.pathExtension == ending {
            versions[file.deletingPathExtension().lastPathComponent] = try read(file)
        }
        if versions.isEmpty { throw ModelFormatError(file: folder.path, nil, "the folder has no .\(ending)") }
    }

    /// Sets the current version to one that must be there; without a name it is the only one, if there is only one.
    mutating func setCurrentVersion(_ name: String?, saidBy file: URL) throws {
        guard let name else {
            currentVersion = versions.count == 1 ? versions.keys.first : nil
            return
        }
        guard versions[name] != nil else {
            throw ModelFormatError(file: file.path, nil, "the current version is \(name), which is not there")
        }
        currentVersion = name
    }

    /// A property list whose root is a dictionary; nil where there is no file.
    static func propertyList(_ file: URL) throws -> [String: PropertyListNode]? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try inFile(file) {
            guard case .dictionary(let entries) = try PropertyListNode(Data(contentsOf: file)) else {
                throw ModelFormatError(nil, "the property list is no dictionary")
            }
            return entries
        }
    }
}

/// Makes a new folder at `url`, and takes it away again if `body` throws.
///
/// - Throws: `CocoaError` where there is something already.
func makingFolder(_ url: URL, _ body: () throws -> Void) throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    do {
        try body()
    } catch {
        try? FileManager.default.removeItem(at: url)
        throw error
    }
}
