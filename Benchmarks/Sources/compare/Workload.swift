import Foundation

/// The plain values of one song, before any of the three sides has turned them into its own kind of object.
struct SongValues {
    var title: String
    var artist: String
    var duration: Double
    var trackNumber: Int16
    var playCount: Int64
    var addedAt: Date
    var isFavorite: Bool
    var uuid: UUID
}

/// Everything the measured code reads, made before the first clock starts and the same in every run.
///
/// Song `i` has the primary key `i + 1`.
struct Workload {
    /// How many songs there are but in a quick run.
    static let fullCount = 500_000
    /// How many of them go through a policy, at the most.
    static let migratedCount = 200_000

    let songs: [SongValues]
    /// The first fifth of the songs with another title and play count.
    let edits: [SongValues]
    /// Positions of the songs that are looked up by title.
    let picks: [Int]
    /// Distinct primary keys in random order.
    let keys: [Int64]
    /// Half of the songs, more or less, have been played more often.
    let playThreshold: Int64 = 2_500
    /// Rows in a transaction, objects in a save.
    let chunk: Int

    let rows: CSongs
    let editRows: CSongs

    init(count: Int) {
        var random = SplitMix64(state: 2_026)
        songs = (0..<count).map { SongValues(number: $0, random: &random) }
        edits = songs.prefix(count / 5).map(\.edited)
        picks = (0..<count / 50).map { _ in Int.random(in: 0..<count, using: &random) }
        keys = (1...Int64(count)).shuffled(using: &random).prefix(count / 5).map { $0 }
        chunk = 10_000
        rows = CSongs(songs)
        editRows = CSongs(edits)
    }

    /// The parts of `0..<count`, a chunk each.
    func chunks(of count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: chunk).map { $0..<min($0 + chunk, count) }
    }

    /// A date between the last edited song and the first that stays as it is.
    var endOfEdits: Date { songs[edits.count].addedAt.addingTimeInterval(-0.5) }
}

extension SongValues {
    /// The title has 26 to 31 bytes, too many for a string that lives in its own value; the artist has 8 to 10.
    init(number: Int, random: inout SplitMix64) {
        title = "Song \(number) in one set, take \(Int.random(in: 10...99, using: &random))"
        artist = "Artist \(Int.random(in: 0...999, using: &random))"
        duration = Double.random(in: 0..<600, using: &random)
        trackNumber = Int16.random(in: 1...20, using: &random)
        playCount = Int64.random(in: 0..<5_000, using: &random)
        addedAt = Date(timeIntervalSinceReferenceDate: 700_000_000.25 + Double(number))
        isFavorite = Int.random(in: 0..<8, using: &random) == 0
        let halves = (random.next(), random.next())
        uuid = UUID(uuid: withUnsafeBytes(of: halves) { $0.loadUnaligned(as: uuid_t.self) })
    }

    var edited: SongValues {
        var copy = self
        copy.title = "Again: " + title.dropFirst(5)
        copy.playCount += 1
        return copy
    }
}

/// Steele, Lea and Flood's generator: 64 bits of state, the same numbers on every machine.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
