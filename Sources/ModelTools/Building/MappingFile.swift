import Foundation
import ModelCompiler
import ModelFormat

/// An `.xcmappingmodel` among the sources of a program.
public struct MappingFile: Sendable {
    private let folder: URL
    private let mapping: MappingModel

    /// - Throws: `ModelFormatError` for what is in the file.
    public init(path: String) throws {
        folder = URL(fileURLWithPath: path)
        mapping = try MappingModel(source: folder)
    }

    /// Writes the mapping model with the version hashes of its models, by which a program finds it.
    ///
    /// - Parameter models: the paths of the models that there are, sources with all their versions.
    /// - Returns: what keeps a program from finding it.
    /// - Throws: `Failure` where the mapping is between others, `SourceMessages` for names that its models do not have.
    @discardableResult
    public func compile(to url: URL, models: [String]) throws -> [SourceMessage] {
        let source = try version(mapping.sourceModelPath, "source", models)
        let destination = try version(mapping.destinationModelPath, "destination", models)
        let check = MappingCheck(mapping, from: source, to: destination)
        let file = folder.appendingPathComponent("xcmapping.xml").path
        let errors = check.errors.map { SourceMessage(.error, file, nil, $0) }
        if !errors.isEmpty { throw SourceMessages(errors) }
        let hashes = MappingModel.Hashes(source: source.versionHashes, destination: destination.versionHashes)
        try replaceFolder(url, knownBy: MappingModel.hashesFile) { new in
            try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                at: folder.appendingPathComponent("xcmapping.xml"),
                to: new.appendingPathComponent("xcmapping.xml")
            )
            try hashes.data().write(to: new.appendingPathComponent(MappingModel.hashesFile))
        }
        return check.warnings.map { SourceMessage(.warning, file, nil, $0) }
    }

    /// The model is told by the names of its file and version: the folders before are those of whoever made the mapping.
    private func version(_ said: String?, _ side: String, _ models: [String]) throws -> Model {
        let names = (said ?? "").split(separator: "/").suffix(2).map(String.init)
        for path in models {
            let url = URL(fileURLWithPath: path)
            guard names.contains(url.lastPathComponent), let last = names.last else { continue }
            let versions = try ModelFile(path: path).bundle.versions
            let version = URL(fileURLWithPath: last).deletingPathExtension().lastPathComponent
            if let found = versions[version] { return found }
        }
        throw Failure("The \(side) of the mapping model, \(said ?? "which is not named"), is not among the models of the target.")
    }
}
