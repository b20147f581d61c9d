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
    /// The rows of a fetch for dictionaries. Unsaved changes do not count.
    func dictionaries(_ query: DictionaryQuery) throws -> [NSDictionary]
    /// The newest row of one object, from the row cache where it is there; nil where the store has none.
    func row(for reference: RowReference) throws -> Row?
    /// The newest row of one object that is at hand without reading anything.
    func cachedRow(for reference: RowReference) -> Row?
    /// The newest rows of many objects of one entity tree, with one statement for those that are not at hand; nil where there is none.
    func rows(for references: [RowReference]) throws -> [Row?]
    /// Drops what is cached of rows that were changed behind the coordinator's back.
    func forgetRows(_ references: [RowReference])
    /// The rows of a to-many relationship, for many owners at once, ordered by owner and place.
    func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow]
    /// Reserves permanent keys for objects of one entity with these values, in the store of that number or the one that a save would choose.
    func permanentKeys(for entity: NSEntityDescription, rows: [Row], store: Int32) throws -> (store: Int32, keys: [Int64])
    /// Permanent keys that are at hand without touching a file, for objects of one entity; nil where there are not as many.
    func pooledKeys(for entity: NSEntityDescription, count: Int, store: Int32) -> (store: Int32, first: Int64)?
    /// Whether objects with changes that are about to be saved, and that were never in a file as far as is known, are still there to be
    /// changed.
    ///
    /// - Throws: `SaveConflicts` for those that a context dropped, as `save` does.
    func requireUnsaved(_ updates: [UnsavedUpdate]) throws
    /// Takes all changes or none. `willCommit` is called right before the first commit, if it comes to that.
    ///
    /// - Throws: `SaveConflicts`, or a `CocoaError`; nothing has been written then.
    func save(_ changes: ChangeSet, willCommit: () -> Void) throws -> SaveReceipt
    /// Tells who observes what the latest save has changed here. Called when the saving context counts it as saved: whoever is told may use that
    /// context.
    func announceSave()

    /// Whether what is saved here goes to stores: rows get versions and places, and belong to the row cache afterwards.
    var isStoreSide: Bool { get }
    /// Whether a save says in which order the members of ordered relationships are: contexts want that, and stores without positions.
    var takesOrders: Bool { get }
    /// The unsaved changes of all contexts from here upwards to objects of some entities, by index; each object once.
    ///
    /// The other members answer for the stores alone where they take a query, and with unsaved changes where they take references.
    func unsavedRows(of entities: Set<Int>) -> [UnsavedRow]

    func persistentStore(numbered number: Int32) -> NSPersistentStore?
}

extension GraphParent {
    var takesOrders: Bool { !isStoreSide }
    func announceSave() {}
}
