import Foundation

@available(*, unavailable, message: "There are no asynchronous fetches yet: fetch inside await context.perform { … }.")
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    open var fetchRequest: NSFetchRequest<ResultType> { absent() }
    open var completionBlock: NSPersistentStoreAsynchronousFetchResultCompletionBlock? { absent() }
    open var estimatedResultCount: Int {
        get { absent() }
        set { absent() }
    }
    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) { absent() }
}

@available(*, unavailable, message: "There are no asynchronous fetches yet: fetch inside await context.perform { … }.")
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    open var managedObjectContext: NSManagedObjectContext { absent() }
    open var operationError: (any Error)? { absent() }
    open var progress: Progress? { absent() }
    open func cancel() { absent() }
}

@available(*, unavailable, message: "There are no asynchronous fetches yet: fetch inside await context.perform { … }.")
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult {
    open var fetchRequest: NSAsynchronousFetchRequest<ResultType> { absent() }
    open var finalResult: [ResultType]? { absent() }
}

@available(*, unavailable, message: "There are no asynchronous fetches yet: fetch inside await context.perform { … }.")
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void
