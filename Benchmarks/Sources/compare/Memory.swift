import CBaseline
import CoreData
import Foundation

/// How much memory a large result takes that is not read as a whole.
extension Bench {
    /// An array of all songs with a batch size, of which every thousandth is read.
    func memoryOfBatches() throws -> Double {
        try memory { request, context in
            let songs = try context.fetch(request)
            return stride(from: 0, to: songs.count, by: 1_000).map { songs[$0] }.reduce(into: Tally()) { $0.add($1) }
        } expecting: { all in
            Tally(stride(from: 0, to: all.count, by: 1_000).map { all[$0] })
        }
    }

    /// All songs, one after the other.
    func memoryOfWalk() throws -> Double {
        try memory { request, context in
            try context.objects(of: request).reduce(into: Tally()) { $0.add($1) }
        } expecting: { all in
            Tally(all)
        }
    }

    private func memory(
        _ read: (NSFetchRequest<Song>, NSManagedObjectContext) throws -> Tally,
        expecting expected: ([SongValues]) -> Tally
    ) throws -> Double {
        let side = CoreDataSide(workload: workload)
        return try withContext(filledStore(side), Song.model(isIndexed: false)) { context in
            let request = Song.request()
            request.sortDescriptors = [NSSortDescriptor(key: "addedAt", ascending: true)]
            request.fetchBatchSize = 100
            var tally = Tally()
            let growth = try PeakMemory.growth { tally = try read(request, context) }
            try expect(tally, expected(workload.songs), side, "values read")
            return growth
        }.1
    }
}

extension Tally {
    fileprivate mutating func add(_ song: Song) { add(title: song.title ?? "", plays: song.playCount) }
}

/// What Linux says of the memory that the process has.
enum PeakMemory {
    /// How many bytes more than before the process has at the most while `body` runs.
    static func growth(_ body: () throws -> Void) throws -> Double {
        // Memory that was given back before, and not to the system, is not to be had for nothing.
        baseline_trim()
        // 5: the peak is what there is now.
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        let before = try bytes("VmRSS:")
        try body()
        return try bytes("VmHWM:") - before
    }

    private static func bytes(_ name: String) throws -> Double {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        guard let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) }) else {
            throw WrongResult(description: "there is no \(name) in /proc/self/status")
        }
        return kilobytes * 1024
    }
}
