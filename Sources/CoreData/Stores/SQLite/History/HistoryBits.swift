/// Which bit stands for which property in the history of an entity's updates: in binary name order, the first is the highest of the first byte.
struct HistoryBits {
    private let properties: [NSPropertyDescription]
    private let slots: [Int?]
    private let toManys: [Int?]

    init(_ entity: NSEntityDescription) {
        properties = entity.propertiesInNameOrder.filter { !($0 is NSFetchedPropertyDescription) }
        let bits = Dictionary(properties.enumerated().map { ($1.name, $0) }) { $1 }
        // Positions in ordered relationships are no properties.
        slots = entity.shape.layout.slots.map { $0.kind == .position ? nil : bits[$0.name] }
        toManys = entity.shape.toManys.map { bits[$0.name] }
    }

    /// Whether each bit stands for what it stood for in an older version of the entity.
    ///
    /// - Parameter origin: the name that a property had then.
    func meansSame(as older: HistoryBits, origin: (NSPropertyDescription) -> String?) -> Bool {
        older.properties.map { $0.name } == properties.map(origin)
    }

    private var byteCount: Int { properties.count / 8 + 1 }

    func bytes(_ changedSlots: SlotMask, _ changedToManys: SlotMask) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        func set(_ bit: Int?) { if let bit { bytes[bit / 8] |= 0x80 >> UInt8(bit % 8) } }
        changedSlots.forEach { set(slots[$0]) }
        changedToManys.forEach { set(toManys[$0]) }
        return bytes
    }

    /// Nil for the bits of another version of the entity.
    func properties(in bytes: [UInt8]) -> Set<NSPropertyDescription>? {
        guard bytes.count == byteCount else { return nil }
        return Set(properties.enumerated().lazy.filter { bytes[$0.offset / 8] & 0x80 >> UInt8($0.offset % 8) != 0 }.map(\.element))
    }
}

extension SQLiteStore {
    func historyBits(_ entity: NSEntityDescription) -> HistoryBits {
        entityStatements.withLock { known in
            if let bits = known[entity.index]?.history { return bits }
            let bits = HistoryBits(entity)
            known[entity.index, default: EntityStatements()].history = bits
            return bits
        }
    }
}
