import Foundation
import SQLiteDriver

/// Values that the new version asks for, and what tables have beside their rows. All tables have their new names here.
extension MigrationScript {
    mutating func finish() {
        for change in transition.tables where change.origin != nil {
            clear(change)
            for entity in change.table.entities {
                for attribute in entity.declaredProperties.compactMap({ $0 as? NSAttributeDescription }) {
                    if let column = change.table[attribute] { complete(attribute, column, change) }
                }
            }
            completeKeys(change)
        }
        for join in transition.joins { removeDangling(join) }
        let (indexes, kept) = (Dictionary(file.indexes.map { ($0.name, $0) }) { first, _ in first }, keptTables)
        for (name, sql) in indexStatements(transition.new) {
            if let index = indexes[name], kept.contains(index.table), !droppedIndexes.contains(name), plain(index.sql) == plain(sql) {
                continue
            }
            createIndex(name, sql)
        }
        for sql in lostIndexes.map(\.sql) + lostTriggers.map(\.sql) { run(sql) }
        for derived in transition.new.derivedColumns { ([derived.recomputation].compactMap { $0 } + derived.triggers).forEach { run($0) } }
        numberHistory()
        numberEntities()
    }

    private mutating func clear(_ change: TableChange) {
        for column in change.columns where !column.cleared.isEmpty {
            let rows = "Z_ENT IN (\(Self.list(column.cleared))) AND \(column.name) IS NOT NULL"
            run("UPDATE \(change.table.name) SET \(column.name) = NULL WHERE \(rows)")
        }
    }

    /// Values for objects that are there already.
    private mutating func complete(_ attribute: NSAttributeDescription, _ column: SQLColumn, _ change: TableChange) {
        let transition = transition
        let heirs = ([attribute.entity] + attribute.entity.allSubentities).filter { transition.models.origin(of: $0) != nil }
        let numbered = { (entities: [NSEntityDescription]) in entities.compactMap { transition.new.numbering[$0] } }
        let numbers = { (entities: [NSEntityDescription]) in Self.list(numbered(entities)) }
        let origin = { transition.models.origin(of: attribute, in: $0) as? NSAttributeDescription }
        // NB: before there are defaults, which have the new form.
        let marked = heirs.filter { heir in origin(heir).flatMap { change.origin?[$0] }.map { $0.isMarked != column.isMarked } ?? false }
        if !marked.isEmpty { remark(column, change.table.name, numbered(marked)) }
        if let value = attribute.storedDefault(isMarked: column.isMarked) {
            let without = heirs.filter { origin($0) == nil }
            let update = "UPDATE \(change.table.name) SET \(column.name) = ?1 WHERE Z_ENT IN"
            if !without.isEmpty { run("\(update) (\(numbers(without)))", [value]) }
            let became = attribute.isOptional ? [] : heirs.filter { origin($0)?.isOptional == true }
            if !became.isEmpty { run("\(update) (\(numbers(became))) AND \(column.name) IS NULL", [value]) }
        }
    }

    /// NB: data that may be in files of their own begin with a byte that says where they are; others do not.
    private mutating func remark(_ column: SQLColumn, _ table: String, _ entities: [Int]) {
        let rows = "WHERE Z_ENT IN (\(Self.list(entities))) AND \(column.name) IS NOT NULL"
        guard !column.isMarked else {
            return run("UPDATE \(table) SET \(column.name) = CAST(x'01' || \(column.name) AS BLOB) \(rows)")
        }
        embed(table, column.name, of: entities)
        run("UPDATE \(table) SET \(column.name) = substr(\(column.name), 2) \(rows)")
    }

    private mutating func completeKeys(_ change: TableChange) {
        let table = change.table.name
        let origins = Dictionary(change.columns.map { ($0.name, $0.origin) }) { $1 }
        let mine = change.table.entities.flatMap(\.declaredProperties).compactMap { $0 as? NSRelationshipDescription }
        for relationship in mine where !relationship.isToMany {
            guard let column = change.table[relationship], let target = transition.new.entityIfStored(relationship.destination) else {
                continue
            }
            // Without an old column there is nothing to be wrong, unless it was filled.
            let isFilled = transition.fills.contains { $0.table.name == table && $0.column == column }
            guard origins[column.name] != ColumnChange.Origin.none || isFilled else { continue }
            if losesRows(relationship.destination) { removeDangling(column, of: table, target) }
            if let entityColumn = column.entityColumn, isFilled || mustNumber(entityColumn, origins[entityColumn], relationship) {
                run(
                    """
                    UPDATE \(table) SET \(entityColumn) = (SELECT target.Z_ENT FROM \(target.table) target \
                    WHERE target.Z_PK = \(table).\(column.name)) WHERE \(column.name) IS NOT NULL
                    """
                )
            }
            if let order = column.orderColumn, origins[order] == ColumnChange.Origin.none { number(order, within: column.name, of: table) }
        }
        for (relationship, column) in transition.oneWay[table] ?? [] {
            guard let owner = transition.new.entityIfStored(relationship.entity) else { continue }
            let isFilled = transition.fills.contains { $0.table.name == table && $0.column == column }
            guard origins[column.name] != ColumnChange.Origin.none || isFilled else { continue }
            if losesRows(relationship.entity) { removeDangling(column, of: table, owner) }
            if let order = column.orderColumn, origins[order] == ColumnChange.Origin.none { number(order, within: column.name, of: table) }
        }
    }

    private func mustNumber(_ column: String, _ origin: ColumnChange.Origin?, _ relationship: NSRelationshipDescription) -> Bool {
        guard let origin, origin != .none else { return true }
        let root = relationship.destination.rootEntity
        return ([root] + root.allSubentities).contains { entity in
            transition.models.origin(of: entity).map { transition.old.numbering[$0] != transition.new.numbering[entity] } ?? false
        }
    }

    /// Whether objects that led to an entity's may lead to none any more: some of the tree are gone, or are no longer of it.
    private func losesRows(_ entity: NSEntityDescription) -> Bool { transition.losers.contains(ObjectIdentifier(entity)) }

    private func kinds(of entity: SQLEntity) -> String {
        let kinds = ([entity.description] + entity.description.allSubentities).compactMap { transition.new.numbering[$0] }
        return "SELECT Z_PK FROM \(entity.table) WHERE Z_ENT IN (\(Self.list(kinds)))"
    }

    private mutating func removeDangling(_ column: SQLColumn, of table: String, _ target: SQLEntity) {
        let names = [column.name, column.entityColumn, column.orderColumn].compactMap { $0 }.map { "\($0) = NULL" }.joined(separator: ", ")
        run("UPDATE \(table) SET \(names) WHERE \(column.name) IS NOT NULL AND \(column.name) NOT IN (\(kinds(of: target)))")
    }

    private mutating func removeDangling(_ join: JoinChange) {
        let table = join.table
        for (column, relationship) in [(table.masterColumn, table.master), (table.otherColumn, table.other)] {
            guard losesRows(relationship.entity) || isNarrower(relationship, join),
                let target = transition.new.entityIfStored(relationship.entity)
            else { continue }
            run("DELETE FROM \(table.name) WHERE \(column) NOT IN (\(kinds(of: target)))")
        }
    }

    /// Whether pairs were copied that belong to objects which have the relationship no more.
    private func isNarrower(_ relationship: NSRelationshipDescription, _ join: JoinChange) -> Bool {
        join.origins.contains { origin in
            let leads = origin.isReversed ? join.table.other : join.table.master
            let end = leads === relationship ? origin.relationship.entity : origin.relationship.destination
            return !(end.flatMap(transition.models.successor)?.isKindOf(entity: relationship.entity) ?? false)
        }
    }
}

extension MigrationScript {
    /// The tables that stay, under their names: their indexes have outlasted everything so far.
    var keptTables: Set<String> {
        let tables = transition.tables.filter { $0.isInPlace && $0.origin?.name == $0.table.name }.map(\.table.name)
        return Set(tables + transition.joins.filter { $0.kept?.name == $0.table.name }.map(\.table.name))
    }

    private mutating func createIndex(_ name: String, _ sql: String) {
        if sql.hasPrefix("CREATE UNIQUE"), let (entity, names) = constraint(name) {
            let sqlEntity = transition.new.entity(for: entity)
            let columns = names.compactMap { sqlEntity.columns[$0]?.name }
            let known = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
            refuse(
                "SELECT 1 FROM \(sqlEntity.table) WHERE \(known) GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1",
                .equalObjects(entity, names)
            )
        }
        run(sql)
    }

    private func constraint(_ name: String) -> (NSEntityDescription, [String])? {
        for entity in transition.new.entities.map(\.description) {
            for names in entity.constraintNames where name == "Z_\(entity.name ?? "")_UNIQUE_\(names.joined(separator: "_"))" {
                return (entity, names)
            }
        }
        return nil
    }

    /// NB: the triggers of a table go with it. One that keeps an R-tree index goes on with the table that has its name.
    private var lostTriggers: [StoreFile.Trigger] {
        let rebuilt = transition.tables.filter { $0.manner == .rebuilt && $0.origin?.name == $0.table.name }.map(\.table.name)
        return file.triggers.filter { rebuilt.contains($0.table) && !$0.name.hasPrefix("Z_DA_") }
    }

    /// NB: numbers from 16001 on are the history's.
    private mutating func numberEntities() {
        let changes = Dictionary(transition.tables.map { ($0.table.name, $0) }) { first, _ in first }
        run("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT <= 16000")
        for entity in transition.new.entities {
            let change = entity.superNumber == 0 ? changes[entity.table] : nil
            let highest = change?.origin.flatMap { transition.old.numbering[$0.entities[0]] }.flatMap { file.highestKeys[$0] } ?? 0
            run(
                "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?1, ?2, ?3, ?4)",
                [
                    .integer(Int64(entity.number)), .text(entity.description.name ?? ""), .integer(Int64(entity.superNumber)),
                    .integer(highest),
                ]
            )
        }
    }
}

extension NSAttributeDescription {
    /// The default value as a column has it; nil without one.
    func storedDefault(isMarked: Bool) -> SQLiteValue? {
        guard let defaultValue else { return nil }
        switch SlotValue(defaultValue, for: self) {
        case .null, .reference: return nil
        case .integer(let number): return .integer(number)
        case .boolean(let flag): return .integer(flag ? 1 : 0)
        case .float(let number): return .real(Double(number))
        case .double(let number): return .real(number)
        case .date(let date): return .real(date.timeIntervalSinceReferenceDate)
        case .uuid(let uuid): return .blob(withUnsafeBytes(of: uuid.uuid, Array.init))
        case .string(let text): return .text(text)
        case .binary(let data): return .blob(Array(isMarked ? MarkedData.cell(data) : data))
        case .decimal(let number):
            switch StoredNumber(number) {
            case .integer(let integer): return .integer(integer)
            case .real(let real): return .real(real)
            }
        }
    }
}

extension CocoaError {
    static func equalObjects(_ entity: NSEntityDescription, _ names: [String]) -> CocoaError {
        CocoaError.coreData(
            CocoaError.Code(rawValue: NSMigrationConstraintViolationError),
            "Objects of \(entity.name ?? "") are equal in \(names.joined(separator: ", ")), in which they are to be unique.",
            userInfo: ["entity": entity.name ?? "", "property": names.joined(separator: ",")]
        )
    }
}
