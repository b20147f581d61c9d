import Foundation
import SQLiteDriver

/// How far those have come who follow the history, in a table of this package's own, which goes where the store goes.
extension SQLiteStore {
    private static let table = "CD_FOLLOWER"

    private static func isThere(_ connection: Connection) throws -> Bool {
        try !connection.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table)]).isEmpty
    }

    func position(ofFollower name: String) throws -> Int64? {
        _ = try requiredHistory()
        return try reporting("read the history") {
            try reading { connection in
                guard try Self.isThere(connection) else { return nil }
                let rows = try connection.rows("SELECT TRANSACTIONID FROM \(Self.table) WHERE NAME = ?", [.text(name)])
                guard case .integer(let number)? = rows.first?.first else { return nil }
                return number
            }
        }
    }

    func noteFollower(_ name: String, at number: Int64, mayGoBack: Bool) throws {
        try changingHistory("note a follower of the history") { connection in
            if try !Self.isThere(connection) {
                try connection.execute("CREATE TABLE \(Self.table) (NAME TEXT PRIMARY KEY, TRANSACTIONID INTEGER, SEEN FLOAT)")
            }
            let known = "SELECT TRANSACTIONID FROM \(Self.table) WHERE NAME = ?1"
            let place = mayGoBack ? "?2" : "max(?2, ifnull((\(known)), 0))"
            try connection.run(
                "INSERT OR REPLACE INTO \(Self.table)(NAME, TRANSACTIONID, SEEN) VALUES(?1, \(place), ?3)",
                [.text(name), .integer(number), .real(Date().timeIntervalSinceReferenceDate)]
            )
        }
    }

    /// NB: the place of one who does not count stays: what was deleted behind it, he is to hear of when he comes back.
    func deleteHistory(seenByFollowersSince date: Date) throws -> Int {
        try changingHistory("delete a part of the history") { connection in
            guard try Self.isThere(connection) else { return 0 }
            let since = SQLiteValue.real(date.timeIntervalSinceReferenceDate)
            let rows = try connection.rows("SELECT min(TRANSACTIONID) FROM \(Self.table) WHERE SEEN >= ?", [since])
            guard case .integer(let seen)? = rows.first?.first else { return 0 }
            // The last that everybody has seen stays, so that their places are known.
            return try Self.deleteTransactions(before: seen, connection)
        }
    }
}
