import Foundation
import Synchronization

/// Shows on standard error how far an import is: a bar on a terminal, otherwise a line for each tenth.
final class ProgressBar: Sendable {
    private let total: Int
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let start = ContinuousClock.now
    private let rows = Mutex(0)

    init(total: Int) {
        self.total = total
    }

    @Sendable func advance(by count: Int) {
        rows.withLock { done in
            let tenths = done * 10 / total
            done += count
            if isTerminal {
                printError("\r\(bar(done)) \(status(done))\u{1B}[K", terminator: done == total ? "\n" : "")
            } else if done * 10 / total > tenths {
                printError(status(done))
            }
        }
    }

    var elapsed: Duration { start.duration(to: .now) }

    private func bar(_ done: Int) -> String {
        let filled = done * 30 / total
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled) + "]"
    }

    private func status(_ done: Int) -> String {
        let elapsed = elapsed
        let left = elapsed / done * (total - done)
        return "\(padded("\(done * 100 / total)", 3)) %  \(padded(done.grouped, 9)) rows  "
            + "\(padded(elapsed.rate(of: done).grouped, 9)) rows/s  \(padded(left.inSeconds, 7)) left"
    }
}
