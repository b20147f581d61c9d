/// Many distinct objects in order: in blocks, and for each object the block that it is in.
///
/// Blocks are never empty. What is appended leaves room in each for members that are put between; where those need more, blocks are at least
/// half full.
final class MemberBlocks {
    private struct Block {
        let number: Int32
        var members: ContiguousArray<NSManagedObject>
    }

    private static let capacity = 256
    /// How many are appended to a block: one that were full would be split by the first member put into it, at the price of hashing half of it.
    private static let appendLimit = 192

    /// In order.
    private var blocks: ContiguousArray<Block> = []
    /// By the number of a block: where in the order it is.
    private var ordinals: ContiguousArray<Int32> = []
    /// Numbers of blocks that are gone.
    private var freeNumbers: ContiguousArray<Int32> = []
    /// The index of each block's first member, as far as they are known.
    private var starts: ContiguousArray<Int> = []
    private var blockNumbers: [ObjectIdentifier: Int32] = [:]

    var count: Int { blockNumbers.count }
    var isEmpty: Bool { blocks.isEmpty }

    init() {}

    func copy() -> MemberBlocks {
        let copy = MemberBlocks()
        (copy.blocks, copy.ordinals, copy.freeNumbers) = (blocks, ordinals, freeNumbers)
        (copy.starts, copy.blockNumbers) = (starts, blockNumbers)
        return copy
    }

    func contains(_ object: NSManagedObject) -> Bool { blockNumbers[ObjectIdentifier(object)] != nil }

    func index(of object: NSManagedObject) -> Int? {
        guard let (block, offset) = find(object) else { return nil }
        return start(of: block) + offset
    }

    func member(at index: Int) -> NSManagedObject {
        let (block, offset) = find(index)
        return blocks[block].members[offset]
    }

    /// What comes next in an enumeration.
    struct Cursor {
        var block = 0
        var offset = 0
    }

    func next(_ cursor: inout Cursor) -> NSManagedObject? {
        guard cursor.block < blocks.count else { return nil }
        let member = blocks[cursor.block].members[cursor.offset]
        cursor.offset += 1
        if cursor.offset == blocks[cursor.block].members.count { cursor = Cursor(block: cursor.block + 1) }
        return member
    }

    func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
        for block in blocks { for member in block.members { try body(member) } }
    }

    /// Adds at the end; false where the object is already there.
    @discardableResult func append(_ object: NSManagedObject) -> Bool {
        let hasRoom = blocks.last.map { $0.members.count < Self.appendLimit } ?? false
        let number = hasRoom ? blocks[blocks.count - 1].number : freeNumbers.last ?? Int32(ordinals.count)
        if let known = blockNumbers.updateValue(number, forKey: ObjectIdentifier(object)) {
            blockNumbers[ObjectIdentifier(object)] = known
            return false
        }
        if !hasRoom { addBlock([], at: blocks.count) }
        blocks[blocks.count - 1].members.append(object)
        return true
    }

    /// - Precondition: the object is not in the list; the index is.
    func insert(_ object: NSManagedObject, at index: Int) {
        var (block, offset) = find(index)
        if blocks[block].members.count == Self.capacity {
            split(block)
            (block, offset) = find(index)
        }
        blocks[block].members.insert(object, at: offset)
        blockNumbers[ObjectIdentifier(object)] = blocks[block].number
        moveStarts(after: block, by: 1)
    }

    func remove(_ object: NSManagedObject) {
        guard let (block, offset) = find(object) else { return }
        blockNumbers[ObjectIdentifier(object)] = nil
        blocks[block].members.remove(at: offset)
        moveStarts(after: block, by: -1)
        if blocks[block].members.isEmpty { removeBlock(block) }
    }
}

extension MemberBlocks {
    private func find(_ object: NSManagedObject) -> (block: Int, offset: Int)? {
        guard let number = blockNumbers[ObjectIdentifier(object)] else { return nil }
        let block = Int(ordinals[Int(number)])
        return blocks[block].members.firstIndex { $0 === object }.map { (block, $0) }
    }

    private func find(_ index: Int) -> (block: Int, offset: Int) {
        precondition(index >= 0 && index < count, "Index \(index) is not among the \(count) members.")
        while starts.count < blocks.count, start(of: max(starts.count - 1, 0)) + blocks[starts.count - 1].members.count <= index {
            _ = start(of: starts.count)
        }
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        return (low, index - starts[low])
    }

    private func start(of block: Int) -> Int {
        while starts.count <= block {
            let known = starts.count
            starts.append(known == 0 ? 0 : starts[known - 1] + blocks[known - 1].members.count)
        }
        return starts[block]
    }

    /// Cheaper than to count again, which would meet every block's memory; so many at once are counted again when one is asked for.
    private func moveStarts(after block: Int, by difference: Int) {
        if starts.count > block + 1_024 { return starts.removeLast(starts.count - block - 1) }
        for later in stride(from: block + 1, to: starts.count, by: 1) { starts[later] += difference }
    }

    private func addBlock(_ members: ContiguousArray<NSManagedObject>, at ordinal: Int) {
        let number = freeNumbers.popLast() ?? Int32(ordinals.count)
        if Int(number) == ordinals.count { ordinals.append(0) }
        blocks.insert(Block(number: number, members: members), at: ordinal)
        for member in members { blockNumbers[ObjectIdentifier(member)] = number }
        renumber(from: ordinal)
    }

    private func removeBlock(_ ordinal: Int) {
        freeNumbers.append(blocks.remove(at: ordinal).number)
        renumber(from: ordinal)
    }

    private func renumber(from ordinal: Int) {
        for next in ordinal..<blocks.count { ordinals[Int(blocks[next].number)] = Int32(next) }
        if starts.count > ordinal { starts.removeLast(starts.count - ordinal) }
    }

    private func split(_ block: Int) {
        let half = Self.capacity / 2
        let moved = ContiguousArray(blocks[block].members[half...])
        blocks[block].members.removeLast(moved.count)
        addBlock(moved, at: block + 1)
    }
}
