import Dispatch

/// The main dispatch queue, as a place that code can be on.
enum MainQueue {
    private static let key: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether the caller runs on the main queue.
    ///
    /// NB: `Thread.isMainThread` is wrong on Linux once an async main has suspended: the main queue then moves to other threads.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
