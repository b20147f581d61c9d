import Foundation
import PackagePlugin

/// The files in a target's folder that the plugin reads.
struct TargetFiles {
    let folder: URL
    /// Models among the target's sources.
    let models: [URL]
    /// Mapping models among the target's sources.
    let mappings: [URL]
    /// Swift files that the target compiles as they are.
    let own: [URL]
    /// Swift files in the folder that are neither the target's nor another one's.
    let excluded: [URL]
    /// Models and mapping models in the folder that are neither the target's nor another one's.
    let modelsAside: [String]

    init(_ module: any SourceModuleTarget, of package: Package) {
        let folder = module.directoryURL.standardizedFileURL
        let files = module.sourceFiles.map(\.url.standardizedFileURL)
        let others = package.targets.compactMap { $0.sourceModule?.directoryURL.standardizedFileURL.path }.filter {
            $0 != folder.path && $0.hasPrefix(folder.path + "/")
        }
        let known = Set(files.map(\.path))
        self.folder = folder
        models = files.filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }.sorted { $0.path < $1.path }
        mappings = files.filter { $0.pathExtension == "xcmappingmodel" }.sorted { $0.path < $1.path }
        own = files.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
        let found = Self.all(in: folder).filter { file in !others.contains { file.path.hasPrefix($0 + "/") } }
        excluded = found.filter { file in
            file.pathExtension == "swift" && !known.contains(file.path) && file.lastPathComponent != "Package.swift"
        }.sorted { $0.path < $1.path }
        modelsAside = Set(found.compactMap(\.model)).filter { model in
            !known.contains { model == $0 || model.hasPrefix($0 + "/") }
        }.sorted()
    }

    static let kindsOfModels = ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"]

    /// The file with options, if there is one.
    var options: [URL] {
        let file = folder.appending(path: ".coredata.json")
        return FileManager.default.fileExists(atPath: file.path) ? [file] : []
    }

    /// Excluded files of one name, which copies cannot have.
    var excludedTwice: [(name: String, files: [URL])] {
        Dictionary(grouping: excluded, by: \.lastPathComponent).filter { $0.value.count > 1 }.map { ($0.key, $0.value) }
    }

    func files(in model: URL) -> [URL] { Self.all(in: model) }

    /// The folder and the files in it, so that a change in any of them is noticed; but nothing hidden except in a model.
    static func all(in folder: URL) -> [URL] {
        let isModel = kindsOfModels.contains(folder.pathExtension)
        let found = FileManager.default.enumerator(
            at: folder,
            includingPropertiesForKeys: nil,
            options: isModel ? [] : [.skipsHiddenFiles, .skipsPackageDescendants]
        )
        let files = (found?.compactMap { $0 as? URL } ?? []).map(\.standardizedFileURL).filter { !$0.hasDirectoryPath }
        return isModel ? [folder] + files : files
    }
}

extension URL {
    /// The path of the model that a file is a part of.
    fileprivate var model: String? {
        let parts = path.split(separator: "/")
        let end = parts.firstIndex { part in TargetFiles.kindsOfModels.contains { part.hasSuffix(".\($0)") } }
        return end.map { "/" + parts[...$0].joined(separator: "/") }
    }
}
