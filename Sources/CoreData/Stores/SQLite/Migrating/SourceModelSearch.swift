import Foundation
import ModelFormat
import SQLiteDriver

/// The search for the model that a store was written with.
///
/// The store's own copy comes first: it is certainly of the store, and no folder has to be read. Then what its stages say, what the program
/// carries, all versions of the model that it is opened with, and those of all models in the bundles. On the way back to a version that the store has
/// left, the copy does not count where anything would be lost: a program that knows no more of the newer version has no use for its data.
struct SourceModelSearch {
    struct Found {
        let model: NSManagedObjectModel
        let configuration: String?
    }

    let metadata: StoreMetadata
    let configuration: String?
    let url: URL
    /// What its stages say, and the model that it is opened with, of which it may be another configuration.
    var atHand: [NSManagedObjectModel] = []
    /// The version that the store has left, and is to be of again; nil on the way to another one.
    var former: NSManagedObjectModel?

    /// - Throws: `CocoaError` 134130 that lists the hashes and the places.
    func find(in connection: Connection? = nil) throws -> Found {
        // A copy that cannot be read is as good as none: the model may be elsewhere.
        let copy = connection.flatMap { try? ModelCache.read(from: $0) }.flatMap { $0 }.flatMap { try? NSManagedObjectModel($0) }
        if let found = copy.flatMap(fitting), losesNothing(found) { return found }
        if let found = atHand.lazy.compactMap(fitting).first { return found }
        let registered = NSManagedObjectModel.allRegistered
        if let found = registered.lazy.compactMap(fitting).first { return found }
        let places = ModelPlaces([.main] + Bundle.allBundles)
        let siblings = atHand.flatMap(\.versionBundles)
        // A file that is of no use here may still be in the folder.
        let models = (siblings + places.all).flatMap { (try? NSManagedObjectModel.versions(at: $0)) ?? [] }
        if let found = models.lazy.compactMap(fitting).first { return found }
        let merged = NSManagedObjectModel(byMerging: registered + models, forStoreMetadata: metadata.dictionary)
        if let found = merged.flatMap(fitting) { return found }
        throw missing(hasCopy: copy != nil, registered: registered.count, siblings.map(\.path) + places.paths)
    }

    /// The model with the configuration that the store was made with; nil where it is not the store's.
    func fitting(_ model: NSManagedObjectModel) -> Found? {
        let names = [configuration, nil] + model.configurations.sorted(by: binaryOrder)
        return names.first { model.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata.dictionary) }
            .map { Found(model: model, configuration: $0) }
    }

    /// NB: a version that the store has left may be the newer one, where a program of a version between the two has taken the store to its own.
    private func losesNothing(_ copy: Found) -> Bool {
        former.map { ModelTransition(from: copy.model, to: $0).keepsAll((copy.configuration, configuration)) } ?? true
    }

    private func missing(hasCopy: Bool, registered: Int, _ places: [String]) -> CocoaError {
        let hashes = metadata.versionHashes.sorted { binaryOrder($0.key, $1.key) }.map { name, hash in
            name + " " + hash.prefix(4).map { String(format: "%02x", $0) }.joined() + "…"
        }
        let looked = [
            ownPlace(hasCopy),
            "\(registered) registered models", "the models in " + places.joined(separator: ", "),
        ]
        return .coreData(
            .migrationMissingSourceModel,
            "The model that the store at \(url.path) was written with is not found. \(newer)It has \(hashes.joined(separator: ", ")); looked in "
                + looked.joined(separator: "; ") + ".",
            userInfo: [
                NSFilePathErrorKey: url.path, NSStoreModelVersionHashesKey: metadata.versionHashes, "places": places,
            ]
        )
    }

    private func ownPlace(_ hasCopy: Bool) -> String {
        if former != nil { return "the copy in the store, which leads forward only" }
        return hasCopy ? "the copy in the store, which is of another version" : "the store, which carries no copy that can be read"
    }

    private var newer: String {
        former != nil ? "A newer version of the program has migrated it, and what only that one knows would be lost on the way back. " : ""
    }
}
