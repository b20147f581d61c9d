import Foundation
import SQLiteDriver

extension SQLiteStore {
    func requiredHistory() throws -> HistoryTables {
        guard let history else { throw withoutHistory }
        return history
    }

    func history(_ query: HistoryQuery) throws -> HistoryRecords {
        let tables = try requiredHistory()
        return try reporting("read the history") {
            try reading { connection in
                try connection.transaction(.deferred) {
                    if case .after(let number) = query.start { try requireWhole(after: number, connection) }
                    var reader = HistoryReader(self, connection, tables)
                    return try reader.read(query)
                }
            }
        }
    }

    func latestTransaction() throws -> Int64 {
        _ = try requiredHistory()
        return try reporting("read the history") { try reading { try HistoryCounter.transaction.last($0) } }
    }

    /// Sees whether everything is there that came behind a transaction.
    private func requireWhole(after number: Int64, _ connection: Connection) throws {
        let last = try HistoryCounter.transaction.last(connection)
        let isThere = try number > 0 && !connection.rows("SELECT 1 FROM ATRANSACTION WHERE Z_PK = ?", [.integer(number)]).isEmpty
        if isThere || number == last { return }
        let next = try connection.rows("SELECT min(Z_PK) FROM ATRANSACTION WHERE Z_PK > ?", [.integer(number)]).first?.first
        if number < last, next == .integer(number + 1) { return }
        throw CocoaError.coreData(
            CocoaError.Code(rawValue: NSPersistentHistoryTokenExpiredError),
            """
            What the history of \(url?.path ?? "the store") has after transaction \(number) is not whole any more: \
            \(number > last ? "it goes to \(last) only" : "its beginning was deleted"). Read the store anew, and go on from its current token.
            """,
            userInfo: [NSAffectedStoresErrorKey: [self]]
        )
    }

    func deleteHistory(before bound: HistoryBound) throws -> Int {
        try changingHistory("delete a part of the history") {
            try Self.deleteTransactions(before: try Self.first(from: bound, $0), $0)
        }
    }

    /// Runs `body` in a transaction.
    func changingHistory<Result>(_ doing: String, _ body: (Connection) throws -> Result) throws -> Result {
        _ = try requiredHistory()
        try requireWritable()
        return try reporting(doing) {
            try pool.write { connection in
                try connection.transaction(.immediate) {
                    try requireFile(of: connection)
                    try requireSameStore(connection)
                    return try body(connection)
                }
            }
        }
    }

    /// The first transaction that stays; nil for none. What is deleted is a beginning, whatever clocks have said: there are no gaps.
    private static func first(from bound: HistoryBound, _ connection: Connection) throws -> Int64? {
        switch bound {
        case .end: return nil
        case .number(let number): return number
        case .date(let date):
            let later = "SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?"
            let rows = try connection.rows(later, [.real(date.timeIntervalSinceReferenceDate)])
            if case .integer(let number)? = rows.first?.first { return number }
            return nil
        }
    }

    /// - Parameter first: the first that stays, any number at all, as a file or a token has it; nil for none.
    static func deleteTransactions(before first: Int64?, _ connection: Connection) throws -> Int {
        func condition(_ column: String) -> String { first == nil ? "" : " WHERE \(column) < ?" }
        let bound = first.map { [SQLiteValue.integer($0)] } ?? []
        try connection.run("DELETE FROM ACHANGE" + condition("ZTRANSACTIONID"), bound)
        try connection.run("DELETE FROM ATRANSACTION" + condition("Z_PK"), bound)
        let count = connection.changes
        let uses = ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"].map { "SELECT Z\($0)TS FROM ATRANSACTION WHERE Z\($0)TS NOT NULL" }
        if count > 0 { try connection.run("DELETE FROM ATRANSACTIONSTRING WHERE Z_PK NOT IN (\(uses.joined(separator: " UNION ")))") }
        return count
    }
}
