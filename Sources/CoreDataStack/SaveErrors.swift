import CoreData
import Foundation
import Logging

/// Errors of saves that nobody waits for: told to everybody who listens, or else logged; what a flush ought to tell is kept for it.
final class SaveErrors: Sendable {
    private struct State {
        var listeners: [UUID: AsyncStream<any Error>.Continuation] = [:]
        /// The first error that nobody has heard of.
        var unheard: (any Error)?
    }
    private let state = Guarded(State())

    func stream() -> AsyncStream<any Error> {
        let (stream, continuation) = AsyncStream<any Error>.makeStream()
        let key = UUID()
        state.with { $0.listeners[key] = continuation }
        continuation.onTermination = { [weak self] _ in _ = self?.state.with { $0.listeners.removeValue(forKey: key) } }
        return stream
    }

    /// - Parameters:
    ///   - isFinal: whether no later save will write what this one could not: somebody has to be told, at the latest by a flush.
    ///   - layer: the context that has these changes itself, where nobody has saved them yet.
    ///   - what: what the log says of an error that is of something else than a save.
    func report(_ error: any Error, isFinal: Bool = false, ofUnsaved layer: String? = nil, about what: String? = nil) {
        let listeners = state.with { state in
            if isFinal, state.listeners.isEmpty, state.unheard == nil { state.unheard = ErrorObjects.removed(from: error) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(error) }
        if listeners.isEmpty { log(error, what ?? layer.map(Self.unsaved) ?? "What was saved is not in the store:") }
    }

    private static func unsaved(_ layer: String) -> String {
        "Unsaved changes of \(layer) could not be saved along with others', which are in the store:"
    }

    private func log(_ error: any Error, _ what: String) {
        let plain = error as NSError
        let objects = (plain.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] ?? []).map { "\($0.objectID)" }
        let cause = plain.domain == NSCocoaErrorDomain ? "\(plain.code), \(plain.localizedDescription)" : "\(error)"
        Logger(label: "CoreDataStack").error("\(what) \(cause) \(objects.joined(separator: ", "))")
    }

    /// The first error since this was last called that nobody has listened to.
    func takeUnheard() -> (any Error)? {
        state.with { state in
            defer { state.unheard = nil }
            return state.unheard
        }
    }

    deinit { for listener in state.with({ Array($0.listeners.values) }) { listener.finish() } }
}

/// A value that one thread at a time may touch.
// The lock orders every access to the value.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
