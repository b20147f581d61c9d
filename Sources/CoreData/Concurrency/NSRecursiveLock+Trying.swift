import Foundation

extension NSRecursiveLock {
    /// Calls `body` with the lock, unless another thread has it: nobody waits.
    func unlessHeldElsewhere<Result>(_ body: () -> Result) -> Result? {
        guard `try`() else { return nil }
        defer { unlock() }
        return body()
    }
}
