import Foundation

/// Rows of a name and a number, in sections, with the numbers aligned.
struct Table: CustomStringConvertible {
    private var rows: [(name: String, count: Int?)] = []

    mutating func beginSection(_ title: String) {
        rows += [("", nil), (title, nil)]
    }

    mutating func add(_ name: String, _ count: Int) {
        rows.append((name, count))
    }

    var description: String {
        rows.map { row in
            guard let count = row.count else { return row.name }
            return "  " + row.name.padding(toLength: 22, withPad: " ", startingAt: 0) + padded(count.grouped, 9)
        }
        .joined(separator: "\n")
    }
}

/// `text` with spaces before it, to `width` characters.
func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

func printError(_ text: String, terminator: String = "\n") {
    // Where nobody reads it the work goes on.
    try? FileHandle.standardError.write(contentsOf: Data((text + terminator).utf8))
}

/// The most memory that this process has had resident, in bytes.
func peakMemory() -> Int {
    var usage = rusage()
    getrusage(.init(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss * 1024
}

extension Int {
    /// With a comma between groups of three digits, whatever the locale.
    var grouped: String {
        self < 1000 ? String(self) : (self / 1000).grouped + "," + String(self % 1000 + 1000).dropFirst()
    }
}

extension Duration {
    var inSeconds: String { String(format: "%.1f s", self / .seconds(1)) }
    var inMilliseconds: String { String(format: "%.1f ms", self / .milliseconds(1)) }

    /// How many of `count` come to a second.
    func rate(of count: Int) -> Int { Int(Double(count) / max(self / .seconds(1), 0.001)) }
}
