import CBaseline
import Foundation

/// Songs as the C loops read them: one array of structs whose texts point into one arena.
final class CSongs {
    let rows: UnsafeMutableBufferPointer<baseline_song>
    private let arena: UnsafeMutableBufferPointer<CChar>

    init(_ songs: [SongValues]) {
        let bytes = songs.reduce(0) { $0 + $1.title.utf8.count + $1.artist.utf8.count }
        arena = .allocate(capacity: max(bytes, 1))
        rows = .allocate(capacity: songs.count)
        var free = arena[...]
        for (index, song) in songs.enumerated() {
            let row = baseline_song(song, key: Int64(index + 1), textsIn: &free)
            rows.initializeElement(at: index, to: row)
        }
    }

    deinit {
        rows.deallocate()
        arena.deallocate()
    }

    // Every initialiser has filled the buffer, which is never empty, so it has an address.
    var start: UnsafePointer<baseline_song> { UnsafePointer(rows.baseAddress!) }
    var count: Int { rows.count }
}

extension baseline_song {
    fileprivate init(_ song: SongValues, key: Int64, textsIn free: inout Slice<UnsafeMutableBufferPointer<CChar>>) {
        let title = Self.copy(song.title, into: &free)
        let artist = Self.copy(song.artist, into: &free)
        self.init(
            key: key,
            version: 1,
            title: title.start,
            artist: artist.start,
            title_length: title.length,
            artist_length: artist.length,
            duration: song.duration,
            added_at: song.addedAt.timeIntervalSinceReferenceDate,
            play_count: song.playCount,
            track_number: song.trackNumber,
            is_favorite: song.isFavorite ? 1 : 0,
            uuid: song.uuid.uuid
        )
    }

    private static func copy(
        _ text: String,
        into free: inout Slice<UnsafeMutableBufferPointer<CChar>>
    ) -> (start: UnsafePointer<CChar>, length: Int32) {
        let target = UnsafeMutableBufferPointer(rebasing: free)
        let end = target.initialize(fromContentsOf: text.utf8.lazy.map { CChar(bitPattern: $0) })
        free = free.dropFirst(end)
        // The arena has room for every text, so the buffer has an address.
        return (UnsafePointer(target.baseAddress!), Int32(end))
    }
}
