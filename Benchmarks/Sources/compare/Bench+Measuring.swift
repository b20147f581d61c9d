import CBaseline
import Foundation

extension Bench {
    /// One round of one side, in the operation's unit. What is prepared, opened, closed and checked is not in the clock.
    ///
    /// - Throws: `WrongResult` when the side has read or written anything else than it should have.
    func measure(_ operation: Operation, _ side: any Side) throws -> Double {
        switch operation {
        case .insert: try insert(side, count: workload.songs.count)
        case .fetch: try fetch(side, count: workload.songs.count)
        case .fetchRead3: try fetchRead3(side)
        case .fetchIndexed: try fetchIndexed(side)
        case .count: try count(side)
        case .update: try change(side, expecting: .updated(workload)) { try $0.update() }
        case .delete: try change(side, expecting: .deleted(workload)) { try $0.delete() }
        case .upsertSave: try upsert(side)
        case .batchInsert: try batchInsert(side, count: workload.songs.count)
        case .batchInsertDictionaries: try batchInsert(side, count: workload.songs.count, asDictionaries: true)
        case .batchUpdate: try batchChange(side, deletes: false)
        case .batchDelete: try batchChange(side, deletes: true)
        case .batchUpsert: try upsert(side, asBatch: true)
        case .growthBatchInsert: try growth { try batchInsert(side, count: $0) }
        case .insertWithHistory: try insertWithHistory(side)
        case .historyInsert: try historyInsert(side)
        case .historyFetch: try historyFetch(side)
        case .faultByID: try faultByID(side)
        case .memoryPerObject: try memoryPerObject(side)
        case .memoryBatches: try memoryOfBatches()
        case .memoryWalk: try memoryOfWalk()
        case .growthInsert: try growth { try insert(side, count: $0) }
        case .growthFetch: try growth { try fetch(side, count: $0) }
        case .importWordNet: try importWordNet(side)
        case .threeLayers: try layers(side, Song.self)
        case .threeLayersHooks: try layers(side, HookedSong.self)
        case .batchImportAlone: try batchImport(fetching: false)
        case .batchImportWithMain: try batchImport(fetching: true)
        case .performAndWait: performAndWait()
        case .awaitPerform: awaitPerform()
        case .orderedAppend: try orderedAppend(.byOrderedSet)
        case .orderedAppendTyped: try orderedAppend(.typed)
        case .growthOrderedAppend: try growth { try orderedAppend(.byOrderedSet, count: $0 / 5) }
        case .orderedSaveOne: try orderedSaveOne(members: 40_000, layers: 1)
        case .orderedSaveOneShort: try orderedSaveOne(members: 400, layers: 1)
        case .orderedSaveOneLayers: try orderedSaveOne(members: 40_000, layers: 3)
        case .orderedSaveOneLayersShort: try orderedSaveOne(members: 400, layers: 3)
        case .fetchDictionary: try ask(SongQuestion.grouped, side)
        case .fetchSortedLimit: try ask(SongQuestion.sortedLimit, side)
        case .fetchContainsFolded: try ask(SongQuestion.containsFolded, side)
        case .fetchJoin: try ask(ShelfQuestion.join, side)
        case .subqueryCount: try ask(ShelfQuestion.subqueryCount, side)
        case .prefetch: try ask(ShelfQuestion.prefetch, side)
        case .resultsController: try controlledSaves(side, isControlled: true)
        case .resultsControllerNone: try controlledSaves(side, isControlled: false)
        case .findOrCreate: try findOrCreate(side)
        case .pendingFetch: try pendingFetch(pending: 10_000, side)
        case .pendingFetchNone: try pendingFetch(pending: 0, side)
        case .twoReaders: try twoReaders(side)
        case .migrateAddAttribute: try addAttribute(side)
        case .migrateRebuild: try manyShelves(side)
        case .memoryMigratePolicy: try memoryOfMigration()
        case .growthMigratePolicy: try growth { try migrateByPolicy(count: $0 * 2 / 5) }
        case .migratePolicy: try migrateByPolicy(count: min(Workload.migratedCount, workload.songs.count))
        }
    }

    private func insert(_ side: any Side, count: Int) throws -> Double {
        try withEmptyStore(side) { url in
            let session = try side.open(url, isIndexed: false)
            let seconds = try cpuSeconds { try session.insert(count: count) }.seconds
            try session.close()
            try verify(url, against: .inserted(count, workload), side)
            return seconds
        }
    }

    private func fetch(_ side: any Side, count: Int) throws -> Double {
        try withSession(side, on: filledStore(side, count: count)) { session in
            let (seconds, fetched) = try cpuSeconds { try session.fetch() }
            try expect(fetched.count, count, side, "fetched objects")
            return seconds
        }
    }

    private func fetchRead3(_ side: any Side) throws -> Double {
        try withSession(side, on: filledStore(side)) { session in
            let (seconds, tally) = try cpuSeconds { try session.fetchAndRead() }
            try expect(tally, Tally(workload.songs), side, "values read")
            return seconds
        }
    }

    private func fetchIndexed(_ side: any Side) throws -> Double {
        try withSession(side, on: filledStore(side, isIndexed: true), isIndexed: true) { session in
            let (seconds, tally) = try cpuSeconds { try session.fetchByTitle() }
            try expect(tally, Tally(workload.picks.map { workload.songs[$0] }), side, "values found by title")
            return seconds
        }
    }

    private func count(_ side: any Side) throws -> Double {
        try withSession(side, on: filledStore(side)) { session in
            let times = 10
            let (seconds, counts) = try cpuSeconds { try session.count(times: times) }
            let matching = workload.songs.count { $0.playCount > workload.playThreshold }
            try expect(counts, Counts(all: workload.songs.count * times, matching: matching * times), side, "counts")
            return seconds
        }
    }

    private func change(_ side: any Side, expecting contents: Contents, body: (any Session) throws -> Void) throws -> Double {
        try withCopy(side) { url in
            let seconds = try withSession(side, on: url) { session in
                try session.prepareChanges()
                return try cpuSeconds { try body(session) }.seconds
            }
            try verify(url, against: contents, side)
            return seconds
        }
    }

    private func faultByID(_ side: any Side) throws -> Double {
        try withSession(side, on: filledStore(side)) { session in
            try session.prepareReadByKey()
            let (seconds, tally) = try cpuSeconds { try session.readByKey() }
            try expect(tally, Tally(workload.keys.map { workload.songs[Int($0 - 1)] }), side, "values read by key")
            return seconds
        }
    }

    private func memoryPerObject(_ side: any Side) throws -> Double {
        try withSession(side, on: filledStore(side)) { session in
            // The first question fills the connection's caches, which are not the objects'.
            _ = try session.count(times: 1)
            let before = baseline_heap_bytes()
            let fetched = try session.fetch()
            let after = baseline_heap_bytes()
            return withExtendedLifetime(fetched.objects) { Double(after - before) / Double(fetched.count) }
        }
    }

    /// How many times longer four times the songs take.
    private func growth(_ measure: (Int) throws -> Double) throws -> Double {
        let all = workload.songs.count
        let quarter = try measure(all / 4)
        return try measure(all) / quarter
    }

    private func withSession<R>(
        _ side: any Side,
        on url: URL,
        isIndexed: Bool = false,
        body: (any Session) throws -> R
    ) throws -> R {
        let session = try side.open(url, isIndexed: isIndexed)
        let result = Result { try body(session) }
        try session.close()
        return try result.get()
    }
}

extension Tally {
    init(_ songs: [SongValues]) {
        self.init()
        for song in songs { add(title: song.title, plays: song.playCount) }
    }
}
