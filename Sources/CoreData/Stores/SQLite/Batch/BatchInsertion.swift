import CSQLite
import Foundation
import SQLiteDriver

/// Inserts the rows of a batch: many with one statement where no unique value can be in the way of one, else each with a statement that says what
/// becomes of it then.
struct BatchInsertion {
    private let store: SQLiteStore
    private let connection: Connection
    private let rows: BatchRows
    private let collectsKeys: Bool
    /// By slot, for those that are one-to-one and that a row writes.
    private var pairings: [Int: BatchPairing] = [:]
    /// By slot, the one whose pairing has this end as well: rows write both, and a later row is to win, whichever end it names.
    private var otherEnds: [Int: Int] = [:]
    /// The slots of both.
    private var pairedSlots: [Int] = []
    private let statements: SaveStatements
    private let binder: TapeBinder
    private var changes = BatchChanges()
    private var touched = TouchedRows()

    init(_ store: SQLiteStore, _ connection: Connection, _ rows: BatchRows, collectsKeys: Bool) {
        (self.store, self.connection, self.rows) = (store, connection, rows)
        statements = store.saveStatements(rows.entity)
        pairings = Self.pairings(rows, store, connection)
        pairedSlots = pairings.keys.sorted()
        otherEnds = Self.otherEnds(pairings, rows.entity)
        for slot in otherEnds.keys { pairings[slot] = nil }
        // Who is paired has to be known by key, and who is written and gets a member, too.
        self.collectsKeys = collectsKeys || !pairings.isEmpty || Self.mayMeetItsOwners(rows)
        binder = TapeBinder(statements.steps, store: store)
    }

    private var records: [UnsafeMutableRawPointer] { rows.tape.records }

    mutating func run() throws -> BatchChanges {
        guard !records.isEmpty else { return changes }
        try requireTargets()
        try assignPositions()
        let first = try store.reserveKeys(records.count, root: store.schema.entity(for: rows.entity).rootNumber, connection)
        let conflict = UpsertStatements(store.schema, rows, statements)
        do {
            if let conflict { try upsert(conflict, first) } else { try insert(first) }
        } catch let refused as RefusedValue {
            throw refused.error(rows.entity, url: store.url)
        } catch let error as SQLiteError where SQLDialect.isFailure(error) {
            throw Self.twoRows(rows.entity)
        }
        for slot in pairings.keys.sorted() { try pairings[slot]?.write(&touched) }
        excludeWritten()
        try touched.advance(store, connection)
        changes.updated += touched.rows
        return changes
    }

    /// The objects that rows lead to are there, in this store.
    private func requireTargets() throws {
        for slot in statements.shape.layout.referenceSlots {
            let offset = Int(statements.shape.layout.ownOffsets[slot])
            var targets: Set<RowReference> = []
            for record in records where !EntityLayout.isNull(record, slot) { targets.insert((record + offset).load(as: RowReference.self)) }
            let value = BatchValue(entity: rows.entity, key: statements.shape.layout.slots[slot].name)
            try BatchTargets(store: store, connection: connection).require(targets, for: value)
        }
    }

    /// Rows go to the end of the ordered relationships that they are in; one that is in it already stays where it is, as its statement says.
    private func assignPositions() throws {
        let layout = statements.shape.layout
        for position in statements.positions {
            for record in records where !EntityLayout.isNull(record, position.reference) {
                (record + Int(layout.ownOffsets[position.slot])).storeBytes(of: try position.mark.next(connection), as: Int64.self)
                EntityLayout.clearNull(record, position.slot)
            }
        }
    }

    private mutating func insert(_ first: Int64) throws {
        let count = statements.rowsPerInsert(connection)
        var next = 0
        if records.count >= count {
            try connection.withCached(statements.insert(rows: count)) { statement in
                while next + count <= records.count {
                    try insert(next..<next + count, first, statement)
                    next += count
                }
            }
        }
        try connection.withCached(statements.insertOne) { statement in
            for index in next..<records.count { try insert(index..<index + 1, first, statement) }
        }
        if !pairings.isEmpty { for index in records.indices { pair(index, (first + Int64(index), rows.entity.index), nil) } }
        let memberships = memberships
        if !memberships.isEmpty { for index in records.indices { touchOwners(ofNew: index, memberships) } }
        changes.count = records.count
        if collectsKeys {
            changes.inserted = [BatchChanges.Rows(entity: rows.entity.index, keys: Array(first..<first + Int64(records.count)))]
        }
    }

    private static func twoRows(_ entity: NSEntityDescription) -> CocoaError {
        .coreData(
            .managedObjectConstraintMerge,
            "A row of an NSBatchInsertRequest of \(entity.name ?? "?") has unique values of two that are there, and cannot be both: nothing was written."
        )
    }

    private func insert(_ range: Range<Int>, _ first: Int64, _ statement: Statement) throws {
        var parameter: Int32 = 1
        for index in range {
            try statement.requireBound(sqlite3_bind_int64(statement.handle, parameter, first + Int64(index)))
            parameter = try binder.bind(records[index], to: statement.handle, from: parameter + 1)
        }
        try statement.run()
        try IgnoredRows.require(connection.changes, of: range.count, rows.entity)
    }

    /// One statement for each row. Whether a row was new shows by its key.
    private mutating func upsert(_ upserts: UpsertStatements, _ first: Int64) throws {
        var written = WrittenRows()
        var index = 0
        while index < records.count {
            let mask = upserts.mask(index)
            let transfers = upserts.transfers(mask)
            // Of those a row has something to say only where it is new.
            let others = memberships.filter { !mask.contains($0.slot) }
            try connection.withCached(upserts.sql(mask, returnsKey: collectsKeys)) { statement in
                repeat {
                    let key = first + Int64(index)
                    for transfer in transfers { try touchOwners(by: transfer, index, key) }
                    try bind(index, key, to: statement)
                    if try run(statement, index, key, mask, &written) { touchOwners(ofNew: index, others) }
                    index += 1
                } while index < records.count && upserts.mask(index) == mask
            }
        }
        note(written, upserts, first)
    }

    /// Says whether the row was written, and notes where.
    private mutating func run(
        _ statement: Statement,
        _ index: Int,
        _ key: Int64,
        _ mask: SlotMask,
        _ written: inout WrittenRows
    ) throws -> Bool {
        guard collectsKeys else {
            try statement.run()
            changes.count += connection.changes
            return connection.changes > 0
        }
        let isWritten = try statement.step()
        if isWritten {
            let isNew = statement.int(0) == key
            written.add(statement.int(0), entity: Int(statement.int(1)), mask, isNew: isNew)
            if let entity = store.schema.entity(numbered: Int(statement.int(1)))?.description {
                pair(index, (statement.int(0), entity.index), isNew ? nil : mask)
            }
        }
        statement.reset()
        return isWritten
    }

    private func bind(_ index: Int, _ key: Int64, to statement: Statement) throws {
        try statement.requireBound(sqlite3_bind_int64(statement.handle, 1, key))
        _ = try binder.bind(records[index], to: statement.handle, from: 2)
    }

    private mutating func note(_ written: WrittenRows, _ upserts: UpsertStatements, _ first: Int64) {
        guard collectsKeys else { return changes.unlistedRoots = [rows.entity.rootEntity.index] }
        let updated = written.updated(before: first)
        changes.count = written.inserted.count + updated.reduce(0) { $0 + $1.keys.count }
        changes.inserted = [BatchChanges.Rows(entity: rows.entity.index, keys: written.inserted)]
        changes.updated = updated.map { write, keys in
            let entity = store.schema.entity(numbered: write.entity)?.description ?? rows.entity
            return BatchChanges.Rows(entity: entity.index, keys: keys, properties: upserts.names(write.slots))
        }
    }
}

/// Both ends of a one-to-one relationship have a column.
extension BatchInsertion {
    private static func pairings(_ rows: BatchRows, _ store: SQLiteStore, _ connection: Connection) -> [Int: BatchPairing] {
        var pairings: [Int: BatchPairing] = [:]
        for case let (slot, relationship?) in rows.entity.shape.toOnes.enumerated() {
            guard let pairing = BatchPairing(relationship, store, connection) else { continue }
            let isWritten = rows.conflict == .overwritesAll || rows.given.contains { $0.contains(slot) }
            if isWritten || rows.tape.records.contains(where: { !EntityLayout.isNull($0, slot) }) { pairings[slot] = pairing }
        }
        return pairings
    }

    private static func otherEnds(_ pairings: [Int: BatchPairing], _ entity: NSEntityDescription) -> [Int: Int] {
        let toOnes = entity.shape.toOnes
        var others: [Int: Int] = [:]
        for slot in pairings.keys {
            guard let inverse = toOnes[slot]?.inverse, entity.isKindOf(entity: inverse.entity) else { continue }
            others[slot] = pairings.keys.first { $0 < slot && toOnes[$0]?.name == inverse.name }
        }
        return others
    }

    /// - Parameter mask: what was written of a row that was there already.
    private mutating func pair(_ index: Int, _ row: KeyReader.Found, _ mask: SlotMask?) {
        for slot in pairedSlots {
            let isNull = EntityLayout.isNull(records[index], slot)
            guard mask?.contains(slot) ?? !isNull, isThere(slot, row.entity) else { continue }
            let target = (records[index] + Int(statements.shape.layout.ownOffsets[slot])).load(as: RowReference.self)
            let end = isNull ? nil : target
            if let other = otherEnds[slot] { pairings[other]?.addInverse(row, end) } else { pairings[slot]?.add(row, end) }
        }
    }

    /// Whether a row that is there, which may be of another entity of the tree, has the relationship.
    private func isThere(_ slot: Int, _ entity: Int) -> Bool {
        let name = statements.shape.layout.slots[slot].name
        let columns = store.schema.entity(for: store.model.entitiesInIndexOrder[entity]).columns
        return columns[name] == store.schema.entity(for: rows.entity).columns[name]
    }

    /// The versions of rows that were written are as they should be.
    private mutating func excludeWritten() {
        let root = rows.entity.rootEntity.index
        for rows in changes.inserted { touched.exclude(inserted: rows.keys, entity: rows.entity, root: root) }
        for rows in changes.updated { touched.exclude(rows.keys, root: root) }
    }
}

/// Who gets a member counts as changed, and who loses one.
extension BatchInsertion {
    /// Whether rows may be written that are there already, and others of the request lead to.
    private static func mayMeetItsOwners(_ rows: BatchRows) -> Bool {
        if case .fails = rows.conflict { return false }
        return rows.entity.shape.toOnes.contains { $0?.inverse?.isToMany == true && $0?.destination.rootEntity === rows.entity.rootEntity }
    }

    /// A to-one relationship that is one of many at the other end.
    private struct Membership {
        let slot: Int
        let inverse: NSRelationshipDescription
    }

    private var memberships: [Membership] {
        statements.shape.toOnes.enumerated().compactMap { slot, relationship in
            guard let inverse = relationship?.inverse, inverse.isToMany else { return nil }
            return Membership(slot: slot, inverse: inverse)
        }
    }

    private mutating func touchOwners(ofNew index: Int, _ memberships: [Membership]) {
        for membership in memberships { touchOwner(of: index, membership.slot, membership.inverse) }
    }

    private mutating func touchOwner(of index: Int, _ slot: Int, _ inverse: NSRelationshipDescription) {
        let record = records[index]
        guard !EntityLayout.isNull(record, slot) else { return }
        let owner = (record + Int(statements.shape.layout.ownOffsets[slot])).load(as: RowReference.self)
        touched.add((owner.key, Int(owner.entity)), inverse.name, root: inverse.entity.rootEntity.index)
    }

    /// The owners of a row that is about to be written: of one that is there the former and the new one, unless they are the same.
    private mutating func touchOwners(by transfer: UpsertStatements.Transfer, _ index: Int, _ key: Int64) throws {
        var (isMet, moves) = (false, false)
        try connection.withCached(transfer.sql) { statement in
            try bind(index, key, to: statement)
            while try statement.step() {
                isMet = true
                if statement.int(0) == 0 { continue }
                moves = true
                guard let entity = store.schema.entity(numbered: Int(statement.int(2))) else { continue }
                let inverse = transfer.inverse
                touched.add((statement.int(1), entity.description.index), inverse.name, root: inverse.entity.rootEntity.index)
            }
        }
        if moves || !isMet { touchOwner(of: index, transfer.slot, transfer.inverse) }
    }
}

/// What upserts have written, each row once.
private struct WrittenRows {
    private(set) var inserted: [Int64] = []
    private var updated: [Int64: Write] = [:]

    /// A kind of write: the number of the row's entity, which may be any of the tree, and the slots.
    struct Write: Hashable {
        let entity: Int
        var slots: SlotMask
    }

    mutating func add(_ key: Int64, entity: Int, _ slots: SlotMask, isNew: Bool) {
        if isNew { return inserted.append(key) }
        updated[key, default: Write(entity: entity, slots: SlotMask())].slots.formUnion(slots)
    }

    /// The rows that were there, those with lower keys than the request's first: one that an earlier row of it has inserted is new.
    func updated(before first: Int64) -> [(write: Write, keys: [Int64])] {
        var keys: [Write: [Int64]] = [:]
        for (key, write) in updated where key < first { keys[write, default: []].append(key) }
        return keys.map { (write: $0, keys: $1.sorted()) }.sorted { ($0.write.entity, $0.keys[0]) < ($1.write.entity, $1.keys[0]) }
    }
}
