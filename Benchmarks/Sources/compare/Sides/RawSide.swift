import CBaseline
import Foundation

/// SQLite's C interface, called from C.
struct RawSide: Side {
    let label = "raw C"
    let workload: Workload

    func makeStore(at url: URL, isIndexed: Bool) throws {
        try SQLiteFailure.check(baseline_create(url.path, isIndexed ? 1 : 0), "create")
    }

    func open(_ url: URL, isIndexed: Bool) throws -> any Session {
        try RawSession(url, workload: workload)
    }
}

struct SQLiteFailure: Error, CustomStringConvertible {
    let code: Int32
    let operation: String

    var description: String { "the C loop '\(operation)' failed with SQLite's result code \(code)" }

    static func check(_ code: Int32, _ operation: String = #function) throws {
        if code != 0 { throw SQLiteFailure(code: code, operation: operation) }
    }
}

final class RawSession: Session {
    private let connection: OpaquePointer
    private let workload: Workload

    init(_ url: URL, workload: Workload) throws {
        var opened: OpaquePointer?
        let code = baseline_open(url.path, &opened)
        guard code == 0, let opened else {
            baseline_close(opened)
            throw SQLiteFailure(code: code, operation: "open")
        }
        connection = opened
        self.workload = workload
    }

    func insert(count: Int) throws {
        try SQLiteFailure.check(baseline_insert(connection, workload.rows.start, count, workload.chunk))
    }

    func fetch() throws -> Fetched {
        var tally = baseline_tally()
        try SQLiteFailure.check(baseline_fetch(connection, &tally))
        return Fetched(count: Int(tally.rows), objects: ())
    }

    func fetchAndRead() throws -> Tally {
        var tally = baseline_tally()
        try SQLiteFailure.check(baseline_fetch(connection, &tally))
        return Tally(tally)
    }

    func fetchByTitle() throws -> Tally {
        var tally = baseline_tally()
        let picks = workload.picks.map(Int64.init)
        try SQLiteFailure.check(baseline_fetch_indexed(connection, workload.rows.start, picks, picks.count, &tally))
        return Tally(tally)
    }

    func count(times: Int) throws -> Counts {
        var all: Int64 = 0, matching: Int64 = 0
        try SQLiteFailure.check(baseline_count(connection, workload.playThreshold, Int32(times), &all, &matching))
        return Counts(all: Int(all), matching: Int(matching))
    }

    func readByKey() throws -> Tally {
        var tally = baseline_tally()
        try SQLiteFailure.check(baseline_read_by_key(connection, workload.keys, workload.keys.count, &tally))
        return Tally(tally)
    }

    func update() throws {
        try SQLiteFailure.check(baseline_update(connection, workload.editRows.start, workload.edits.count))
    }

    func delete() throws {
        try SQLiteFailure.check(baseline_delete(connection, workload.rows.start, workload.edits.count))
    }

    func close() throws {
        try SQLiteFailure.check(baseline_close(connection))
    }
}

extension Tally {
    init(_ tally: baseline_tally) {
        self.init(rows: Int(tally.rows), titleBytes: Int(tally.title_bytes), plays: tally.plays)
    }
}
