/// Distinct objects in order: the contents of a to-many relationship, held strongly.
///
/// Most relationships hold one or two objects: these need no memory of their own. Few are searched, many are in blocks.
///
/// - Complexity: appending, removing and asking for one are O(1) amortised; what goes by index is O(log n), after a change in the middle
///   O(n / 256) once.
struct MemberList {
    private var first: NSManagedObject?
    private var second: NSManagedObject?
    /// From the third on, where they are few.
    private var rest: ContiguousArray<NSManagedObject> = []
    /// All of them, once they are too many to search; never empty.
    private var blocks: MemberBlocks?

    /// So many are found as soon by comparing them as by their hashes, and need no table.
    private static let searchLimit = 16

    init() {}

    init(_ objects: some Sequence<NSManagedObject>) {
        let count = objects.underestimatedCount
        if count > 2, count <= Self.searchLimit { rest.reserveCapacity(count - 2) }
        for object in objects { append(object) }
    }

    var count: Int { blocks?.count ?? (first == nil ? 0 : 1) + (second == nil ? 0 : 1) + rest.count }
    var isEmpty: Bool { first == nil && blocks == nil }

    var array: [NSManagedObject] {
        var array: [NSManagedObject] = []
        array.reserveCapacity(count)
        forEach { array.append($0) }
        return array
    }

    var firstMember: NSManagedObject? { blocks?.member(at: 0) ?? first }

    func contains(_ object: NSManagedObject) -> Bool {
        if let blocks { return blocks.contains(object) }
        return fewIndex(of: object) != nil
    }

    func index(of object: NSManagedObject) -> Int? {
        if let blocks { return blocks.index(of: object) }
        return fewIndex(of: object)
    }

    /// - Precondition: the index is in the list.
    subscript(index: Int) -> NSManagedObject {
        if let blocks { return blocks.member(at: index) }
        precondition(index >= 0 && index < count, "Index \(index) is not among the \(count) members.")
        if index > 1 { return rest[index - 2] }
        // Checked just above.
        return index == 0 ? first! : second!
    }

    private func fewIndex(of object: NSManagedObject) -> Int? {
        if first === object { return 0 }
        if second === object { return 1 }
        return rest.isEmpty ? nil : rest.firstIndex { $0 === object }.map { $0 + 2 }
    }

    @inline(__always) func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
        if let blocks { return try blocks.forEach(body) }
        if let first { try body(first) }
        if let second { try body(second) }
        for object in rest { try body(object) }
    }

    /// What two lists that nobody has changed since one was copied from the other share; nil for few members, which are in the list itself.
    var sharedStorage: ObjectIdentifier? { blocks.map { ObjectIdentifier($0) } }
}

/// Changes.
extension MemberList {
    /// Adds at the end; false where the object is already there.
    @discardableResult mutating func append(_ object: NSManagedObject) -> Bool {
        if blocks != nil { return ownBlocks.append(object) }
        if fewIndex(of: object) != nil { return false }
        if first == nil {
            first = object
        } else if second == nil {
            second = object
        } else if rest.count + 2 < Self.searchLimit {
            rest.append(object)
        } else {
            moveToBlocks().append(object)
        }
        return true
    }

    /// Takes the object out; false where it is not there.
    @discardableResult mutating func remove(_ object: NSManagedObject) -> Bool {
        if blocks != nil {
            guard contains(object) else { return false }
            ownBlocks.remove(object)
            if blocks?.isEmpty == true { blocks = nil }
            return true
        }
        switch fewIndex(of: object) {
        case nil: return false
        case 0: (first, second) = (second, rest.isEmpty ? nil : rest.removeFirst())
        case 1: second = rest.isEmpty ? nil : rest.removeFirst()
        case let index?: rest.remove(at: index - 2)
        }
        return true
    }

    /// Puts the object, which is not in the list, before the one at `index`.
    mutating func insert(_ object: NSManagedObject, at index: Int) {
        precondition(index >= 0 && index <= count, "Index \(index) is not among the \(count) members, nor behind them.")
        if index == count {
            append(object)
        } else if blocks != nil || count == Self.searchLimit {
            (blocks == nil ? moveToBlocks() : ownBlocks).insert(object, at: index)
        } else {
            var objects = array
            objects.insert(object, at: index)
            self = MemberList(objects)
        }
    }

    /// The blocks, of which this list alone knows.
    private var ownBlocks: MemberBlocks {
        mutating get {
            if !isKnownUniquelyReferenced(&blocks) { blocks = blocks?.copy() }
            // Asked for only where there are blocks.
            return blocks!
        }
    }

    private mutating func moveToBlocks() -> MemberBlocks {
        let made = MemberBlocks()
        forEach { made.append($0) }
        (first, second, rest, blocks) = (nil, nil, [], made)
        return made
    }
}

extension MemberList: Sequence {
    /// Goes through the members as they were when it was made.
    struct Iterator: IteratorProtocol {
        fileprivate let list: MemberList
        fileprivate var cursor = MemberBlocks.Cursor()

        mutating func next() -> NSManagedObject? {
            if let blocks = list.blocks { return blocks.next(&cursor) }
            let index = cursor.offset
            cursor.offset += 1
            switch index {
            case 0: return list.first
            case 1: return list.second
            default: return index - 2 < list.rest.count ? list.rest[index - 2] : nil
            }
        }
    }

    func makeIterator() -> Iterator { Iterator(list: self) }
    var underestimatedCount: Int { count }
}
