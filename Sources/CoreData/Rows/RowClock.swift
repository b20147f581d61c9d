import Foundation
import Synchronization

/// When rows were read, in hundredths of a second. Nobody looks at a clock before a context of the process cares how old rows are.
enum RowClock {
    private static let runs = Atomic(false)
    private static let ahead = Atomic<UInt32>(0)

    @inline(__always) static var isRunning: Bool { runs.load(ordering: .relaxed) }

    static func start() { runs.store(true, ordering: .relaxed) }

    /// Never 0, which stands for a time before the clock was started.
    static var now: UInt32 {
        guard isRunning else { return 0 }
        let hundredths = UInt64(ProcessInfo.processInfo.systemUptime * 100)
        return max(UInt32(truncatingIfNeeded: hundredths) &+ ahead.load(ordering: .relaxed), 1)
    }

    /// Seconds between a time and now; without end for a time before the clock was started.
    static func age(of time: UInt32) -> TimeInterval { time == 0 ? .infinity : TimeInterval(now &- time) / 100 }

    /// For tests, which do not wait.
    static func advance(by seconds: UInt32) { ahead.wrappingAdd(seconds * 100, ordering: .relaxed) }
}
