import Foundation

/// Told of an asynchronous fetch's result.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// A fetch whose rows are read while the context goes on.
///
/// It is carried out with `context.execute(_:)`, which returns at once. Unsaved changes do not count.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    public let fetchRequest: NSFetchRequest<ResultType>
    /// How many results are expected, for the progress.
    open var estimatedResultCount = 0
    let completion: ((NSAsynchronousFetchResult<ResultType>) -> Void)?

    /// - Parameters:
    ///   - request: what to fetch.
    ///   - blk: called on the context's queue when the fetch has ended, in whichever way.
    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        (fetchRequest, completion) = (request, blk)
    }

    /// What is called when the fetch has ended.
    open var completionBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock? {
        completion.map { completion in
            { result in
                guard let result = (result as AnyObject) as? NSAsynchronousFetchResult<ResultType> else {
                    misuse("The completion of a fetch takes the result of that fetch.")
                }
                completion(result)
            }
        }
    }
}

/// The answer to a request that is still being carried out.
///
/// > Concurrency: used on the queue of its context, but for `progress` and `cancel()`.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    public let managedObjectContext: NSManagedObjectContext
    /// How far the request is: of the estimated results, or of 1 where there is no estimate. Cancelling it cancels the request.
    public let progress: Progress?
    /// Why the request failed; `CocoaError.userCancelled` where it was cancelled.
    open internal(set) var operationError: (any Error)?

    init(_ context: NSManagedObjectContext, _ progress: Progress) { (managedObjectContext, self.progress) = (context, progress) }

    /// Ends the request: no further row is read, and SQLite stops what it is computing. Its completion is called nevertheless.
    open func cancel() { progress?.cancel() }
}

/// The answer to an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult {
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    var found: [any NSFetchRequestResult]?

    init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, _ progress: Progress) {
        fetchRequest = request
        super.init(context, progress)
    }

    /// The results; nil before the completion is called, and after a failure.
    open var finalResult: [ResultType]? { found?.compactMap { $0 as? ResultType } }
}

/// For a result whose type is not known: the one that is there is of another type.
extension NSAsynchronousFetchResult where ResultType == any NSFetchRequestResult {
    public var finalResult: [any NSFetchRequestResult]? { found }
}
