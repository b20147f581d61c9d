import Foundation

extension Model {
    /// Reads an `.xcdatamodel`.
    ///
    /// - Throws: `ModelFormatError` with the file, and a line where there is one.
    public init(source folder: URL) throws {
        let contents = folder.appendingPathComponent("contents")
        guard FileManager.default.fileExists(atPath: contents.path) else {
            throw ModelFormatError(file: folder.path, nil, "the folder has no file contents, in which the model stands")
        }
        let data = try content(of: contents)
        self = try inFile(contents) { try Model(xml: data) }
    }

    /// Writes an `.xcdatamodel`; there must be nothing at `folder`.
    public func writeSource(to folder: URL) throws {
        let data = try xml()
        try makingFolder(folder) { try data.write(to: folder.appendingPathComponent("contents")) }
    }
}

extension ModelBundle {
    /// Reads an `.xcdatamodeld` with all its versions.
    ///
    /// - Throws: `ModelFormatError` with the file, and a line where there is one.
    public init(source folder: URL) throws {
        try readVersions(in: folder, withExtension: "xcdatamodel") { try Model(source: $0) }
        let file = folder.appendingPathComponent(Self.currentVersionFile)
        try setCurrentVersion(Self.currentVersion(saidBy: file), saidBy: file)
    }

    /// NB: merges and other editors leave the file empty, or without a name in it: that is as if it were not there.
    private static func currentVersion(saidBy file: URL) throws -> String? {
        guard FileManager.default.fileExists(atPath: file.path), try content(of: file).contains(where: { !Self.spaces.contains($0) }),
            case .string(let text)? = try propertyList(file)?[currentVersionKey]
        else { return nil }
        let name = (text as NSString).deletingPathExtension
        return name.isEmpty ? nil : name
    }

    private static let spaces: Set<UInt8> = Set(" \t\r\n".utf8)

    /// Writes an `.xcdatamodeld`; there must be nothing at `folder`.
    public func writeSource(to folder: URL) throws {
        try makingFolder(folder) {
            for (name, model) in versions { try model.writeSource(to: folder.appendingPathComponent("\(name).xcdatamodel")) }
            guard let currentVersion else { return }
            let list = [Self.currentVersionKey: "\(currentVersion).xcdatamodel"]
            try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
                .write(to: folder.appendingPathComponent(Self.currentVersionFile))
        }
    }

    private static let currentVersionFile = ".xccurrentversion"
    private static let currentVersionKey = "_XCCurrentVersionName"
}
