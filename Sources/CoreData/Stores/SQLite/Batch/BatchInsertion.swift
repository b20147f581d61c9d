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
    private let statements: SaveStatements
    private let binder: TapeBinder
    private var changes = BatchChanges()
    private var touched = TouchedRows()
    /// Rows, by their place, that gave way to what was there.
    private var skipped: Set<Int> = []

    init(_ store: SQLiteStore, _ connection: Connection, _ rows: BatchRows, collectsKeys: Bool) {
        (self.store, self.connection, self.rows, self.collectsKeys) = (store, connection, rows, collectsKeys)
        statements = store.saveStatements(rows.entity)
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
        }
        try touchOwners()
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

    /// Rows go to the end of the ordered relationships that they are in.
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
        changes.count = records.count
        if collectsKeys {
            changes.inserted = [BatchChanges.Rows(entity: rows.entity.index, keys: Array(first..<first + Int64(records.count)))]
        }
    }

    private func insert(_ range: Range<Int>, _ first: Int64, _ statement: Statement) throws {
        var parameter: Int32 = 1
        for index in range {
            try statement.requireBound(sqlite3_bind_int64(statement.handle, parameter, first + Int64(index)))
            parameter = try binder.bind(records[index], to: statement.handle, from: parameter + 1)
        }
        try statement.run()
    }

    /// One statement for each row. Whether a row was new shows by its key.
    private mutating func upsert(_ upserts: UpsertStatements, _ first: Int64) throws {
        var (inserted, updated): ([Int64], [Int: Set<Int64>]) = ([], [:])
        var index = 0
        while index < records.count {
            let mask = upserts.mask(index)
            let owners = upserts.formerOwners(mask)
            try connection.withCached(upserts.sql(mask, returnsKey: collectsKeys)) { statement in
                repeat {
                    let key = first + Int64(index)
                    for owner in owners { try touchFormer(owner, index, key) }
                    try bind(index, key, to: statement)
                    if collectsKeys {
                        let isWritten = try statement.step()
                        let found = isWritten ? statement.int(0) : 0
                        if !isWritten { skipped.insert(index) }
                        // One that an earlier row of the request has inserted is new.
                        if found == key {
                            inserted.append(key)
                        } else if isWritten, found < first {
                            updated[Int(statement.int(1)), default: []].insert(found)
                        }
                        statement.reset()
                    } else {
                        try statement.run()
                        changes.count += connection.changes
                        if connection.changes == 0 { skipped.insert(index) }
                    }
                    index += 1
                } while index < records.count && upserts.mask(index) == mask
            }
        }
        note(inserted, updated)
    }

    private func bind(_ index: Int, _ key: Int64, to statement: Statement) throws {
        try statement.requireBound(sqlite3_bind_int64(statement.handle, 1, key))
        _ = try binder.bind(records[index], to: statement.handle, from: 2)
    }

    /// Who has the row that is about to be given to somebody else loses it.
    private mutating func touchFormer(_ owner: UpsertStatements.FormerOwner, _ index: Int, _ key: Int64) throws {
        let rows = try KeyReader(store: store, connection: connection).rows(owner.sql) { try bind(index, key, to: $0) }
        for row in rows { touched.add(row, owner.inverse.name, root: owner.inverse.entity.rootEntity.index) }
    }

    /// - Parameter updated: the keys by the number of the row's entity, which may be any of the tree.
    private mutating func note(_ inserted: [Int64], _ updated: [Int: Set<Int64>]) {
        guard collectsKeys else { return changes.unlistedRoots = [rows.entity.rootEntity.index] }
        changes.count = updated.values.reduce(inserted.count) { $0 + $1.count }
        changes.inserted = [BatchChanges.Rows(entity: rows.entity.index, keys: inserted)]
        let names = statements.shape.layout.slots.filter { $0.kind != .position }.map(\.name)
        changes.updated = updated.sorted { $0.key < $1.key }.map { number, keys in
            let entity = store.schema.entity(numbered: number)?.description ?? rows.entity
            return BatchChanges.Rows(entity: entity.index, keys: keys.sorted(), properties: names)
        }
    }

    /// Who gets a member counts as changed.
    private mutating func touchOwners() throws {
        for case let (slot, relationship?) in statements.shape.toOnes.enumerated() {
            guard let inverse = relationship.inverse, inverse.isToMany else { continue }
            let offset = Int(statements.shape.layout.ownOffsets[slot])
            for (index, record) in records.enumerated() where !EntityLayout.isNull(record, slot) && !skipped.contains(index) {
                let owner = (record + offset).load(as: RowReference.self)
                touched.add((owner.key, Int(owner.entity)), inverse.name, root: relationship.destination.rootEntity.index)
            }
        }
        try touched.advance(store, connection)
        changes.updated += touched.rows
    }
}

/// What a statement of a batch insert says of rows whose unique values are there already.
private struct UpsertStatements {
    private let schema: SQLSchema
    private let rows: BatchRows
    private let statements: SaveStatements
    private let constraints: [TableConstraint]
    private let entity: SQLEntity
    private let columns: [[String]]
    /// The numbers of the entities that have a column, where not all of the tree do.
    private let owners: [String: String]

    /// Nil where a row that is there already is an error.
    init?(_ schema: SQLSchema, _ rows: BatchRows, _ statements: SaveStatements) {
        guard case .fails = rows.conflict else {
            let entity = schema.entity(for: rows.entity)
            let own = TableConstraint.all(ofTreeOf: rows.entity, schema).filter { $0.slots(in: entity) != nil }
            guard !own.isEmpty else { return nil }
            (self.schema, self.rows, self.statements, self.entity, constraints) = (schema, rows, statements, entity, own)
            columns = statements.columns
            owners = Self.owners(rows.entity, entity, schema)
            return
        }
        return nil
    }

    private var oneToOneSlots: SlotMask {
        var slots = SlotMask()
        for case let (slot, relationship?) in statements.shape.toOnes.enumerated() where relationship.inverse?.isToMany == false {
            slots.insert(slot)
        }
        return slots
    }

    private static func owners(_ description: NSEntityDescription, _ entity: SQLEntity, _ schema: SQLSchema) -> [String: String] {
        let tree = schema.subtree(of: description.rootEntity)
        var owners: [String: String] = [:]
        for (name, column) in entity.columns {
            let having = tree.filter { $0.columns[name] == column }
            if having.count < tree.count { owners[name] = having.map { String($0.number) }.joined(separator: ",") }
        }
        return owners
    }

    /// The slots that a row writes where it is there already.
    func mask(_ index: Int) -> SlotMask {
        switch rows.conflict {
        case .overwritesGiven: rows.given[index]
        // One end of two that are to-one stays: the other end has a column, too.
        case .overwritesAll: statements.shape.propertySlots.subtracting(oneToOneSlots)
        case .fails, .keepsStored: SlotMask()
        }
    }

    func sql(_ mask: SlotMask, returnsKey: Bool) -> String {
        var text = statements.insertOne
        for constraint in constraints {
            let assignments = assignments(mask, except: constraint.columns)
            let action = assignments.isEmpty ? "NOTHING" : "UPDATE SET \((assignments + [BatchUpdating.advance]).joined(separator: ", "))"
            text += " ON CONFLICT(\(constraint.columns.joined(separator: ", "))) DO \(action)"
        }
        return returnsKey ? text + " RETURNING Z_PK, Z_ENT" : text
    }

    /// The query for the objects that a row is taken from, as its unique values are those of a row of theirs. Its parameters are those of the INSERT.
    struct FormerOwner {
        let inverse: NSRelationshipDescription
        let sql: String
    }

    /// For each to-one relationship that is written, and is one of many at the other end.
    func formerOwners(_ mask: SlotMask) -> [FormerOwner] {
        statements.shape.toOnes.enumerated().compactMap { slot, relationship in
            guard let relationship, mask.contains(slot), let inverse = relationship.inverse, inverse.isToMany,
                let column = columns[slot].first, let owners = schema.entityIfStored(relationship.destination)?.table
            else { return nil }
            let names = ["Z_PK"] + columns.joined()
            let places = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            let meets = constraints.map { "(" + $0.columns.map { "o.\($0) = r.\($0)" }.joined(separator: " AND ") + ")" }
            let isWritten = self.owners[relationship.name].map { " AND o.Z_ENT IN (\($0))" } ?? ""
            return FormerOwner(
                inverse: inverse,
                sql: """
                    WITH r(\(names.joined(separator: ", "))) AS (VALUES(\(places))) SELECT d.Z_PK, d.Z_ENT FROM r \
                    CROSS JOIN \(entity.table) o ON \(meets.joined(separator: " OR ")) JOIN \(owners) d ON d.Z_PK = o.\(column) \
                    WHERE o.\(column) IS NOT r.\(column)\(isWritten)
                    """
            )
        }
    }

    private func assignments(_ mask: SlotMask, except equal: [String]) -> [String] {
        var mask = mask
        statements.shape.addPositions(to: &mask)
        return statements.shape.layout.slots.enumerated().flatMap { slot, property -> [String] in
            guard mask.contains(slot) else { return [] }
            return columns[slot].filter { !equal.contains($0) }.map { column in
                guard let numbers = owners[property.name] else { return "\(column) = excluded.\(column)" }
                return
                    "\(column) = CASE WHEN \(entity.table).Z_ENT IN (\(numbers)) THEN excluded.\(column) ELSE \(entity.table).\(column) END"
            }
        }
    }
}
