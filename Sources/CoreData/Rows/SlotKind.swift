/// How one stored property lies in a row.
@usableFromInline package enum SlotKind: UInt8, Sendable {
    case int16, int32, int64, boolean, float, double, date, uuid
    /// A Foundation `Decimal`, with all its digits.
    case decimal
    /// Text, also that of a URL.
    case string
    /// Data, also what a transformer has made of a value.
    case binary
    /// A to-one relationship: a `RowReference`.
    case reference
    /// The position of this row in the ordered to-many relationship at the other end of a to-one: Core Data's `Z_FOK_` column.
    case position

    /// Bytes in a row of its own, where integers are widened so that one store instruction serves all of them.
    var ownSize: Int {
        switch self {
        case .decimal: 24
        case .uuid, .string, .binary, .reference: 16
        default: 8
        }
    }

    /// Bytes in a row of a batch. Text and data are an offset and a length into the batch's arena.
    var batchSize: Int {
        switch self {
        case .decimal: 24
        case .uuid, .reference: 16
        case .int64, .double, .date, .string, .binary, .position: 8
        case .int32, .float: 4
        case .int16: 2
        case .boolean: 1
        }
    }

    /// Whether the slot of an own row holds a reference-counted value.
    var isManaged: Bool { self == .string || self == .binary }
}

/// What a to-one relationship holds: never a pointer, so that a row belongs to no context.
@usableFromInline package struct RowReference: Hashable, Sendable {
    /// The target's primary key; negative while it is temporary.
    @usableFromInline package var key: Int64
    /// The target's concrete entity, by its index in the model.
    @usableFromInline package var entity: Int32
    /// The coordinator's number of the target's store; 0 while it has none.
    @usableFromInline package var store: Int32

    @usableFromInline package init(key: Int64, entity: Int32, store: Int32) {
        self.key = key
        self.entity = entity
        self.store = store
    }

    /// A temporary key is unique in the process: the object may have been assigned to a store since the reference was made.
    @usableFromInline package static func == (left: RowReference, right: RowReference) -> Bool {
        left.key == right.key && (left.key < 0 || (left.entity == right.entity && left.store == right.store))
    }

    @usableFromInline package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// A set of slots.
package struct SlotMask: Hashable, Sendable {
    private var low: UInt64 = 0
    /// Nil where no slot from 64 on is in the set: nearly always, and copied for nothing.
    private var high: [UInt64]?

    init() {}
    init(low: UInt64) { self.low = low }
    init(_ slots: some Sequence<Int>) { for slot in slots { insert(slot) } }

    var isEmpty: Bool { low == 0 && high == nil }

    package func contains(_ slot: Int) -> Bool {
        if slot < 64 { return low & (1 &<< UInt64(slot)) != 0 }
        guard let high else { return false }
        let word = slot / 64 - 1
        return word < high.count && high[word] & (1 &<< UInt64(slot % 64)) != 0
    }

    mutating func insert(_ slot: Int) {
        if slot < 64 {
            low |= 1 &<< UInt64(slot)
        } else {
            let word = slot / 64 - 1
            var words = high ?? []
            while words.count <= word { words.append(0) }
            words[word] |= 1 &<< UInt64(slot % 64)
            high = words
        }
    }

    mutating func remove(_ slot: Int) {
        guard contains(slot) else { return }
        if slot < 64 { return low &= ~(1 &<< UInt64(slot)) }
        var words = high ?? []
        words[slot / 64 - 1] &= ~(1 &<< UInt64(slot % 64))
        while words.last == 0 { words.removeLast() }
        high = words.isEmpty ? nil : words
    }

    mutating func formUnion(_ other: SlotMask) {
        low |= other.low
        if other.high != nil { other.forEach { insert($0) } }
    }

    func subtracting(_ other: SlotMask) -> SlotMask {
        var rest = self
        rest.low &= ~other.low
        if high != nil, other.high != nil { other.forEach { rest.remove($0) } }
        return rest
    }

    func intersection(_ other: SlotMask) -> SlotMask {
        var common = SlotMask(low: low & other.low)
        if high != nil, other.high != nil { other.forEach { if contains($0) { common.insert($0) } } }
        return common
    }

    func union(_ other: SlotMask) -> SlotMask {
        var union = self
        union.formUnion(other)
        return union
    }

    /// Those of `slots` that are in the set.
    func filter(_ slots: UnsafeBufferPointer<Int>) -> [Int] { slots.filter(contains) }

    /// Calls `body` with each slot, ascending.
    @inline(__always) func forEach(_ body: (Int) throws -> Void) rethrows {
        var word = low
        while word != 0 {
            try body(word.trailingZeroBitCount)
            word &= word - 1
        }
        guard let high else { return }
        for (index, bits) in high.enumerated() {
            var word = bits
            while word != 0 {
                try body(64 * (index + 1) + word.trailingZeroBitCount)
                word &= word - 1
            }
        }
    }
}
