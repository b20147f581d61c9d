import Dispatch
import Foundation

/// The queue of a context: its own, or the main dispatch queue.
///
/// The simplest correct form: a serial dispatch queue, entered re-entrantly by the thread that is on it.
final class ContextQueue: Sendable {
    private let queue: DispatchQueue
    private let key = DispatchSpecificKey<Void>()

    init(_ type: NSManagedObjectContextConcurrencyType) {
        queue = type == .mainQueueConcurrencyType ? .main : DispatchQueue(label: "NSManagedObjectContext")
        // NB: `Thread.isMainThread` is wrong on Linux once an async main has suspended: the main queue then moves to other threads.
        queue.setSpecific(key: key, value: ())
    }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }

    func async(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }

    func sync<Result>(_ block: () throws -> Result) rethrows -> Result {
        isCurrent ? try block() : try queue.sync(execute: block)
    }
}
