import Foundation
import Logging
import SQLiteDriver
import Synchronization

/// The log of SQL statements: off, or as much as the argument `-com.apple.CoreData.SQLDebug` or the environment variable `COREDATA_SQLDEBUG`
/// says.
///
/// 1: statements. 2: statements and row counts of saves. 3: also the parameters of fetches.
enum SQLLog {
    static let level = LaunchSetting.value("SQLDebug").flatMap { Int($0) } ?? 0
    private static let logger: Logger = {
        var logger = Logger(label: "CoreData.sql")
        logger.logLevel = .debug
        return logger
    }()

    /// - Parameter threshold: how many seconds make a statement slow; nil for never.
    static func observe(_ connection: Connection, counter: StatementCounter, slow threshold: TimeInterval?) {
        connection.onStatement = { sql in
            counter.note(sql)
            if level > 0 { logger.debug("sql: \(sql)") }
        }
        guard let threshold else { return }
        connection.onStatement(slowerThan: Int64(min(threshold, 1e9) * 1e9)) { sql, nanoseconds in
            logger.warning("slow statement: \(nanoseconds / 1_000_000) ms: \(sql)")
        }
    }

    static func note(_ text: @autoclosure () -> String, level needed: Int) {
        if level >= needed { logger.debug("\(text())") }
    }
}

/// How many statements a store has run, for tests and for whoever tunes a program.
final class StatementCounter: Sendable {
    private let statements = Atomic<Int>(0)
    private let isRecording = Atomic<Bool>(false)
    private let recorded = Lock<[String]>([])

    @inline(__always) func note(_ sql: String) {
        statements.wrappingAdd(1, ordering: .relaxed)
        if isRecording.load(ordering: .relaxed) { recorded.withLock { $0.append(sql) } }
    }

    var count: Int { statements.load(ordering: .relaxed) }

    /// The statements that run while `body` does, on whichever thread.
    func recording(_ body: () throws -> Void) rethrows -> [String] {
        recorded.withLock { $0 = [] }
        isRecording.store(true, ordering: .sequentiallyConsistent)
        defer { isRecording.store(false, ordering: .sequentiallyConsistent) }
        try body()
        return recorded.withLock { $0 }
    }
}
