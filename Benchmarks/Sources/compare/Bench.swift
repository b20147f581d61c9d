import CBaseline
import Foundation

/// The place where one run works: its directory, and the filled files that reading operations share.
final class Bench {
    let workload: Workload
    private let directory: URL
    private var fixtures: [String: URL] = [:]
    private var scratchCount = 0
    private var knownWordNet: WordNetImport?

    init(workload: Workload) throws {
        self.workload = workload
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("compare-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    }

    func removeFiles() throws {
        try FileManager.default.removeItem(at: directory)
    }

    /// An empty store of the side, in a directory of its own so that every file beside it goes with it.
    func withEmptyStore<R>(_ side: any Side, body: (URL) throws -> R) throws -> R {
        try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("songs.sqlite")
            try side.makeStore(at: url, isIndexed: false)
            return try body(url)
        }
    }

    /// A copy of the side's filled store.
    func withCopy<R>(_ side: any Side, body: (URL) throws -> R) throws -> R {
        let original = try filledStore(side)
        return try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("songs.sqlite")
            try FileManager.default.copyItem(at: original, to: url)
            return try body(url)
        }
    }

    /// The side's store with the first `count` songs, written by the side itself at the first use.
    func filledStore(_ side: any Side, count: Int? = nil, isIndexed: Bool = false) throws -> URL {
        let count = count ?? workload.songs.count
        return try madeOnce("\(side.label) \(count)\(isIndexed ? " indexed" : "").sqlite") { url in
            try side.makeStore(at: url, isIndexed: isIndexed)
            let session = try side.open(url, isIndexed: isIndexed)
            try session.insert(count: count)
            try session.close()
            try verify(url, against: .inserted(count, workload), side)
        }
    }

    /// The file of that name, which `make` has made at the first use.
    func madeOnce(_ name: String, _ make: (URL) throws -> Void) throws -> URL {
        if let known = fixtures[name] { return known }
        let url = directory.appendingPathComponent(name)
        try make(url)
        fixtures[name] = url
        return url
    }

    func withScratchDirectory<R>(_ body: (URL) throws -> R) throws -> R {
        scratchCount += 1
        let scratch = directory.appendingPathComponent("scratch-\(scratchCount)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: scratch) }
        return try body(scratch)
    }

    /// What the import of WordNet needs, made at the first use.
    func wordNet() throws -> WordNetImport {
        if let knownWordNet { return knownWordNet }
        let made = try WordNetImport(in: directory)
        knownWordNet = made
        return made
    }

    /// Reads the file through a connection that none of the sides has used.
    ///
    /// - Throws: `WrongResult` when the rows are not the expected ones.
    func verify(_ url: URL, against expected: Contents, _ side: any Side) throws {
        var found = Contents()
        try SQLiteFailure.check(baseline_checksum(url.path, &found.rows, &found.sum), "checksum")
        try expect(found, expected, side, "rows of the file")
    }

    func expect<T: Equatable>(_ found: T, _ expected: T, _ side: any Side, _ what: String) throws {
        if found != expected { throw WrongResult(description: "\(side.label): \(what) are \(found), expected \(expected)") }
    }
}

/// A side did not do what it was measured for.
struct WrongResult: Error, CustomStringConvertible {
    let description: String
}

/// What a file holds: the number of rows and the sum of their hashes, whatever their order.
struct Contents: Equatable {
    var rows: Int64 = 0
    var sum: UInt64 = 0

    static func inserted(_ count: Int, _ workload: Workload) -> Contents {
        Contents(workload.rows.rows.prefix(count))
    }

    static func updated(_ workload: Workload) -> Contents {
        let edited = workload.editRows.rows.map { row in
            var row = row
            row.version += 1
            return row
        }
        return Contents(edited).adding(deleted(workload))
    }

    /// Every second song was updated, the others are new.
    static func upserted(_ count: Int, _ workload: Workload) -> Contents {
        Contents(
            workload.rows.rows.prefix(count).enumerated().map { index, row in
                var row = row
                if index.isMultiple(of: 2) { row.version += 1 }
                return row
            }
        )
    }

    static func deleted(_ workload: Workload) -> Contents {
        Contents(workload.rows.rows.dropFirst(workload.edits.count))
    }

    init() {}

    init(_ rows: some Collection<baseline_song>) {
        self.rows = Int64(rows.count)
        sum = rows.reduce(0) { sum, row in withUnsafePointer(to: row) { sum &+ baseline_song_hash($0) } }
    }

    private init(rows: Int64, sum: UInt64) {
        self.rows = rows
        self.sum = sum
    }

    private func adding(_ other: Contents) -> Contents {
        Contents(rows: rows + other.rows, sum: sum &+ other.sum)
    }
}
