import Foundation
import ModelFormat

extension NSManagedObjectModel {
    /// The model that an SQLite store carries with it: for a store whose model files are lost, or are somebody else's.
    ///
    /// Apple's Core Data, since 2015, and this one keep a copy of the model in the store. It has everything that version hashes and tables
    /// need, so the store opens with it; in copies made here, validation rules, fetch requests and fetched properties are missing. Nothing is
    /// changed in the file or beside it, and it need not be closed.
    ///
    /// ```swift
    /// let model = try NSManagedObjectModel(contentsOfStoreAt: URL(fileURLWithPath: "Old.sqlite"))
    /// ```
    /// - Throws: `CocoaError` with the code `fileReadNoSuchFile` where there is no file; `fileReadCorruptFile` where it, or the model in it,
    ///   cannot be read; `persistentStoreIncompatibleSchema` (134020) for what is no store; `migrationMissingSourceModel` (134130) for a store
    ///   without a model. The text names the file.
    public convenience init(contentsOfStoreAt url: URL) throws {
        let inspector = try StoreInspector(url: url)
        defer { inspector.connection.close() }
        let model = try inspector.requireStoredModel()
        do {
            try self.init(model)
        } catch let error as ModelFormatError {
            throw CocoaError.coreData(
                .fileReadCorruptFile,
                "The model that the store at \(url.path) carries cannot be used: \(error).",
                userInfo: [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error]
            )
        }
    }
}

extension StoreInspector {
    /// - Throws: a `CocoaError` that names the file, where the store carries no model or one that cannot be read.
    package func requireStoredModel() throws -> Model {
        if let model = try storedModel() { return model }
        throw CocoaError.coreData(
            .migrationMissingSourceModel,
            "The store at \(url.path) carries no model with it: it takes a model file.",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }
}
