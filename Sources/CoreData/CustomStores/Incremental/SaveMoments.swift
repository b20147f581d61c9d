/// When the objects of an incremental store were saved last, in moments of its row cache.
///
/// A save that adds members leaves the values of a node as they were; who writes over it has not seen it all the same.
final class SaveMoments: Sendable {
    private struct State {
        /// By root entity and key.
        var moments: [Int: [Int64: UInt32]] = [:]
        var swept: UInt32 = 0
    }
    private let state = Lock(State())
    /// Moments go round: of one that is longer past nobody could tell that it is.
    private static let age = Int32(1) << 29

    /// The objects are about to be known as they were saved.
    func note(_ group: ChangeSet.Group, at moment: UInt32) {
        let root = group.entity.rootEntity.index
        state.withLock { state in
            for update in group.updates { state.moments[root, default: [:]][update.key] = moment }
            for delete in group.deletes { state.moments[root]?[delete.key] = nil }
            guard Self.span(from: state.swept, to: moment) > Self.age else { return }
            state.moments = state.moments.mapValues { $0.filter { Self.span(from: $0.value, to: moment) < Self.age } }
            state.swept = moment
        }
    }

    /// Whether an object was saved after the store had one of its rows.
    func isSaved(_ key: Int64, root: Int, after row: Row) -> Bool {
        guard let read = row.listing?.moment, let saved = state.withLock({ $0.moments[root]?[key] }) else { return false }
        return Self.span(from: read, to: saved) > 0
    }

    private static func span(from: UInt32, to: UInt32) -> Int32 { Int32(bitPattern: to &- from) }
}
