/// The types of stores that there are, by name: the one place that knows which kind is behind each.
enum StoreTypes {
    static let builtIn: [String: any StoreKind] = [
        NSSQLiteStoreType: DatabaseKind(type: NSSQLiteStoreType),
        NSInMemoryStoreType: DatabaseKind(type: NSInMemoryStoreType),
    ]
    private static let known = Lock(builtIn)

    static var all: [String: any StoreKind] { known.withLock { $0 } }

    /// - Throws: `CocoaError` 134000 for an unknown type.
    static func kind(of type: String) throws -> any StoreKind {
        if let kind = known.withLock({ $0[type] }) { return kind }
        throw CocoaError.coreData(.persistentStoreInvalidType, "There are no stores of type \"\(type)\".")
    }
}
