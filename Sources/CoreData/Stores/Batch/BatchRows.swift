import Foundation

/// The rows of a batch insert, and what becomes of those whose unique values are there already.
package struct BatchRows {
    enum Conflict {
        /// Nothing is inserted.
        case fails
        /// The stored row stays as it is.
        case keepsStored
        /// What was given is written into the stored row.
        case overwritesGiven
        /// The whole row is.
        case overwritesAll
    }

    let entity: NSEntityDescription
    let tape: RowTape
    /// For each row, which slots were given a value; empty where it does not matter.
    let given: [SlotMask]
    let conflict: Conflict
    /// The numbers of the stores to choose from; nil for all.
    let stores: Set<Int32>?
}

/// Collects the rows of a batch insert: fills one row in memory again and again, checks it, and takes it down.
final class BatchRowCollector {
    let entity: NSEntityDescription
    let row: OwnRow
    private let shape: EntityShape
    private let tape: RowTape
    private var given: [SlotMask] = []
    private let notesGiven: Bool
    /// What can be given by name.
    let keys: [Key]
    private let reference: (RowIdentity) -> RowReference?

    struct Key {
        let name: String
        let slot: Int
        let kind: SlotKind
        let property: NSPropertyDescription
        /// Whether a value of the kind's own type is the value that the row holds.
        let isPlain: Bool
    }

    /// - Parameter reference: what an ID is under the coordinator.
    /// - Throws: `CocoaError` 134060 for an abstract entity.
    init(_ entity: NSEntityDescription, notesGiven: Bool, reference: @escaping (RowIdentity) -> RowReference?) throws {
        guard !entity.isAbstract else {
            throw CocoaError.coreData(.coreData, "\(entity.name ?? "?") is abstract: an NSBatchInsertRequest cannot insert objects of it.")
        }
        self.entity = entity
        self.notesGiven = notesGiven
        self.reference = reference
        shape = entity.shape
        row = shape.defaults.copy(keepsBase: false)
        tape = RowTape(shape.layout)
        let shape = shape
        keys = shape.layout.slots.enumerated().compactMap { slot, stored in
            guard stored.kind != .position, let property = shape.attributes[slot] ?? shape.toOnes[slot] else { return nil }
            let type = (property as? NSAttributeDescription)?.attributeType
            let isPlain = type != nil && type != .URIAttributeType && type != .transformableAttributeType
            return Key(name: stored.name, slot: slot, kind: stored.kind, property: property, isPlain: isPlain)
        }
    }

    /// The next row: with the defaults of the model.
    func begin() { row.reset(to: shape.defaults) }

    /// Sets a value by its place among `keys`.
    @inline(__always) func set(_ value: Any, _ key: Key) throws {
        if key.isPlain, store(value, key) { return }
        row.store(try BatchValue(entity: entity, key: key.name).value(value, key.property, reference), at: key.slot)
    }

    /// Stores what is of the row's own type; whether it was.
    @inline(__always) private func store(_ value: Any, _ key: Key) -> Bool {
        switch key.kind {
        case .string:
            guard let text = value as? String else { return false }
            row.string(key.slot).pointee = text
        case .int64, .int32, .int16:
            guard let number = value as? Int else { return false }
            row.slot(key.slot).storeBytes(of: Int64(number), as: Int64.self)
        case .double:
            guard type(of: value) == Double.self, let number = value as? Double else { return false }
            row.slot(key.slot).storeBytes(of: number, as: Double.self)
        case .date:
            guard let date = value as? Date else { return false }
            row.slot(key.slot).storeBytes(of: date, as: Date.self)
        case .uuid:
            guard let uuid = value as? UUID else { return false }
            row.slot(key.slot).storeBytes(of: uuid, as: UUID.self)
        case .boolean:
            guard type(of: value) == Bool.self, let flag = value as? Bool else { return false }
            row.slot(key.slot).storeBytes(of: flag ? 1 : 0, as: Int64.self)
        case .float, .decimal, .binary, .reference, .position: return false
        }
        EntityLayout.clearNull(row.bytes, key.slot)
        return true
    }

    /// Why a name cannot be given a value.
    func refusal(of name: String) -> any Error {
        do {
            _ = try BatchValue(entity: entity, key: name).storedProperty
            return BatchValue(entity: entity, key: name).error(.coreData, "cannot be written")
        } catch { return error }
    }

    /// The row is complete.
    ///
    /// - Parameter slots: what was given.
    /// - Throws: a `CocoaError` that names what is missing, or does not fit.
    func end(_ slots: @autoclosure () -> SlotMask) throws {
        if !isStorable { throw problem() }
        tape.append(row)
        if notesGiven { given.append(slots()) }
    }

    func rows(_ conflict: BatchRows.Conflict, stores: Set<Int32>?) -> BatchRows {
        BatchRows(entity: entity, tape: tape, given: given, conflict: conflict, stores: stores)
    }

    var isEmpty: Bool { tape.records.isEmpty }
}

/// What a row has to have before a store gets it.
extension BatchRowCollector {
    private var isStorable: Bool {
        let bytes = row.bytes
        for (word, mandatory) in shape.mandatoryBits.enumerated() where mandatory != 0 {
            if bytes.load(fromByteOffset: EntityLayout.nullsOffset + 4 * word, as: UInt32.self) & mandatory != 0 { return false }
        }
        return shape.layout.narrowSlots.allSatisfy(fits) && shape.layout.floatingSlots.allSatisfy { !isNaN($0) }
            && shape.layout.referenceSlots.allSatisfy(isSaved)
    }

    private func fits(_ slot: Int) -> Bool {
        let number = row.slot(slot).load(as: Int64.self)
        return shape.layout.kinds[slot] == .int16
            ? number == Int64(Int16(truncatingIfNeeded: number)) : number == Int64(Int32(truncatingIfNeeded: number))
    }

    private func isNaN(_ slot: Int) -> Bool {
        switch shape.layout.kinds[slot] {
        case .double, .date: row.slot(slot).load(as: Double.self).isNaN
        case .float: row.slot(slot).load(as: Float.self).isNaN
        default: row.slot(slot).load(as: Decimal.self).isNaN
        }
    }

    private func isSaved(_ slot: Int) -> Bool {
        EntityLayout.isNull(row.bytes, slot) || row.slot(slot).load(as: RowReference.self).key > 0
    }

    private func problem() -> any Error {
        for key in keys {
            let value = BatchValue(entity: entity, key: key.name)
            let isNull = EntityLayout.isNull(row.bytes, key.slot)
            if shape.isMandatory(key.slot), isNull { return value.missing }
            switch key.kind {
            case .int16 where !fits(key.slot), .int32 where !fits(key.slot):
                return value.misfit(NSNumber(value: row.slot(key.slot).load(as: Int64.self)))
            case .double where isNaN(key.slot), .float where isNaN(key.slot), .decimal where isNaN(key.slot), .date where isNaN(key.slot):
                return value.error(.managedObjectValidation, "is not a number")
            case .reference where !isSaved(key.slot):
                return value.error(.managedObjectReferentialIntegrity, "was set to an object that has never been saved: no store has it")
            default: break
            }
        }
        return CocoaError.coreData(.managedObjectValidation, "A row of \(entity.name ?? "?") cannot be stored.")
    }
}
