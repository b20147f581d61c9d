import Foundation

/// What a history request gives.
public enum NSPersistentHistoryResultType: Int, Sendable {
    case statusOnly = 0
    /// The IDs of the changed objects, each once.
    case objectIDs = 1
    /// The number of transactions.
    case count = 2
    /// Transactions, whose `changes` are nil.
    case transactionsOnly = 3
    /// Changes, one transaction's after the other's.
    case changesOnly = 4
    case transactionsAndChanges = 5
}

/// The answer to a history request.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// As `resultType` says: an array, a number, or true.
    public let result: Any?
    public let resultType: NSPersistentHistoryResultType

    init(_ result: Any?, _ type: NSPersistentHistoryResultType) { (self.result, resultType) = (result, type) }
}

/// Reads the history of stores, or deletes its beginning. Carried out by `execute(_:)` of any context.
///
/// Stores are those of `affectedStores`, else all with a history. What is read comes by ascending number, that of several stores by time.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    enum Place {
        case token(NSPersistentHistoryToken?)
        case date(Date)
    }
    enum Operation { case fetch, delete }

    private(set) var operation = Operation.fetch
    private(set) var place = Place.token(nil)

    /// A request for the whole history, which the class methods make something else of.
    // NB: required, so that these can make subclasses.
    public required override init() { super.init() }

    private static func request(_ operation: Operation, _ place: Place) -> Self {
        let request = self.init()
        (request.operation, request.place) = (operation, place)
        if operation == .delete { request.resultType = .statusOnly }
        return request
    }

    /// What was committed later, by the clocks of those who did.
    open class func fetchHistory(after date: Date) -> Self { request(.fetch, .date(date)) }
    /// What a token has not seen; everything for nil, and of a store of which it says nothing.
    ///
    /// Executing it throws `CocoaError` 134301 where a part of that was deleted: the token has expired.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { request(.fetch, .token(token)) }
    /// What came after a transaction; as with its token.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        request(.fetch, .token(transaction?.token))
    }
    /// What a fetch of `NSPersistentHistoryTransaction.entityDescription(with:)` or `NSPersistentHistoryChange.entityDescription(with:)` finds: its
    /// predicate, order, limit and stores. A fetch of changes gives their transactions with just these changes.
    open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let made = request(.fetch, .token(nil))
        made.fetchRequest = fetchRequest
        return made
    }
    /// Deletes what was committed before; where clocks disagree, less.
    open class func deleteHistory(before date: Date) -> Self { request(.delete, .date(date)) }
    /// Deletes what a token has seen but its last transaction, so that it stays good; everything for nil, nothing of a store of which it says nothing.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self { request(.delete, .token(token)) }
    /// Deletes what came before a transaction; everything for nil.
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        request(.delete, .token(transaction?.token))
    }

    /// `transactionsAndChanges` unless set. Of a request that deletes, `count` gives the number of transactions that went, all others true.
    open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
    /// The token that was given.
    open var token: NSPersistentHistoryToken? { if case .token(let token) = place { token } else { nil } }
    /// What further says what is read: see `fetchHistory(withFetch:)`. A request that deletes takes none, and throws 134060.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self.request(operation, place)
        (copy.resultType, copy.fetchRequest, copy.affectedStores) = (resultType, fetchRequest, affectedStores)
        return copy
    }
}
