import Foundation

/// What a context stands on: it answers fetches, fills faults, and takes the changes of a save.
///
/// Values go down, results come back. A coordinator is one, and so is a context for its children.
protocol GraphParent: AnyObject {
    var managedObjectModel: NSManagedObjectModel { get }

    /// Gives the rows of a query, in order; then what is left to be done in memory, if anything.
    func fetch(_ query: FetchQuery, _ body: (RowRun) throws -> Void) throws -> FetchResidue?
    /// The identities of a query's rows, in order, without reading their values; nil where that takes objects.
    func references(_ query: FetchQuery) throws -> [RowReference]?
    /// The number of a query's rows; nil where that takes objects.
    func count(_ query: FetchQuery) throws -> Int?
    /// The newest row of one object, from the row cache where it is there; nil where the store has none.
    func row(for reference: RowReference) throws -> Row?
    /// The newest row of one object that is at hand without reading anything.
    func cachedRow(for reference: RowReference) -> Row?
    /// The rows of a to-many relationship, for many owners at once, ordered by owner and place.
    func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow]
    /// Reserves permanent keys for objects of one entity, in the store of that number or the one that a save would choose.
    func permanentKeys(for entity: NSEntityDescription, count: Int, store: Int32) throws -> (store: Int32, first: Int64)
    /// Takes all changes or none.
    ///
    /// - Throws: `SaveConflicts`, or a `CocoaError`; nothing has been written then.
    func save(_ changes: ChangeSet) throws -> SaveReceipt

    func persistentStore(numbered number: Int32) -> NSPersistentStore?
}
