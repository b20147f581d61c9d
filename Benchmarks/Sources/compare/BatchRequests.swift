import CBaseline
import CoreData
import Foundation

/// Batch requests beside the statements that a C programmer would run.
extension Bench {
    /// Inserts all songs, a chunk at a time: by a handler that is given an object, or as dictionaries, which are made before the clock starts.
    func batchInsert(_ side: any Side, count: Int, asDictionaries: Bool = false) throws -> Double {
        if side is RawSide {
            return try withEmptyStore(side) { url in
                let session = try side.open(url, isIndexed: false)
                let seconds = try cpuSeconds { try session.insert(count: count) }.seconds
                try session.close()
                return seconds
            }
        }
        return try withEmptyStore(side) { url in
            let rows = asDictionaries ? workload.songs.prefix(count).map(\.dictionary) : []
            let seconds = try withContext(url, Song.model(isIndexed: false)) { context in
                for range in workload.chunks(of: count) {
                    let request =
                        asDictionaries ? NSBatchInsertRequest(entityName: "Song", objects: Array(rows[range])) : insertion(of: range)
                    try context.execute(request)
                }
            }.0
            try verify(url, against: .inserted(count, workload), side)
            return seconds
        }
    }

    private func insertion(of range: Range<Int>) -> NSBatchInsertRequest {
        var next = range.lowerBound
        return NSBatchInsertRequest(entityName: "Song") { [workload] (object: NSManagedObject) -> Bool in
            guard next < range.upperBound, let song = object as? Song else { return true }
            song.assign(workload.songs[next])
            next += 1
            return false
        }
    }

    /// A fifth of the songs is played once more, or deleted: one statement.
    func batchChange(_ side: any Side, deletes: Bool) throws -> Double {
        try withCopy(side) { url in
            let before = workload.endOfEdits
            let seconds = try side is RawSide ? changeInC(url, before, deletes) : change(url, before, deletes)
            try verify(url, against: deletes ? .deleted(workload) : .played(workload), side)
            return seconds
        }
    }

    private func change(_ url: URL, _ before: Date, _ deletes: Bool) throws -> Double {
        let predicate = NSPredicate(format: "addedAt < %@", before as NSDate)
        let (update, fetch) = (NSBatchUpdateRequest(entityName: "Song"), Song.request())
        (update.predicate, fetch.predicate) = (predicate, predicate)
        update.propertiesToUpdate = ["playCount": NSExpression(format: "playCount + 1")]
        let request = deletes ? NSBatchDeleteRequest(fetchRequest: fetch) : update
        return try withContext(url, Song.model(isIndexed: false)) { _ = try $0.execute(request) }.0
    }

    private func changeInC(_ url: URL, _ before: Date, _ deletes: Bool) throws -> Double {
        let date = before.timeIntervalSinceReferenceDate
        return try withConnection(url) { connection in
            try cpuSeconds {
                let code = deletes ? baseline_delete_before(connection, date) : baseline_play_before(connection, date)
                try SQLiteFailure.check(code, "change")
            }.seconds
        }
    }

    /// As `upsert(_:)`, by batch inserts under object trump.
    func batchUpsert(_ url: URL, _ count: Int) throws -> Double {
        try upserting(url, count) { try $0.execute(insertion(of: $1)) }
    }
}

extension SongValues {
    var dictionary: [String: Any] {
        [
            "title": title, "artist": artist, "duration": duration, "trackNumber": Int(trackNumber), "playCount": Int(playCount),
            "addedAt": addedAt, "isFavorite": isFavorite, "uuid": uuid,
        ]
    }
}

extension Contents {
    /// The first fifth of the songs was played once more.
    static func played(_ workload: Workload) -> Contents {
        Contents(
            workload.rows.rows.enumerated().map { index, row in
                guard index < workload.edits.count else { return row }
                var row = row
                (row.play_count, row.version) = (row.play_count + 1, row.version + 1)
                return row
            }
        )
    }
}
