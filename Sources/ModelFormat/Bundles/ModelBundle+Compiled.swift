import Foundation

extension Model {
    /// Reads a `.mom`.
    ///
    /// - Throws: `ModelFormatError` with the file, and an offset or the number of an object where there is one.
    public init(compiled file: URL) throws {
        let data = try content(of: file)
        self = try inFile(file) { try Model(archive: data) }
    }
}

extension ModelBundle {
    /// Reads a `.momd` with all its versions. Optimised copies of models (`.omo`) are passed over.
    ///
    /// - Throws: `ModelFormatError` with the file, and an offset or the number of an object where there is one.
    public init(compiled folder: URL) throws {
        try readVersions(in: folder, withExtension: "mom") { try Model(compiled: $0) }
        let file = folder.appendingPathComponent(Self.versionFile)
        let list = try Self.propertyList(file) ?? [:]
        var name: String?
        if case .string(let text)? = list[Self.currentVersionKey] { name = text }
        try setCurrentVersion(name, saidBy: file)
        versionHashes = try inFile(file) { try Self.hashes(list[Self.hashesKey]) }
        versionChecksums = try inFile(file) { try Self.dictionary(list[Self.checksumsKey], Self.checksumsKey).mapValues(Self.text) }
    }

    /// Writes a `.momd`; there must be nothing at `folder`.
    ///
    /// - Throws: what `Model.archived(parser:)` throws, and errors of the file system.
    public func writeCompiled(to folder: URL, parser: ModelTextParser = .none) throws {
        let files = try versions.mapValues { try $0.archived(parser: parser) }
        try makingFolder(folder) {
            for (name, data) in files { try data.write(to: folder.appendingPathComponent("\(name).mom")) }
            try Data(BinaryPropertyList.bytes(of: versionList)).write(to: folder.appendingPathComponent(Self.versionFile))
        }
    }

    private var versionList: PropertyListNode {
        var list: [String: PropertyListNode] = [
            Self.hashesKey: .dictionary(versionHashes.mapValues { .dictionary($0.mapValues { .data(Array($0)) }) })
        ]
        if let currentVersion { list[Self.currentVersionKey] = .string(currentVersion) }
        if !versionChecksums.isEmpty { list[Self.checksumsKey] = .dictionary(versionChecksums.mapValues { .string($0) }) }
        return .dictionary(list)
    }

    private static let versionFile = "VersionInfo.plist"
    private static let currentVersionKey = "NSManagedObjectModel_CurrentVersionName"
    private static let hashesKey = "NSManagedObjectModel_VersionHashes"
    private static let checksumsKey = "NSManagedObjectModel_VersionChecksums"

    private static func hashes(_ node: PropertyListNode?) throws -> [String: [String: Data]] {
        try dictionary(node, hashesKey).mapValues { try dictionary($0, hashesKey).mapValues(data) }
    }

    private static func dictionary(_ node: PropertyListNode?, _ key: String) throws -> [String: PropertyListNode] {
        guard let node else { return [:] }
        guard case .dictionary(let entries) = node else { throw ModelFormatError(nil, "\(key) is \(node.kind), not a dictionary") }
        return entries
    }

    private static func data(_ node: PropertyListNode) throws -> Data {
        guard case .data(let bytes) = node else { throw ModelFormatError(nil, "a version hash is \(node.kind), not data") }
        return Data(bytes)
    }

    private static func text(_ node: PropertyListNode) throws -> String {
        guard case .string(let text) = node else { throw ModelFormatError(nil, "a checksum is \(node.kind), not a text") }
        return text
    }
}
