import Foundation

/// One of the ways to store songs that are compared.
protocol Side {
    var label: String { get }

    /// Makes a file with an empty table of songs; with `isIndexed`, there is an index on the title.
    func makeStore(at url: URL, isIndexed: Bool) throws

    /// Opens a file of `makeStore` with nothing cached from earlier sessions.
    func open(_ url: URL, isIndexed: Bool) throws -> any Session
}

/// One connection, pool or stack, open on one file. The names are those of the operations; only the bodies of those run
/// against the clock, `prepare…` and `close` do not.
protocol Session: AnyObject {
    /// Inserts the first `count` songs of the workload, a transaction or save for each chunk.
    func insert(count: Int) throws
    /// Reads all songs with all their values.
    func fetch() throws -> Fetched
    /// Reads all songs, then title, play count and duration of each.
    func fetchAndRead() throws -> Tally
    /// Looks the workload's picks up by title, each with a request of its own.
    func fetchByTitle() throws -> Tally
    /// Counts all songs and those beyond the play threshold, each `times` times.
    func count(times: Int) throws -> Counts
    /// Reads one value of each of the workload's keys.
    func readByKey() throws -> Tally

    func prepareReadByKey() throws
    /// Fetches the songs that `update` or `delete` changes.
    func prepareChanges() throws
    /// Gives the prepared songs the workload's edits and saves them.
    func update() throws
    /// Deletes the prepared songs and saves.
    func delete() throws

    func close() throws
}

extension Session {
    func prepareReadByKey() throws {}
    func prepareChanges() throws {}
}

/// The result of a fetch, kept in memory until the clock has stopped.
struct Fetched {
    let count: Int
    let objects: Any
}

/// Sums over what an operation has read: proof that it read everything, and read it right.
struct Tally: Equatable {
    var rows = 0
    var titleBytes = 0
    var plays: Int64 = 0

    mutating func add(title: String, plays count: Int64) {
        rows += 1
        titleBytes += title.utf8.count
        plays += count
    }
}

/// The sums of the answers.
struct Counts: Equatable {
    var all = 0
    var matching = 0
}
