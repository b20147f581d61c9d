import Logging

extension NSManagedObjectModel {
    /// The models of all files in some bundles as one, each in its current version; of the main bundle for nil. Without any, it is empty.
    ///
    /// A bundle's models are its `.momd` and `.mom` files, and here also `.xcdatamodeld` and `.xcdatamodel` where there is no compiled file of
    /// that name; those of the bundles inside it too, and of the main bundle what the build has put beside the executable.
    ///
    /// Nil where a file cannot be used, or two models define an entity differently: the log says which.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        do {
            let places = ModelPlaces(bundles ?? [.main]).all
            let models = try places.map { try NSManagedObjectModel(reading: $0) }
            if let name = disagreement(of: models) {
                let files = zip(places, models).filter { $1.entitiesByName[name] != nil }.map(\.0.path).joined(separator: ", ")
                let cure = "take one, by NSManagedObjectModel(named:in:)."
                throw CocoaError.coreData(.coreData, "\(files) define entity \(name) differently: " + cure)
            }
            let merged = NSManagedObjectModel(byMerging: models)
            try merged?.validate()
            return merged
        } catch {
            Logger(label: "CoreData").error("no merged model: \(error.localizedDescription)")
            return nil
        }
    }

    /// A model of the entities that a store was written with, found among all versions of the models in some bundles; nil where one is missing.
    public class func mergedModel(from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]) -> NSManagedObjectModel? {
        // A file that is of no use here may still be in the folder.
        let models = ModelPlaces(bundles ?? [.main]).all.flatMap { (try? versions(at: $0)) ?? [] }
        return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
    }

    /// The model of that name in a bundle, without extension. An addition to Apple's interface: `Bundle.url(forResource:withExtension:)` does not
    /// find what SwiftPM puts beside an executable on Linux.
    ///
    /// Looks where `mergedModel(from:)` does, and takes a compiled file rather than a source.
    ///
    /// - Throws: `CocoaError` `fileReadNoSuchFile` that says where it was looked for; as `init(reading:)` where it cannot be used.
    public convenience init(named name: String, in bundle: Bundle = .main) throws {
        let places = ModelPlaces(bundle)
        guard let url = places.model(named: name) else {
            let cure = "The target whose folder has its .xcdatamodeld needs CoreDataModelPlugin among its plugins."
            let hint = Self.hint(forModel: name)
            throw CocoaError.coreData(.fileReadNoSuchFile, places.isMissing("model named \"\(name)\"") + ".\(hint) " + cure)
        }
        try self.init(reading: url)
    }
}
