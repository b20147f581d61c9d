/// Permanent keys of one store that were reserved ahead, so that a save which only reaches another context can give its objects keys
/// without touching the file.
///
/// Filled by saves of the store, which then reserve as many keys as were asked for in vain, and as many again.
final class KeyPool: Sendable {
    private struct Block {
        var next: Int64 = 0
        var end: Int64 = 0
        /// How many keys should be at hand after the next save.
        var wanted = 0
    }
    private let blocks = Lock<[Int: Block]>([:])

    /// The first of `count` consecutive keys below a root entity; nil where not as many are at hand.
    func take(_ count: Int, root: Int) -> Int64? {
        blocks.withLock { blocks in
            let block = blocks[root, default: Block()]
            guard block.end - block.next >= Int64(count) else {
                blocks[root, default: Block()].wanted = max(block.wanted, 2 * count)
                return nil
            }
            blocks[root, default: Block()].next += Int64(count)
            return block.next
        }
    }

    /// The last key that may be in use or at hand below a root entity.
    func last(root: Int) -> Int64 { blocks.withLock { ($0[root]?.end ?? 1) - 1 } }

    /// The root entities that lack keys, with how many a save should reserve for them.
    var shortages: [(root: Int, count: Int)] {
        blocks.withLock { blocks in
            blocks.compactMap { root, block in block.end - block.next < Int64(block.wanted / 2) ? (root, block.wanted) : nil }
                .sorted { $0.root < $1.root }
        }
    }

    /// Puts reserved keys in, in place of the few that may be left. Called once their reservation is committed.
    func put(_ first: Int64, count: Int, root: Int) {
        blocks.withLock { blocks in
            (blocks[root, default: Block()].next, blocks[root, default: Block()].end) = (first, first + Int64(count))
        }
    }
}
