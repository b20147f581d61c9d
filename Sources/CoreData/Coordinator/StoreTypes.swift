import Logging

/// The types of stores that there are, by name: the one place that knows which kind is behind each.
package enum StoreTypes {
    // Those that classes stand for are added by the layer that has classes.
    static let builtIn: [String: any StoreKind] = NSPersistentStoreCoordinator.documentKinds.merging([
        NSSQLiteStoreType: DatabaseKind(type: NSSQLiteStoreType),
        NSInMemoryStoreType: DatabaseKind(type: NSInMemoryStoreType),
    ]) { $1 }

    private struct Registration {
        let kind: any StoreKind
        /// Another class that was registered for the same type.
        var rival: AnyClass?
    }
    private static let registered = Lock<[String: Registration]>([:])

    static var all: [String: any StoreKind] { registered.withLock { $0.mapValues(\.kind) }.merging(builtIn) { $1 } }

    /// - Throws: `CocoaError` 134000 for an unknown type, and for one that two classes were registered for.
    static func kind(of type: String) throws -> any StoreKind {
        if let kind = builtIn[type] { return kind }
        guard let found = registered.withLock({ $0[type] }) else {
            throw CocoaError.coreData(.persistentStoreInvalidType, "There are no stores of type \"\(type)\".")
        }
        guard let rival = found.rival else { return found.kind }
        throw CocoaError.coreData(
            .persistentStoreInvalidType,
            """
            registerStoreClass(_:forStoreType:) was called for \"\(type)\" with \(found.kind.registeredClass.map { "\($0)" } ?? "?") and with \
            \(rival): call it with nil first.
            """
        )
    }

    package static func register(_ kind: any StoreKind, _ type: String) {
        if builtIn[type] != nil {
            Logger(label: "CoreData").error("registerStoreClass(_:forStoreType:): stores of type \"\(type)\" cannot be replaced")
        }
        registered.withLock { registered in
            if let known = registered[type]?.kind.registeredClass, known != kind.registeredClass {
                registered[type]?.rival = kind.registeredClass
            } else {
                registered[type] = Registration(kind: kind)
            }
        }
    }

    package static func unregister(_ type: String) { registered.withLock { $0[type] = nil } }
}
