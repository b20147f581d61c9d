import CoreData
import Foundation

extension CoreDataStack {
    /// What only a stack can be at fault for. Everything else is a `CocoaError`.
    public enum Error: Swift.Error, Equatable {
        /// The coordinator has no store at that place.
        case storeNotFound(at: URL)
        /// The stack in memory, or of a store without a URL, has lost its store.
        case inMemoryStoreMissing
        /// The folder for the store cannot be made.
        case unableToCreateStore(at: URL)
        /// The context is from before `resetStore`, or a reset is under way: its changes belong to objects that are gone.
        case storeWasReset
        /// The stack was closed, or is being closed.
        case stackWasClosed
    }

    /// A coordinator, or why there is none.
    public enum CoordinatorResult: Sendable {
        case success(NSPersistentStoreCoordinator)
        case failure(any Swift.Error)
    }

    /// A context for batch operations, or why there is none.
    public enum BatchContextResult: Sendable {
        case success(NSManagedObjectContext)
        case failure(any Swift.Error)
    }

    /// A stack, or why there is none.
    public enum SetupResult: Sendable {
        case success(CoreDataStack)
        case failure(any Swift.Error)
    }

    /// Whether something was done, or why not.
    public enum SuccessResult: Sendable {
        case success
        case failure(any Swift.Error)

        init(_ result: Result<Void, any Swift.Error>) {
            switch result {
            case .success: self = .success
            case .failure(let error): self = .failure(error)
            }
        }
    }
    public typealias SaveResult = SuccessResult
    public typealias ResetResult = SuccessResult

    public typealias CoordinatorCallback = @Sendable (CoordinatorResult) -> Void
    public typealias BatchContextCallback = @Sendable (BatchContextResult) -> Void
    public typealias SetupCallback = @Sendable (SetupResult) -> Void
    public typealias StoreResetCallback = @Sendable (ResetResult) -> Void
    public typealias SaveCompletion = @Sendable (SaveResult) -> Void
}

extension CoreDataStack.Error: LocalizedError, _NSErrorBridging {
    public var errorDescription: String? {
        switch self {
        case .storeNotFound(let url): "The coordinator of the stack has no store at \(url.path)."
        case .inMemoryStoreMissing: "The stack has lost its store in memory."
        case .unableToCreateStore(let url): "The folder for a store at \(url.path) cannot be made."
        case .storeWasReset: "The store was reset after this context was made. Make a new one with newChildContext()."
        case .stackWasClosed: "The stack was closed. Make a new one on the same store."
        }
    }
}
