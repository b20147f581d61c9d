import Foundation
import SQLiteDriver

/// What triggers have made of derived attributes in a save: the values that its own rows have in the file, and which other rows have changed.
struct DerivedValues {
    /// By the place of a group in the save, for those with derived attributes: the values of its rows, in the order of the slots.
    private let values: [Int: [Int64: [SlotValue]]]
    /// The keys of rows that were changed, by root entity.
    private let changed: [Int: [Int64]]

    static let none = DerivedValues(values: [:], changed: [:])

    private init(values: [Int: [Int64: [SlotValue]]], changed: [Int: [Int64]]) { (self.values, self.changed) = (values, changed) }

    /// Reads them, before the commit: one statement for each group whose entity has derived attributes.
    init(of run: SaveRun) throws {
        var values: [Int: [Int64: [SlotValue]]] = [:]
        for (place, (_, group)) in run.changes.groups.enumerated() where !group.entity.shape.derivedSlots.isEmpty {
            values[place] = try Self.read(group.updates.map(\.key) + run.insertedKeys[place], group.entity, run)
        }
        self.init(values: values, changed: run.store.changedByTriggers(run.connection))
    }

    private static func read(_ keys: [Int64], _ entity: NSEntityDescription, _ run: SaveRun) throws -> [Int64: [SlotValue]] {
        if keys.isEmpty { return [:] }
        let (shape, stored) = (entity.shape, run.store.schema.entity(for: entity))
        let slots = shape.layout.slots.indices.filter(shape.derivedSlots.contains)
        let names = [SQLNames.key] + slots.compactMap { stored.columns[shape.layout.slots[$0].name]?.name }
        let sql = "SELECT \(names.joined(separator: ", ")) FROM \(stored.table) WHERE \(SQLNames.key) IN \(SQLDialect.list)"
        var values: [Int64: [SlotValue]] = [:]
        for row in try run.connection.rows(sql, [.keys(keys)]) {
            guard case .integer(let key) = row[0] else { continue }
            values[key] = zip(slots, row.dropFirst()).map { SlotValue($1, as: shape.layout.kinds[$0]) }
        }
        return values
    }

    /// Puts the values into the rows of a group.
    func complete(_ group: ChangeSet.Group, at place: Int, insertedKeys: ContiguousArray<Int64>) {
        guard let values = values[place] else { return }
        let slots = group.entity.shape.layout.slots.indices.filter(group.entity.shape.derivedSlots.contains)
        func complete(_ row: Row, _ key: Int64) {
            guard row.isOwn, let values = values[key] else { return }
            for (slot, value) in zip(slots, values) { row.own.store(value, at: slot) }
        }
        for update in group.updates { complete(update.row, update.key) }
        for (insert, key) in zip(group.inserts, insertedKeys) { complete(insert.row, key) }
    }

    /// Rows that were changed and that the save has not written itself, by root entity: what is known of them is out of date.
    func changedRows(besides groups: @autoclosure () -> [(entity: NSEntityDescription, keys: [Int64])]) -> [Int: [Int64]] {
        guard !changed.isEmpty else { return [:] }
        let written = Dictionary(groups().map { ($0.entity.rootEntity.index, Set($0.keys)) }) { $0.union($1) }
        return Dictionary(uniqueKeysWithValues: changed.map { root, keys in (root, keys.filter { written[root]?.contains($0) != true }) })
    }
}

extension SQLiteStore {
    /// The keys of the rows that triggers have told of since this was last asked, by root entity; each once.
    func changedByTriggers(_ connection: Connection) -> [Int: [Int64]] {
        let rows = connection.takeReportedRows()
        guard !rows.isEmpty else { return [:] }
        var keys: [Int: Set<Int64>] = [:]
        for (number, key) in rows {
            guard let entity = schema.entity(numbered: Int(truncatingIfNeeded: number))?.description else { continue }
            keys[entity.rootEntity.index, default: []].insert(key)
        }
        return keys.mapValues(Array.init)
    }
}

extension SlotValue {
    /// What a column has, for a slot of this kind: the same as who reads the row gets.
    fileprivate init(_ value: SQLiteValue, as kind: SlotKind) {
        switch (kind, value) {
        case (.int16, .integer(let number)), (.int32, .integer(let number)), (.int64, .integer(let number)):
            self = .integer(Self.narrow(number, kind))
        case (.int16, .real(let number)), (.int32, .real(let number)), (.int64, .real(let number)):
            self = .integer(Self.narrow(Int64(clamped: number), kind))
        case (.boolean, .integer(let number)): self = .boolean(number != 0)
        case (.float, _): self = value.double.map { .float(Float($0)) } ?? .null
        case (.double, _): self = value.double.map(SlotValue.double) ?? .null
        case (.date, _): self = value.double.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
        case (.decimal, .integer(let number)): self = .decimal(StoredNumber.integer(number).decimal)
        case (.decimal, .real(let number)): self = .decimal(StoredNumber.real(number).decimal)
        case (.string, .text(let text)): self = .string(text)
        case (.binary, .blob(let bytes)): self = .binary(Data(bytes))
        case (.uuid, .blob(let bytes)) where bytes.count == 16:
            self = .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        default: self = .null
        }
    }

    /// NB: a sum may be more than its attribute holds. As it is, validation would refuse the next save of the object.
    private static func narrow(_ number: Int64, _ kind: SlotKind) -> Int64 {
        switch kind {
        case .int16: Int64(Int16(truncatingIfNeeded: number))
        case .int32: Int64(Int32(truncatingIfNeeded: number))
        default: number
        }
    }
}

extension SQLiteValue {
    fileprivate var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }
}

extension Int64 {
    /// As SQLite converts a number to an integer.
    fileprivate init(clamped number: Double) {
        self = Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
    }
}
