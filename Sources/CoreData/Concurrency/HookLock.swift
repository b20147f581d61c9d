import Foundation

/// Whose turn it is to ask the classes of a coordinator's own stores: one thread's, which may take it again while it has it.
// Sendable: the depth is of whoever has the lock.
final class HookLock: @unchecked Sendable {
    private let lock = NSRecursiveLock()
    private var depth = 0

    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        depth += 1
        defer {
            depth -= 1
            lock.unlock()
        }
        return try body()
    }

    /// Whether this thread has it. Nobody waits.
    var isMine: Bool {
        guard lock.try() else { return false }
        defer { lock.unlock() }
        return depth > 0
    }
}
