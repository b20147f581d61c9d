import CoreData
import CoreDataStack
import Foundation
import Testing

/// The ways to save that end in the store, or say why not.
enum SaveForm: CaseIterable, Sendable {
    case contextCallback, contextAsync, storeCallback, storeAsync, storeAndWait

    /// Saves, and waits for the answer.
    func save(_ context: NSManagedObjectContext) async throws {
        switch self {
        case .contextCallback: try await answer { context.saveContext($0) }
        case .contextAsync: try await context.saveContext()
        case .storeCallback: try await answer { context.saveContextToStore($0) }
        case .storeAsync: try await context.saveToStore()
        case .storeAndWait: try await onNewThread { try context.saveContextToStoreAndWait() }
        }
    }

    private func answer(_ start: (@escaping CoreDataStack.SaveCompletion) -> Void) async throws {
        let result = await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
        if case .failure(let error) = result { throw error }
    }
}

/// Runs what may wait for the main queue on a thread that nobody else needs.
func onNewThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
}

/// Runs `body`, which must throw a `CocoaError` of that code.
@discardableResult
func cocoaError(
    _ code: Int,
    _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> CocoaError? {
    do {
        try await body()
        Issue.record("Nothing was thrown, instead of error \(code). \(comment()?.rawValue ?? "")", sourceLocation: sourceLocation)
    } catch let error as CocoaError {
        #expect(error.errorCode == code, comment() ?? "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("\(error) was thrown, instead of CocoaError \(code).", sourceLocation: sourceLocation)
    }
    return nil
}
