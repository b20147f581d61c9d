import Foundation

/// Whether debug builds check that contexts and objects are used on their queues. The argument `-com.apple.CoreData.ConcurrencyDebug 0`
/// switches it off.
private let checksConfinement: Bool = {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug") else { return true }
    return arguments.dropFirst(index + 1).first != "0"
}()

// Without DEBUG there is nothing of this.
extension NSManagedObjectContext {
    /// Stops a debug build where the caller is not on the context's queue.
    @inline(__always) func checkQueue(_ member: StaticString = #function) {
        #if DEBUG
            if !isUsableHere, checksConfinement { reportUseOffQueue(member) }
        #endif
    }

    /// The same for what may be set from anywhere before the context has had an object.
    @inline(__always) func checkSetUp(_ member: StaticString = #function) {
        #if DEBUG
            if !identityMap.isUnused, !isUsableHere, checksConfinement { reportUseOffQueue(member) }
        #endif
    }

    /// Whether the caller is on the context's queue; everybody is where the context has none.
    var isUsableHere: Bool { queue.isCurrent || concurrencyType == .confinementConcurrencyType }

    #if DEBUG
        private func reportUseOffQueue(_ member: StaticString) -> Never {
            misuse(
                """
                \(member) of \(name ?? "a context") was used off the context's queue. Wrap it in context.performAndWait { … } or \
                await context.perform { … }\(queue.isMain ? ", or use it on the main actor" : "").
                """
            )
        }
    #endif
}

extension NSManagedObject {
    /// Stops a debug build where the caller is not on the queue of the object's context.
    @inlinable @inline(__always) final func checkQueue() {
        #if DEBUG
            verifyQueue()
        #endif
    }

    #if DEBUG
        @usableFromInline final func verifyQueue() {
            if let context = registeredContext, !context.isUsableHere, checksConfinement { reportUseOffQueue(context) }
        }

        private func reportUseOffQueue(_ context: NSManagedObjectContext) -> Never {
            misuse(
                """
                A \(entity.name ?? "managed object") of \(context.name ?? "a context") was used off the context's queue. Use it inside \
                context.performAndWait { … } or await context.perform { … }; hand its objectID to other queues, not the object.
                """
            )
        }
    #endif
}
