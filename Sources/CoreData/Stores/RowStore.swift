import Foundation

/// A store as a coordinator sees it: queries and changes go in as values, rows and a receipt come out.
///
/// The coordinator knows no class of stores. Another module of this package brings a kind of its own by conforming a subclass of
/// `NSPersistentStore` to this, and a `StoreKind` that opens it. Nothing here is called for each row or value.
///
/// > Concurrency: any thread, several at a time.
package protocol RowStore: NSPersistentStore {
    /// Does not change while the store is open.
    var capabilities: StoreCapabilities { get }
    var location: StoreLocation { get }
    /// Whether the store keeps objects of an entity.
    func holds(_ entity: NSEntityDescription) -> Bool
    /// Sees whether another coordinator that opens what is at the store's place has the same store.
    ///
    /// - Throws: a `CocoaError` where the file was removed, or there is another in its place.
    func requireInPlace() throws
    /// Lets go of files and connections, after a save that is on its way. Reading and saving fail from now on.
    func close()

    /// Gives the rows of a query, in order; what is left to be done in memory, if anything.
    func fetch(_ query: FetchQuery, _ body: (RowRun) throws -> Void) throws -> FetchResidue?
    /// The identities of a query's rows, in order; nil where part of the query can only be answered with objects.
    func references(_ query: FetchQuery) throws -> [RowReference]?
    /// The number of a query's rows; nil as for `references`.
    func count(_ query: FetchQuery) throws -> Int?
    /// The values of a query's columns, row by row: nil for what is nil, an ID for a to-one relationship.
    func values(_ query: DictionaryQuery) throws -> [[Any?]]
    /// How the store would answer a query.
    func explain(_ query: ExplainedQuery) throws -> FetchExplanation
    /// The newest row that is at hand without reading anything.
    func cachedRow(root: Int, key: Int64) -> Row?
    /// The newest row; nil where the store has none.
    func row(for reference: RowReference) throws -> Row?
    /// The newest rows below one root entity, by key; those that there are.
    func rows(for references: [RowReference], root: NSEntityDescription) throws -> [Int64: Row]
    /// The rows of a to-many relationship for many owners, by owner and place.
    func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow]
    /// What is at hand of a row is to be read again.
    func forgetRow(root: Int, key: Int64)
    /// The store as it is at the moment, to be read only, whatever is written afterwards; it knows rows of its own. Nil where the store cannot do
    /// that. It ends when nobody has it any more, or when this one is closed.
    func snapshot() throws -> (any RowStore)?

    /// The key that the last part of an ID's URI stands for, as it is there, escapes included; nil for a text that no ID of the store has.
    func key(named text: String, of entity: NSEntityDescription) -> Int64?
    /// The first of so many consecutive keys that are at hand for new objects; nil where there are not as many.
    func pooledKeys(_ count: Int, for entity: NSEntityDescription) -> Int64?
    /// Permanent keys for new objects, which have these values so far.
    func reserveKeys(for rows: [Row], of entity: NSEntityDescription) throws -> [Int64]

    /// Whether metadata were set that a save has to write, though it may have nothing else for the store.
    var hasUnwrittenMetadata: Bool { get }
    /// Waits until nobody else saves here; nil where a save waits for that itself. Of several stores in the order of their locations, and before
    /// anything else is held.
    ///
    /// - Throws: `CocoaError` 134090 to a hook that saves here while somebody else does, who may be waiting for that hook.
    func turnToSave() throws -> SaveTurn?
    /// Takes all changes or none. `next` runs when everything is written that can be taken back: where it throws, nothing is written here either.
    ///
    /// - Throws: `SaveConflicts`, or a `CocoaError`; the store is as it was then.
    func save(_ changes: StoreChanges, _ next: () throws -> Void) throws -> StoreReceipt

    /// Changes rows without objects: all or none. `next` as for a save.
    ///
    /// - Throws: a `CocoaError`; the store is as it was then. One without the capability says so, with code 134091.
    func execute(_ request: BatchRequest, _ next: () throws -> Void) throws -> BatchReceipt

    /// Carries out a request as the program has made it, for a context, which is of a layer above.
    ///
    /// - Throws: what the store's class throws. One without the capability says so, with code 134091.
    func execute(_ request: NSPersistentStoreRequest, for context: AnyObject) throws -> Any

    /// Whether the store wants to know which of its objects contexts have.
    var followsUse: Bool { get }
    /// A context has these objects from now on. Called on the context's queue.
    func contextDidBegin(using ids: [NSManagedObjectID])
    /// A context no longer has these objects. Called on whichever thread has let go of them.
    func contextDidEnd(using ids: [NSManagedObjectID])

    /// The same store without objects and under another identifier, opened once more; this instance is to be closed then.
    ///
    /// - Throws: where that cannot be: everything is as it was then.
    func emptied(options: [AnyHashable: Any]?) throws -> any RowStore
    /// The same store as its database is now, whoever has made another of it; this instance is to be closed then.
    ///
    /// - Throws: why it cannot be opened.
    func reopened() throws -> any RowStore
    /// Gives back the space of what was removed.
    func discardRemains()
    /// Does one part of what a migration has left to be done; says whether there was one.
    func finishDeferredTask() throws -> Bool
    /// Goes on with what it has under another URL.
    ///
    /// - Throws: where that is something else: everything is as it was then.
    func relocate(to place: URL) throws

    /// A part of the store's history.
    ///
    /// - Throws: `CocoaError` 134301 where what is to come behind a transaction has been deleted in part, 134091 for a store without history.
    func history(_ query: HistoryQuery) throws -> HistoryRecords
    /// Deletes the beginning of the history; the number of transactions that went.
    func deleteHistory(before bound: HistoryBound) throws -> Int
    /// The number of the latest transaction, deleted or not; 0 before the first.
    func latestTransaction() throws -> Int64
    /// How far a follower has come who was noted; nil for one who was not.
    func position(ofFollower name: String) throws -> Int64?
    /// Keeps how far a follower has come; where he must not go back, that which is further.
    func noteFollower(_ name: String, at number: Int64, mayGoBack: Bool) throws
    /// Deletes what all followers have seen who were noted since a date; the number of transactions that went. Nothing goes where there are none.
    func deleteHistory(seenByFollowersSince date: Date) throws -> Int
    /// Tells of commits into the store, whoever makes them, until it is closed: on a queue of its own, with the number of the latest transaction; with
    /// nil without history, and where the history that was told of is there no more.
    func watchCommits(_ tell: @escaping @Sendable (Int64?) -> Void) throws
}

extension NSEntityDescription {
    /// Where the entity's properties are in a row. In a model that a coordinator has.
    package var rowLayout: EntityLayout { shape.layout }
    /// The entity's index in its model, as in references.
    package var rowIndex: Int32 { Int32(index) }
}

extension RowStore {
    /// What no other coordinator opens is where it is.
    package func requireInPlace() throws {}

    package func emptied(options: [AnyHashable: Any]?) throws -> any RowStore { throw withoutEmptying }

    var withoutEmptying: CocoaError {
        .coreData(.persistentStoreOperation, "A store of type \(type) cannot be emptied in place: delete its objects.")
    }

    package func reopened() throws -> any RowStore {
        throw CocoaError.coreData(
            .persistentStoreOperation,
            "A store of type \(type) cannot be opened once more: remove it, and add it anew."
        )
    }

    package func execute(_ request: NSPersistentStoreRequest, for context: AnyObject) throws -> Any {
        throw CocoaError.coreData(
            .persistentStoreUnsupportedRequestType,
            "The store at \(url?.path ?? "?"), of type \(type), does not know requests of class \(Swift.type(of: request)).",
            userInfo: [NSAffectedStoresErrorKey: [self]]
        )
    }

    package func turnToSave() throws -> SaveTurn? { nil }

    package var followsUse: Bool { false }
    package func contextDidBegin(using ids: [NSManagedObjectID]) {}
    package func contextDidEnd(using ids: [NSManagedObjectID]) {}

    package func discardRemains() {}

    package func finishDeferredTask() throws -> Bool { false }

    package func relocate(to place: URL) throws {
        throw CocoaError.coreData(.coreData, "A store of type \(type) stays where it is.")
    }

    package func history(_ query: HistoryQuery) throws -> HistoryRecords { throw withoutHistory }
    package func deleteHistory(before bound: HistoryBound) throws -> Int { throw withoutHistory }
    package func latestTransaction() throws -> Int64 { throw withoutHistory }
    package func position(ofFollower name: String) throws -> Int64? { throw withoutHistory }
    package func noteFollower(_ name: String, at number: Int64, mayGoBack: Bool) throws { throw withoutHistory }
    package func deleteHistory(seenByFollowersSince date: Date) throws -> Int { throw withoutHistory }
    package func watchCommits(_ tell: @escaping @Sendable (Int64?) -> Void) throws {
        throw CocoaError.coreData(.persistentStoreUnsupportedRequestType, "A store of type \(type) does not tell of commits by others.")
    }

    var withoutHistory: CocoaError {
        let why =
            capabilities.contains(.sql)
            ? "has no history: open it with \(NSPersistentHistoryTrackingKey)"
            : "has no history, whatever it is opened with: stores of type \(type) keep none"
        return .coreData(
            .persistentStoreUnsupportedRequestType,
            "The store at \(url?.path ?? "?") \(why).",
            userInfo: [NSAffectedStoresErrorKey: [self]]
        )
    }

    package func values(_ query: DictionaryQuery) throws -> [[Any?]] {
        throw DictionaryQuery.refusal(query.rows.entity, "a store of type \(type) does not answer with dictionaries")
    }

    package func explain(_ query: ExplainedQuery) throws -> FetchExplanation {
        var explanation = FetchExplanation(statements: [])
        explanation.inMemory = ["all: a store of type \(type) has no SQL"]
        return explanation
    }

    package func snapshot() throws -> (any RowStore)? { nil }

    package func pooledKeys(_ count: Int, for entity: NSEntityDescription) -> Int64? { nil }
}

/// What became of the changes that a store took.
package struct StoreReceipt {
    /// For each group of the changes, in order: the permanent keys of its inserts.
    package let insertedKeys: [ContiguousArray<Int64>]
    /// Completes the rows with what the store gave them, and makes them what it knows. Called once, on the saving context's queue.
    package let publish: () -> Void

    package init(insertedKeys: [ContiguousArray<Int64>], publish: @escaping () -> Void) {
        (self.insertedKeys, self.publish) = (insertedKeys, publish)
    }
}
