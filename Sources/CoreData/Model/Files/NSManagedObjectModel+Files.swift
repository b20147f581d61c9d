import ModelFormat

extension NSManagedObjectModel {
    /// The model in a file: `.momd` (its current version), `.mom`, and here also `.xcdatamodeld` (its current version) and `.xcdatamodel`.
    ///
    /// Nil for a file that is not there or cannot be used; the log says why, and `init(reading:)` throws it.
    public convenience init?(contentsOf url: URL) {
        // A failure is in the log.
        try? self.init(noting: url)
    }

    /// As `init(contentsOf:)`, which Apple's Core Data has.
    ///
    /// ```swift
    /// let model = try NSManagedObjectModel(reading: URL(fileURLWithPath: "Library.momd"))
    /// ```
    /// - Throws: `CocoaError` with the code `fileReadNoSuchFile`, `fileReadCorruptFile`, or `coreData` for a model that contradicts itself.
    ///   Its text tells the file, and the line, byte or object.
    public convenience init(reading url: URL) throws {
        try Self.requireFile(url)
        try self.init(Self.readable(url) { try Self.model(at: url) }, at: url)
        versionBundles = [url, url.deletingLastPathComponent()].filter(\.isVersionBundle)
    }

    private convenience init(noting url: URL) throws {
        do { try self.init(reading: url) } catch { throw FailureLog.noted("The model at \(url.path) was not read", error) }
    }

    private static func requireFile(_ url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CocoaError.coreData(.fileReadNoSuchFile, "There is no model at \(url.path).", userInfo: [NSURLErrorKey: url])
        }
    }

    /// All versions of the model in a file, the current one first.
    ///
    /// - Throws: as `init(reading:)`.
    static func versions(at url: URL) throws -> [NSManagedObjectModel] {
        try requireFile(url)
        let models = try readable(url) {
            switch url.pathExtension {
            case "momd": try ModelBundle(compiled: url).currentFirst
            case "xcdatamodeld": try ModelBundle(source: url).currentFirst
            default: [try model(at: url)]
            }
        }
        return try models.map { try NSManagedObjectModel($0, at: url) }
    }

    private convenience init(_ model: Model, at url: URL) throws {
        self.init()
        try Self.readable(url) { try describe(model) }
    }

    private static func readable<Value>(_ url: URL, _ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let error as ModelFormatError {
            throw CocoaError.coreData(.fileReadCorruptFile, "\(error).", userInfo: [NSURLErrorKey: url, NSUnderlyingErrorKey: error])
        }
    }

    /// A model with the entities that `model` describes.
    ///
    /// - Throws: `ModelFormatError` for what has no counterpart here, and `CocoaError` for what `validate()` refuses.
    package convenience init(_ model: Model) throws {
        self.init()
        try describe(model)
    }

    private func describe(_ model: Model) throws {
        if let problem = model.problems().first { throw ModelFormatError(nil, problem.sentence) }
        let builder = try DescriptionBuilder(model)
        entities = builder.entities
        for configuration in model.configurations {
            setEntities(configuration.members.compactMap { entitiesByName[$0] }, forConfigurationName: configuration.name)
        }
        versionIdentifiers = Set(model.versionIdentifiers)
        fetchTemplates = Dictionary(model.fetchRequests.map { ($0.name, .described($0)) }) { first, _ in first }
        try validate()
    }

    private static func model(at url: URL) throws -> Model {
        switch url.pathExtension {
        case "momd": try current(ModelBundle(compiled: url), url)
        case "xcdatamodeld": try current(ModelBundle(source: url), url)
        case "xcdatamodel": try Model(source: url)
        default: try Model(compiled: url)
        }
    }

    private static func current(_ bundle: ModelBundle, _ url: URL) throws -> Model {
        guard let model = bundle.currentModel else {
            throw ModelFormatError(file: url.path, nil, "the bundle does not say which version is current")
        }
        return model
    }
}

extension URL {
    fileprivate var isVersionBundle: Bool { ["momd", "xcdatamodeld"].contains(pathExtension) }
}

extension ModelBundle {
    /// The models of all versions: the current one, then the others by name.
    fileprivate var currentFirst: [Model] {
        let others = versions.filter { $0.key != currentVersion }.sorted { binaryOrder($0.key, $1.key) }.map(\.value)
        return (currentModel.map { [$0] } ?? []) + others
    }
}
