import Foundation

/// A type of stores: how one is opened, and what is done with those that nobody has open.
package protocol StoreKind: Sendable {
    /// Opens the store, or makes it.
    ///
    /// - Throws: a `CocoaError`; what was there is untouched.
    func open(_ opening: StoreOpening) throws -> any RowStore
    /// Removes what is at a place, if anything is. `release` is called before, where there is something.
    func destroy(at url: URL, options: [AnyHashable: Any]?, releasing release: () throws -> Void) throws
    /// Removes what is in the store with an identifier, if that is the one at a place.
    func empty(_ identifier: String, at url: URL) throws
    /// The metadata of the store at a place.
    func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]
    /// The version of the model that the store at a place is of, by what it keeps itself and what the program knows; nil where neither says.
    func model(ofStoreAt url: URL) throws -> NSManagedObjectModel?
    /// Writes the metadata of the store at a place, which nobody need have open.
    func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws
    /// Copies a whole store that is open elsewhere, and opens the copy: `commit` takes it, while nobody can save into the other.
    ///
    /// - Throws: a `CocoaError`; nothing has changed then.
    func move(_ store: any RowStore, _ opening: StoreOpening, commit: @escaping (any RowStore) -> Void) throws
    /// Puts the contents of one store in the place of another's. `release` is called before, where there is something to copy.
    func replace(_ destination: StoreLocator, with source: StoreLocator, releasing release: () throws -> Void) throws
    /// The class that a program has registered, if it is one.
    var registeredClass: AnyClass? { get }
}

extension StoreKind {
    package var registeredClass: AnyClass? { nil }

    package func model(ofStoreAt url: URL) throws -> NSManagedObjectModel? { nil }

    package func empty(_ identifier: String, at url: URL) throws {
        throw CocoaError.coreData(
            .persistentStoreOperation,
            "Stores of this type cannot be emptied in place: delete the objects.",
            userInfo: [NSURLErrorKey: url]
        )
    }

    package func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
        throw CocoaError.coreData(
            .persistentStoreOperation,
            "Stores of this type have no metadata that can be set from outside: add the store, use setMetadata(_:for:), and save.",
            userInfo: [NSURLErrorKey: url]
        )
    }
}

extension StoreKind {
    package func move(_ store: any RowStore, _ opening: StoreOpening, commit: @escaping (any RowStore) -> Void) throws {
        throw Self.cannotMove(store.type, to: opening.type)
    }

    package func replace(_ destination: StoreLocator, with source: StoreLocator, releasing release: () throws -> Void) throws {
        throw CocoaError.coreData(.coreData, "Stores of this type cannot be replaced: copy the file while no coordinator has it.")
    }

    static func cannotMove(_ type: String, to other: String) -> CocoaError {
        .coreData(
            .coreData,
            "A store of type \(type) cannot become one of type \(other): add one at the other place, and copy the objects."
        )
    }
}

/// A store that need not be open.
package struct StoreLocator {
    package let url: URL
    package let options: [AnyHashable: Any]?
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
    /// The coordinator's store whose place the new one takes.
    package var replaced: (any RowStore)?

    /// - Throws: `CocoaError` 134080 for a configuration that the model has not, or attributes that nothing can be kept of.
    package func checkModel() throws {
        try model.requireConfiguration(configurationName)
        try model.requireStorableAttributes(forConfigurationName: configurationName, isComputing: false)
    }
}
