import Foundation

/// A type of stores: how one is opened, and what is done with those that nobody has open.
package protocol StoreKind: Sendable {
    /// Opens the store, or makes it.
    ///
    /// - Throws: a `CocoaError`; what was there is untouched.
    func open(_ opening: StoreOpening) throws -> any RowStore
    /// Removes what is at a place, if anything is. `release` is called before, where there is something.
    func destroy(at url: URL, options: [AnyHashable: Any]?, releasing release: () throws -> Void) throws
    /// The metadata of the store at a place.
    func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]
    /// Writes the metadata of the store at a place, which nobody need have open.
    func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws
    /// The class that a program has registered, if it is one.
    var registeredClass: AnyClass? { get }
}

extension StoreKind {
    package var registeredClass: AnyClass? { nil }

    package func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
        throw CocoaError.coreData(
            .persistentStoreOperation,
            "Stores of this type have no metadata that can be set from outside: add the store, use setMetadata(_:for:), and save.",
            userInfo: [NSURLErrorKey: url]
        )
    }
}

/// A store that is to be opened.
package struct StoreOpening {
    package let type: String
    package let url: URL?
    package let configurationName: String?
    package let options: [AnyHashable: Any]?
    package let model: NSManagedObjectModel
    /// The coordinator, which is of a layer above.
    package let coordinator: AnyObject
    /// Refuses what the coordinator has already: data in that location, or at that URL.
    package let requireUnused: (StoreLocation?, URL?) throws -> Void
    /// Whether there is a mapping model that leads from one model to another.
    package let hasMappingModel: @Sendable (NSManagedObjectModel, NSManagedObjectModel) -> Bool

    /// - Throws: `CocoaError` 134080 for a configuration that the model has not, or attributes that nothing can be kept of.
    package func checkModel() throws {
        guard model.entities(forConfigurationName: configurationName) != nil else {
            throw CocoaError.coreData(.persistentStoreOpen, "The model has no configuration \"\(configurationName ?? "")\".")
        }
        try model.requireStorableAttributes(forConfigurationName: configurationName)
    }
}
