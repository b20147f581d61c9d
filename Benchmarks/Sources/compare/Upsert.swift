import CBaseline
import CoreData
import Foundation

/// Songs with unique titles, every second of which is in the file already, played once less.
extension Bench {
    static let upsertCount = 100_000

    /// Saves new objects for all of them under object trump; in C, inserts them with `ON CONFLICT DO UPDATE`.
    func upsert(_ side: any Side, asBatch: Bool = false) throws -> Double {
        try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("songs.sqlite")
            let count = min(Self.upsertCount, workload.songs.count)
            let seconds = try side is RawSide ? upsertInC(url, count) : asBatch ? batchUpsert(url, count) : upsert(url, count)
            try verify(url, against: .upserted(count, workload), side)
            return seconds
        }
    }

    private func upsert(_ url: URL, _ count: Int) throws -> Double {
        try upserting(url, count) { context, range in
            for index in range { Song(context: context).assign(workload.songs[index]) }
            try context.save()
        }
    }

    /// Time for all chunks of the songs, in a store that has every second of them.
    func upserting(_ url: URL, _ count: Int, _ body: (NSManagedObjectContext, Range<Int>) throws -> Void) throws -> Double {
        let model = Song.model(isIndexed: false)
        model.entities[0].uniquenessConstraints = [["title"]]
        return try withContext(url, model) { context in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for index in stride(from: 0, to: count, by: 2) {
                let song = Song(context: context)
                song.assign(workload.songs[index])
                song.playCount -= 1
            }
            try context.save()
            context.reset()
            return try cpuSeconds { for range in workload.chunks(of: count) { try body(context, range) } }.seconds
        }.1
    }

    private func upsertInC(_ url: URL, _ count: Int) throws -> Double {
        try SQLiteFailure.check(baseline_create_unique(url.path), "create")
        return try withConnection(url) { try upsertInC($0, count) }
    }

    private func upsertInC(_ connection: OpaquePointer, _ count: Int) throws -> Double {
        let present = stride(from: 0, to: count, by: 2).map { index in
            var song = workload.rows.rows[index]
            song.play_count -= 1
            return song
        }
        try SQLiteFailure.check(baseline_insert(connection, present, present.count, present.count), "insert")
        // A key that an upsert does not use is another row's.
        let songs = workload.rows.rows.prefix(count).map { song in
            var song = song
            song.key += Int64(count)
            return song
        }
        return try cpuSeconds { try SQLiteFailure.check(baseline_upsert(connection, songs, count, workload.chunk), "upsert") }.seconds
    }
}
