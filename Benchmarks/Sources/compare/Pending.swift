import CBaseline
import CoreData
import Foundation

/// Fetches beside changes that are not saved.
extension Bench {
    /// Looks 50,000 titles up, of which the half is new: one context, one save.
    func findOrCreate(_ side: any Side) throws -> Double {
        let count = min(25_000, workload.songs.count)
        // Each song once, and one of those before it.
        var picks: [Int64] = []
        for number in 0..<count { picks += [Int64(number), Int64(number * 7919 % (number + 1))] }
        return try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("songs.sqlite")
            try side.makeStore(at: url, isIndexed: true)
            let seconds =
                try side is RawSide
                ? withConnection(url) { connection in
                    try cpuSeconds {
                        try SQLiteFailure.check(
                            baseline_find_or_create(connection, workload.rows.start, picks, picks.count),
                            "find or create"
                        )
                    }.seconds
                } : withContext(url, Song.model(isIndexed: true)) { try findOrCreate(picks, $0) }.0
            try verify(url, against: .inserted(count, workload), side)
            return seconds
        }
    }

    private func findOrCreate(_ picks: [Int64], _ context: NSManagedObjectContext) throws {
        for pick in picks {
            let song = workload.songs[Int(pick)]
            if try find(song.title, context, limit: 1).isEmpty { Song(context: context).assign(song) }
        }
        try context.save()
    }

    private func find(_ title: String, _ context: NSManagedObjectContext, limit: Int = 0) throws -> [Song] {
        let request = Song.request()
        request.predicate = NSPredicate(format: "title == %@", title)
        request.fetchLimit = limit
        return try context.fetch(request)
    }

    /// A thousand fetches by an indexed key beside so many new objects.
    func pendingFetch(pending: Int, _ side: any Side) throws -> Double {
        let count = workload.songs.count / 5
        let url = try filledStore(side, count: count, isIndexed: true)
        return try withContext(url, Song.model(isIndexed: true)) { context in
            for number in 0..<pending { Song(context: context).title = "New \(number)" }
            context.processPendingChanges()
            let (seconds, found) = try cpuSeconds {
                try (0..<1_000).reduce(0) { sum, number in sum + (try find(workload.songs[number * 7 % count].title, context)).count }
            }
            try expect(found, 1_000, side, "songs found")
            return seconds
        }.1
    }
}
