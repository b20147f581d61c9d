import Foundation

@testable import CoreData

/// Ends the process with a picture of the queues where a test about deadlocks stands still, rather than hang.
enum Watchdog {
    /// Waits for a group without occupying a thread of the concurrent pool.
    static func wait(for group: DispatchGroup, seconds: Int = 600, _ picture: @escaping @Sendable () -> String) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                if group.wait(timeout: .now() + .seconds(seconds)) == .timedOut { fatalError("Standstill.\n\(picture())") }
                continuation.resume()
            }
        }
    }
}

/// A thread of its own for each call; the group is left when the body returns.
func onNewThread(_ group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread.detachNewThread {
        body()
        group.leave()
    }
}

/// The `perform` that waits for nothing; in an async function the other one is preferred.
func send(to context: NSManagedObjectContext, _ block: @escaping @Sendable () -> Void) { context.perform(block) }
