import CoreData
import Foundation

/// An incremental store that takes nothing.
final class UnwritableStore: NSIncrementalStore {
    static let storeType = "Unwritable"
    override var type: String { Self.storeType }
    struct Refusal: Error {}

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if request is NSSaveChangesRequest { throw Refusal() }
        return [Any]()
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }
}
