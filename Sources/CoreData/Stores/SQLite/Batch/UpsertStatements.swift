import Foundation
import SQLiteDriver

/// What a statement of a batch insert says of rows whose unique values are there already.
struct UpsertStatements {
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
        case .overwritesAll: statements.shape.propertySlots
        case .fails, .keepsStored: SlotMask()
        }
    }

    func sql(_ mask: SlotMask, returnsKey: Bool) -> String {
        var text = statements.insertOne
        for constraint in constraints {
            let assignments = assignments(mask, except: constraint.columns)
            let written = assignments.isEmpty ? [] : assignments + [SQLDialect.advanceVersion]
            text += SQLDialect.onConflict(constraint.columns, written, unless: meetsTwo)
        }
        return returnsKey ? text + SQLDialect.returning("\(SQLNames.key), \(SQLNames.entity)") : text
    }

    /// Whether another row than the one that is met has unique values of the new one, too; nil where that cannot be, or does not matter.
    ///
    /// NB: writing them breaks the index by itself only where the row that is met has all these columns, and all are written.
    private var meetsTwo: String? {
        guard constraints.count > 1, rows.conflict != .keepsStored else { return nil }
        let isOther = "\(SQLNames.key(of: "o")) <> \(SQLNames.key(of: entity.table))"
        return "EXISTS (SELECT 1 FROM \(entity.table) o WHERE \(isOther) AND (\(meets(SQLDialect.proposed))))"
    }

    /// Whether a row `o` has unique values of the new one.
    private func meets(_ new: (String) -> String) -> String {
        constraints.map { "(" + $0.columns.map { "o.\($0) = \(new($0))" }.joined(separator: " AND ") + ")" }.joined(separator: " OR ")
    }

    /// The properties that are written where a row is there already. Those that every constraint has are what it was met by.
    func names(_ mask: SlotMask) -> [String] {
        let met = constraints.dropFirst().reduce(Set(constraints[0].names)) { $0.intersection($1.names) }
        let properties = statements.shape.layout.slots.enumerated().filter { mask.contains($0) && $1.kind != .position }
        return properties.map(\.element.name).filter { !met.contains($0) }
    }

    /// What a to-one relationship, one of many at the other end, says of a row that is there: whether it gets another target, and which it had.
    struct Transfer {
        let slot: Int
        let inverse: NSRelationshipDescription
        /// One row for each that has a unique value of the new one: whether the relationship is written with another target than it has, and key and
        /// entity of that, if it has one. No row: there is none. The parameters are those of the INSERT.
        let sql: String
    }

    /// For each such relationship that is written.
    func transfers(_ mask: SlotMask) -> [Transfer] {
        statements.shape.toOnes.enumerated().compactMap { slot, relationship in
            guard let relationship, mask.contains(slot), let inverse = relationship.inverse, inverse.isToMany,
                let column = columns[slot].first, let owners = schema.entityIfStored(relationship.destination)?.table
            else { return nil }
            let names = [SQLNames.key] + columns.joined()
            let places = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            let isWritten = self.owners[relationship.name].map { " AND o.\(SQLNames.entity) IN (\($0))" } ?? ""
            return Transfer(
                slot: slot,
                inverse: inverse,
                sql: """
                    WITH r(\(names.joined(separator: ", "))) AS (VALUES(\(places))) \
                    SELECT \(SQLDialect.isOther("o.\(column)", "r.\(column)"))\(isWritten), \(SQLNames.reference("d")) FROM r \
                    \(SQLDialect.joinInOrder) \(entity.table) o ON \(meets { "r.\($0)" }) \
                    LEFT \(SQLNames.join(owners, "d", on: "o.\(column)"))
                    """
            )
        }
    }

    private func assignments(_ mask: SlotMask, except equal: [String]) -> [String] {
        statements.shape.layout.slots.enumerated().flatMap { slot, property -> [String] in
            guard mask.contains(slot) else { return [] }
            let written = columns[slot].filter { !equal.contains($0) }.map { ($0, SQLDialect.proposed($0)) }
            return (written + position(beside: slot)).map { column, value in
                guard let numbers = owners[property.name] else { return "\(column) = \(value)" }
                let isOwner = "\(SQLNames.entity(of: entity.table)) IN (\(numbers))"
                return "\(column) = CASE WHEN \(isOwner) THEN \(value) ELSE \(entity.table).\(column) END"
            }
        }
    }

    /// The place in an ordered relationship goes with its owner: with the same one it stays.
    private func position(beside slot: Int) -> [(column: String, value: String)] {
        guard let reference = columns[slot].first, let position = statements.shape.positionSlots[slot], let column = columns[position].first
        else { return [] }
        let isSame = SQLDialect.isSame("\(entity.table).\(reference)", SQLDialect.proposed(reference))
        return [(column, "CASE WHEN \(isSame) THEN \(entity.table).\(column) ELSE \(SQLDialect.proposed(column)) END")]
    }
}
