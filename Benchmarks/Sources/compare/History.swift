import CBaseline
import CoreData
import Foundation

/// What a history costs, and what it takes to read one.
extension Bench {
    /// As `insert`, into a store that keeps a history.
    func insertWithHistory(_ side: any Side) throws -> Double {
        try withEmptyStore(side) { url in
            let count = workload.songs.count
            let seconds = try withContext(url, Song.model(isIndexed: false), options: Self.tracked) { try insert(count, $0) }.0
            try verify(url, against: .inserted(count, workload), side)
            return seconds
        }
    }

    /// The same beside a C loop that writes the same changes, with one statement for those of a transaction.
    func historyInsert(_ side: any Side) throws -> Double {
        try side is RawSide ? insertWithHistoryInC(side) : insertWithHistory(side)
    }

    private func insertWithHistoryInC(_ side: any Side) throws -> Double {
        try withScratchDirectory { directory in
            let (url, count) = (directory.appendingPathComponent("songs.sqlite"), workload.songs.count)
            // Makes the tables.
            _ = try withContext(url, Song.model(isIndexed: false), options: Self.tracked) { _ in }
            let seconds = try withConnection(url) { connection in
                try cpuSeconds {
                    try SQLiteFailure.check(baseline_insert_with_history(connection, workload.rows.start, count, workload.chunk), "insert")
                }.seconds
            }
            try verify(url, against: .inserted(count, workload), side)
            try expect(askInC("SELECT Z_PK FROM ACHANGE", url).1.rows, Int64(count), side, "changes")
            return seconds
        }
    }

    /// All changes of 100,000 songs, and by whom.
    func historyFetch(_ side: any Side) throws -> Double {
        let count = workload.songs.count / 5
        return try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("songs.sqlite")
            _ = try withContext(url, Song.model(isIndexed: false), options: Self.tracked) { try insert(count, $0) }
            let (seconds, answer) =
                try side is RawSide
                ? askInC(Self.sql, url) : withContext(url, Song.model(isIndexed: false), options: Self.tracked, changes)
            return try checked(seconds, answer, side, "history") { try askInC(Self.sql, url).1 }
        }
    }

    private static let tracked = [NSPersistentHistoryTrackingKey: true]
    private static let sql = """
        SELECT t.Z_PK, c.Z_PK, c.ZCHANGETYPE, c.ZENTITY * 0, c.ZENTITYPK * 0, s.ZNAME FROM ATRANSACTION t JOIN ACHANGE c ON c.ZTRANSACTIONID = t.Z_PK \
        LEFT JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZPROCESSIDTS ORDER BY t.Z_PK, c.Z_PK
        """

    private func insert(_ count: Int, _ context: NSManagedObjectContext) throws {
        for range in workload.chunks(of: count) {
            for index in range { Song(context: context).assign(workload.songs[index]) }
            try context.save()
        }
    }

    private func changes(_ context: NSManagedObjectContext) throws -> baseline_answer {
        let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
        var answer = baseline_answer()
        for transaction in (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? [] {
            for change in transaction.changes ?? [] where !change.changedObjectID.isTemporaryID {
                let numbers = transaction.transactionNumber + change.changeID + Int64(change.changeType.rawValue)
                answer.add(text: transaction.processID, integer: numbers)
            }
        }
        return answer
    }
}
