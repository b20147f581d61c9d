/// Where models are looked for: in bundles, in the resource bundles inside them, and for the main bundle beside the executable.
///
/// NB: on Linux a build puts a target's resources into `Package_Target.resources` beside the executable, and `Bundle.main` finds nothing there.
struct ModelPlaces {
    private let folders: [URL]

    init(_ bundle: Bundle) { self.init([bundle]) }

    init(_ bundles: [Bundle]) {
        var seen: Set<String> = []
        folders = bundles.flatMap(Self.folders).filter { seen.insert($0.standardizedFileURL.path).inserted }
    }

    /// The model of a name; a compiled one rather than a source.
    func model(named name: String) -> URL? {
        for folder in folders {
            if let model = Self.models(in: folder).first(where: { $0.modelName == name }) { return model }
        }
        return nil
    }

    /// The version of a name in a bundle of versions.
    func version(named name: String) -> URL? {
        let bundles = folders.flatMap { Self.files(in: $0, endingIn: ["momd", "xcdatamodeld"]) }
        return bundles.lazy.flatMap(Self.models).first { $0.modelName == name }
    }

    /// All models, one of each name in a folder.
    var all: [URL] {
        folders.flatMap { folder in
            var seen: Set<String> = []
            return Self.models(in: folder).filter { seen.insert($0.modelName).inserted }
        }
    }

    /// All mapping models: compiled ones, and sources.
    var mappings: [URL] { folders.flatMap { Self.files(in: $0, endingIn: ["cdm", "xcmappingmodel"]) } }

    var paths: [String] { folders.map(\.path) }

    /// A sentence without a full stop: what there is none of, and where.
    func isMissing(_ what: String) -> String { "There is no \(what) in \(paths.joined(separator: ", "))" }

    private static let endings = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]
    private static let bundleEndings = ["resources", "bundle"]

    private static func folders(of bundle: Bundle) -> [URL] {
        let beside = bundle == .main ? [bundle.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()] : []
        let own = ([bundle.resourceURL, bundle.bundleURL] + beside).compactMap { $0 }
        return own + own.flatMap { files(in: $0, endingIn: bundleEndings).map(resources) }
    }

    /// Where a resource bundle has its files.
    private static func resources(_ bundle: URL) -> URL { Bundle(url: bundle)?.resourceURL ?? bundle }

    private static func models(in folder: URL) -> [URL] { files(in: folder, endingIn: endings) }

    /// What is in a folder and ends so, in the order of the endings, then by name. Nothing where there is no folder.
    private static func files(in folder: URL, endingIn endings: [String]) -> [URL] {
        let all = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return endings.flatMap { ending in
            all.filter { $0.pathExtension == ending }.sorted { binaryOrder($0.lastPathComponent, $1.lastPathComponent) }
        }
    }
}

extension URL {
    fileprivate var modelName: String { deletingPathExtension().lastPathComponent }
}
