import Foundation
import GRDB

/// GRDB with hand-written record methods, its fastest documented form of records.
///
/// The file is made by the C side, so that both have the same pages and schema.
struct GRDBSide: Side {
    let label = "GRDB"
    let workload: Workload

    func makeStore(at url: URL, isIndexed: Bool) throws {
        try RawSide(workload: workload).makeStore(at: url, isIndexed: isIndexed)
    }

    func open(_ url: URL, isIndexed: Bool) throws -> any Session {
        try GRDBSession(url, workload: workload)
    }
}

struct SongRecord {
    var key: Int64
    var version: Int64
    var values: SongValues
}

extension SongRecord: TableRecord {
    static let databaseTableName = "ZSONG"

    enum Columns {
        static let key = Column("Z_PK")
        static let entity = Column("Z_ENT")
        static let version = Column("Z_OPT")
        static let isFavorite = Column("ZISFAVORITE")
        static let playCount = Column("ZPLAYCOUNT")
        static let trackNumber = Column("ZTRACKNUMBER")
        static let addedAt = Column("ZADDEDAT")
        static let duration = Column("ZDURATION")
        static let artist = Column("ZARTIST")
        static let title = Column("ZTITLE")
        static let uuid = Column("ZUUID")
    }
}

extension SongRecord: FetchableRecord {
    /// The columns in the order of the table, which is that of `Columns`.
    init(row: Row) {
        key = row[0]
        version = row[2]
        values = SongValues(
            title: row[9],
            artist: row[8],
            duration: row[7],
            trackNumber: row[5],
            playCount: row[4],
            addedAt: Date(timeIntervalSinceReferenceDate: row[6]),
            isFavorite: row[3],
            uuid: row[10]
        )
    }
}

extension SongRecord: PersistableRecord {
    func encode(to container: inout PersistenceContainer) {
        container[Columns.key] = key
        container[Columns.entity] = 1
        container[Columns.version] = version
        container[Columns.isFavorite] = values.isFavorite
        container[Columns.playCount] = values.playCount
        container[Columns.trackNumber] = values.trackNumber
        container[Columns.addedAt] = values.addedAt.timeIntervalSinceReferenceDate
        container[Columns.duration] = values.duration
        container[Columns.artist] = values.artist
        container[Columns.title] = values.title
        container[Columns.uuid] = values.uuid
    }
}

final class GRDBSession: Session {
    private let pool: DatabasePool
    private let workload: Workload
    private var prepared: [SongRecord] = []

    init(_ url: URL, workload: Workload) throws {
        pool = try DatabasePool(path: url.path)
        self.workload = workload
    }

    func insert(count: Int) throws {
        for range in workload.chunks(of: count) {
            try pool.write { database in
                for index in range {
                    try SongRecord(key: Int64(index + 1), version: 1, values: workload.songs[index]).insert(database)
                }
            }
        }
    }

    func fetch() throws -> Fetched {
        let records = try pool.read { try SongRecord.fetchAll($0) }
        return Fetched(count: records.count, objects: records)
    }

    func fetchAndRead() throws -> Tally {
        var tally = Tally()
        var seconds = 0.0
        for record in try pool.read({ try SongRecord.fetchAll($0) }) {
            tally.add(title: record.values.title, plays: record.values.playCount)
            seconds += record.values.duration
        }
        precondition(seconds > 0, "every song takes time")
        return tally
    }

    func fetchByTitle() throws -> Tally {
        try pool.read { database in
            var tally = Tally()
            for pick in workload.picks {
                let request = SongRecord.filter(SongRecord.Columns.title == workload.songs[pick].title)
                guard let record = try request.fetchOne(database) else { continue }
                tally.add(title: record.values.title, plays: record.values.playCount)
            }
            return tally
        }
    }

    func count(times: Int) throws -> Counts {
        try pool.read { database in
            var counts = Counts()
            for _ in 0..<times {
                counts.all += try SongRecord.fetchCount(database)
                counts.matching += try SongRecord.filter(SongRecord.Columns.playCount > workload.playThreshold).fetchCount(database)
            }
            return counts
        }
    }

    func readByKey() throws -> Tally {
        try pool.read { database in
            var tally = Tally()
            for key in workload.keys {
                guard let record = try SongRecord.fetchOne(database, key: key) else { continue }
                tally.add(title: record.values.title, plays: record.values.playCount)
            }
            return tally
        }
    }

    func prepareChanges() throws {
        prepared = try pool.read { try SongRecord.limit(workload.edits.count).fetchAll($0) }
    }

    func update() throws {
        try pool.write { database in
            for (var record, edit) in zip(prepared, workload.edits) {
                record.version += 1
                record.values.title = edit.title
                record.values.playCount = edit.playCount
                try record.update(database, columns: [SongRecord.Columns.version, SongRecord.Columns.title, SongRecord.Columns.playCount])
            }
        }
    }

    func delete() throws {
        try pool.write { database in
            for record in prepared { try record.delete(database) }
        }
    }

    func close() throws {
        try pool.close()
    }
}
