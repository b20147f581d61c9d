/// A version of a model, told by its checksum and found when it is needed.
///
/// > Concurrency: as a model that is being built: one thread at a time.
open class NSManagedObjectModelReference: NSObject {
    /// The checksum that the model must have: its `versionChecksum`, Base64 of 32 bytes.
    public let versionChecksum: String
    /// Gives the models that may be meant.
    private let candidates: () throws -> [NSManagedObjectModel]
    private var found: NSManagedObjectModel?

    /// A reference to a model at hand.
    public convenience init(model: NSManagedObjectModel, versionChecksum: String) {
        self.init(versionChecksum) { [model] }
    }

    /// A reference to a version in a file: `.mom`, any version in a `.momd`, or a source of either.
    public convenience init(fileURL: URL, versionChecksum: String) {
        self.init(versionChecksum) { try NSManagedObjectModel.versions(at: fileURL) }
    }

    /// A reference to any version of the model of that name in a bundle, or to the version of that name; in the main bundle for nil.
    public convenience init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        self.init(versionChecksum) {
            let places = ModelPlaces(bundle ?? .main)
            let files = [places.model(named: modelName), places.version(named: modelName)].compactMap { $0 }
            return try files.flatMap(NSManagedObjectModel.versions)
        }
    }

    /// A reference to a version with these hashes of entities, among all models of a bundle, the main one for nil.
    public convenience init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        let metadata = [NSStoreModelVersionHashesKey: versionHash as? [String: Data] ?? [:]]
        self.init(versionChecksum) {
            NSManagedObjectModel.mergedModel(from: bundle.map { [$0] }, forStoreMetadata: metadata).map { [$0] } ?? []
        }
    }

    private init(_ versionChecksum: String, _ candidates: @escaping () throws -> [NSManagedObjectModel]) {
        self.versionChecksum = versionChecksum
        self.candidates = candidates
    }

    /// The model. `resolve()` throws where this stops.
    ///
    /// - Precondition: it is there, and has the checksum.
    open var resolvedModel: NSManagedObjectModel {
        do { return try resolve() } catch { misuse("\(error.localizedDescription) Use resolve(), which throws, where that may happen.") }
    }

    /// The model, the same each time. An addition to Apple's interface.
    ///
    /// - Throws: `CocoaError` 134504 where no model with the checksum is found, with the cause where a file cannot be read.
    public func resolve() throws -> NSManagedObjectModel {
        if let found { return found }
        found = try matching()
        return try resolve()
    }

    private func matching() throws -> NSManagedObjectModel {
        var userInfo: [String: Any] = [:]
        do {
            if let model = try candidates().first(where: { $0.versionChecksum == versionChecksum }) { return model }
        } catch {
            userInfo[NSUnderlyingErrorKey] = error
        }
        throw CocoaError.coreData(
            CocoaError.Code(rawValue: NSManagedObjectModelReferenceNotFoundError),
            "There is no model with the version checksum \(versionChecksum).",
            userInfo: userInfo
        )
    }
}
