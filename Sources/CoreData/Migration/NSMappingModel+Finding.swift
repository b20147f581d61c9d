import Foundation

/// Mapping models that the program makes in code.
private enum MappingRegistrations {
    struct Registration {
        let source, destination: [String: Data]
        let make: @Sendable () -> NSMappingModel
    }
    private static let all = Lock<[Registration]>([])

    static func add(_ registration: Registration) {
        all.withLock { all in
            all.removeAll { $0.source == registration.source && $0.destination == registration.destination }
            all.append(registration)
        }
    }

    static func leading(from source: [String: Data], to destination: [String: Data]) -> NSMappingModel? {
        // Made outside of the lock, which is not held while other code runs.
        all.withLock { $0.first { $0.source == source && $0.destination == destination } }?.make()
    }
}

extension NSMappingModel {
    /// Makes a mapping model known, for stores that are migrated automatically from the one model to the other. A later one for the same two takes its
    /// place.
    ///
    /// An addition to Apple's interface: there a mapping model is a file in a bundle. Both models can no longer be changed.
    ///
    /// > Concurrency: from any thread; `mapping` is called on the thread that opens a store.
    public static func register(
        from source: NSManagedObjectModel,
        to destination: NSManagedObjectModel,
        mapping: @escaping @Sendable () -> NSMappingModel
    ) {
        source.freeze()
        destination.freeze()
        MappingRegistrations.add(
            .init(source: source.entityVersionHashesByName, destination: destination.entityVersionHashesByName, make: mapping)
        )
    }

    /// The mapping model from one to the other that the program has registered, or has in its bundles.
    static func leading(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> NSMappingModel? {
        MappingRegistrations.leading(from: source.entityVersionHashesByName, to: destination.entityVersionHashesByName)
            ?? NSMappingModel(from: [.main] + Bundle.allBundles, forSourceModel: source, destinationModel: destination)
    }
}
