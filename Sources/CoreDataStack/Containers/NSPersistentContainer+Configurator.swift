import CoreData

extension NSPersistentContainer {
    /// Makes a container of the type that the caller expects, with one store that `configurator` describes. It is still to be loaded.
    ///
    /// - Throws: what the configurator throws.
    public static func makePersistentContainer<Container: NSPersistentContainer>(
        named name: String,
        for model: NSManagedObjectModel,
        configurator: any PersistentStoreDescriptionConfigurator
    ) throws -> Container {
        let container = Container(name: name, managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        try configurator.configure(description)
        container.persistentStoreDescriptions = [description]
        return container
    }

    /// Makes a container for all models of a bundle, with the bundle's name.
    ///
    /// - Throws: `MissingModelInBundleError`; what the configurator throws.
    public static func makePersistentContainer<Container: NSPersistentContainer>(
        forModelsInBundle bundle: Bundle,
        configurator: any PersistentStoreDescriptionConfigurator
    ) throws -> Container {
        try makePersistentContainer(named: bundle.plainName, for: mergedModel(from: bundle), configurator: configurator)
    }

    /// All models of a bundle as one, found as `NSManagedObjectModel.mergedModel(from:)` does.
    ///
    /// - Throws: `MissingModelInBundleError` where there is none, or one that cannot be used.
    public static func mergedModel(from bundle: Bundle) throws -> NSManagedObjectModel {
        guard let model = NSManagedObjectModel.mergedModel(from: [bundle]), !model.entities.isEmpty else {
            throw MissingModelInBundleError(bundle: bundle)
        }
        return model
    }
}

/// A bundle was said to have a data model, and has none that can be used.
public struct MissingModelInBundleError: LocalizedError, Sendable, _NSErrorBridging {
    public let bundle: Bundle

    public init(bundle: Bundle) { self.bundle = bundle }

    public var errorDescription: String? {
        "The bundle \(bundle.plainName) has no data model, or one that cannot be used (\(bundle.bundlePath))."
    }
}

extension Bundle {
    /// The name that the bundle gives itself, or else that of its folder; the main bundle's is the program's.
    ///
    /// NB: the resource bundles that SwiftPM makes on Linux say nothing about themselves.
    var plainName: String {
        if let name = object(forInfoDictionaryKey: "CFBundleName") as? String, !name.isEmpty { return name }
        return self == .main ? ProcessInfo.processInfo.processName : bundleURL.deletingPathExtension().lastPathComponent
    }
}
