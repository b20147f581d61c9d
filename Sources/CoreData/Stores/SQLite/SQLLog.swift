import Foundation
import Logging
import SQLiteDriver

/// The log of SQL statements: off, or as much as the environment variable `COREDATA_SQLDEBUG` says.
///
/// 1: statements. 2: statements and row counts of saves. 3: also the parameters of fetches.
enum SQLLog {
    static let level = ProcessInfo.processInfo.environment["COREDATA_SQLDEBUG"].flatMap { Int($0) } ?? 0
    private static let logger: Logger = {
        var logger = Logger(label: "CoreData.sql")
        logger.logLevel = .debug
        return logger
    }()

    static func observe(_ connection: Connection, counter: StatementCounter) {
        connection.onStatement = { sql in
            counter.note(sql)
            if level > 0 { logger.debug("sql: \(sql)") }
        }
    }

    static func note(_ text: @autoclosure () -> String, level needed: Int) {
        if level >= needed { logger.debug("\(text())") }
    }
}

/// How many statements a store has run, for tests and for whoever tunes a program.
final class StatementCounter: @unchecked Sendable {
    // The lock guards both.
    private let state = Lock((count: 0, recorded: nil as [String]?))

    func note(_ sql: String) {
        state.withLock {
            $0.count += 1
            $0.recorded?.append(sql)
        }
    }

    var count: Int { state.withLock { $0.count } }

    /// The statements that run while `body` does.
    func recording(_ body: () throws -> Void) rethrows -> [String] {
        state.withLock { $0.recorded = [] }
        defer { state.withLock { $0.recorded = nil } }
        try body()
        return state.withLock { $0.recorded ?? [] }
    }
}
