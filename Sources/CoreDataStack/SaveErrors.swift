import Foundation

/// Errors that are told to everybody who listens.
final class SaveErrors: Sendable {
    private let listeners = Guarded<[UUID: AsyncStream<any Error>.Continuation]>([:])

    func stream() -> AsyncStream<any Error> {
        let (stream, continuation) = AsyncStream<any Error>.makeStream()
        let key = UUID()
        listeners.with { $0[key] = continuation }
        continuation.onTermination = { [weak self] _ in self?.listeners.with { $0[key] = nil } }
        return stream
    }

    func report(_ error: any Error) {
        for listener in listeners.with({ Array($0.values) }) { listener.yield(error) }
    }

    deinit { for listener in listeners.with({ Array($0.values) }) { listener.finish() } }
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
