/// What brings objects into Spotlight, on a Mac.
@available(*, unavailable, message: "There is no Spotlight on Linux: put what needs it between #if canImport(CoreSpotlight) and #endif.")
open class NSCoreDataCoreSpotlightDelegate: NSObject {
    public init(forStoreWith description: NSPersistentStoreDescription, coordinator psc: NSPersistentStoreCoordinator) { absent() }
    open func domainIdentifier() -> String { absent() }
    open func indexName() -> String? { absent() }
    open func startSpotlightIndexing() { absent() }
    open func stopSpotlightIndexing() { absent() }
}
