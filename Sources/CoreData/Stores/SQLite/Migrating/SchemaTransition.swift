import ModelCompiler

/// What becomes of the tables of a store with another version of its model: pure, from the two schemas.
struct SchemaTransition {
    let models: ModelTransition
    let old: SQLSchema
    let new: SQLSchema
    let tables: [TableChange]
    let joins: [JoinChange]
    let fills: [KeyFill]
    /// By the name of the new table that they lead to: the to-many relationships without inverse, with the keys of their owners.
    let oneWay: [String: [(relationship: NSRelationshipDescription, column: SQLColumn)]]
    /// Entities of which objects may be gone, or no longer of them, that something led to.
    let losers: Set<ObjectIdentifier>

    /// - Parameter mustBeRebuilt: names of old tables that `ALTER TABLE` cannot change.
    init(_ models: ModelTransition, from old: SQLSchema, to new: SQLSchema, mustBeRebuilt: Set<String>) {
        let planner = TablePlanner(models: models, old: old, new: new, mustBeRebuilt: mustBeRebuilt)
        (self.models, self.old, self.new) = (models, old, new)
        oneWay = planner.oneWay
        losers = Self.losers(models, old)
        tables = planner.changes()
        joins = new.joinTables.map(planner.change)
        fills = tables.flatMap(planner.fills)
    }

    /// The old tables whose rows are all gone.
    var droppedTables: [SQLTable] {
        let used = Set(tables.compactMap { $0.origin?.name })
        return old.tables.filter { !used.contains($0.name) }
    }

    /// The old join tables that nothing keeps as they are.
    var droppedJoins: [SQLJoinTable] {
        let kept = Set(joins.compactMap { $0.kept?.name })
        return old.joinTables.filter { !kept.contains($0.name) }
    }

    /// The entities that objects may be of no longer which led to something that was of them.
    private static func losers(_ models: ModelTransition, _ old: SQLSchema) -> Set<ObjectIdentifier> {
        old.entities.map(\.description).reduce(into: []) { losers, entity in
            let couldBe = entity.inheritanceChain.compactMap(models.successor).flatMap(\.inheritanceChain)
            let chain = models.successor(of: entity)?.inheritanceChain ?? []
            losers.formUnion(couldBe.filter { other in !chain.contains { $0 === other } }.map(ObjectIdentifier.init))
        }
    }

    /// The numbers of all entities that go on.
    var numbers: [(old: Int, new: Int)] {
        new.entities.compactMap { entity in
            models.origin(of: entity.description).flatMap { old.numbering[$0] }.map { ($0, entity.number) }
        }
    }

    /// The numbers of entities that are gone.
    var goneNumbers: [Int] {
        let known = Set(numbers.map(\.old))
        return old.entities.map(\.number).filter { !known.contains($0) }
    }
}

/// Compares tables.
private struct TablePlanner {
    let models: ModelTransition
    let old: SQLSchema
    let new: SQLSchema
    let mustBeRebuilt: Set<String>
    let oneWay: [String: [(relationship: NSRelationshipDescription, column: SQLColumn)]]
    private let oldTables: [ObjectIdentifier: SQLTable]
    private let oldJoins: [ObjectIdentifier: SQLJoinTable]

    init(models: ModelTransition, old: SQLSchema, new: SQLSchema, mustBeRebuilt: Set<String>) {
        (self.models, self.old, self.new, self.mustBeRebuilt) = (models, old, new, mustBeRebuilt)
        oldTables = Dictionary(old.tables.map { (ObjectIdentifier($0.entities[0]), $0) }) { first, _ in first }
        oldJoins = Dictionary(old.joinTables.map { (ObjectIdentifier($0.master), $0) }) { first, _ in first }
        oneWay = Self.oneWay(new)
    }

    private static func oneWay(_ schema: SQLSchema) -> [String: [(relationship: NSRelationshipDescription, column: SQLColumn)]] {
        let tables = Dictionary(schema.tables.map { (ObjectIdentifier($0.entities[0]), $0) }) { first, _ in first }
        let all = schema.entities.flatMap { $0.description.declaredProperties }.compactMap { $0 as? NSRelationshipDescription }
        return all.filter { $0.isToMany && $0.inverse == nil && !$0.isTransient }.reduce(into: [:]) { found, relationship in
            guard let table = tables[ObjectIdentifier(relationship.destination.rootEntity)], let column = table[relationship] else {
                return
            }
            found[table.name, default: []].append((relationship, column))
        }
    }

    /// From so many columns on that go, one copy of the rows is less work than taking the columns out one by one.
    private static let dropsWorthACopy = 3

    func changes() -> [TableChange] {
        let pairs = new.tables.map { (new: $0, old: origin(of: $0)) }
        let known = pairs.compactMap { pair in pair.old.map { (name: $0.name, root: pair.new.entities[0]) } }
        let heirs = Dictionary(grouping: known, by: \.name).mapValues { $0.map(\.root) }
        return pairs.map { table, origin in
            guard let origin else { return TableChange(new: table) }
            return change(table, origin, isHeir: heir(of: origin, heirs[origin.name] ?? []) === table.entities[0])
        }
    }

    /// The table that the entities of a new one come from. No mapping is inferred where there are several.
    private func origin(of table: SQLTable) -> SQLTable? {
        table.entities.lazy.compactMap(models.origin).compactMap { oldTables[ObjectIdentifier($0.rootEntity)] }.first
    }

    /// The root of the new table that an old one goes on as; the rows of others are copied.
    ///
    /// - Parameter heirs: the roots of all whose rows come from it.
    private func heir(of origin: SQLTable, _ heirs: [NSEntityDescription]) -> NSEntityDescription? {
        let root = models.successor(of: origin.entities[0])?.rootEntity
        return heirs.first { $0 === root } ?? heirs.first
    }

    private func change(_ table: SQLTable, _ origin: SQLTable, isHeir: Bool) -> TableChange {
        let numbers = table.entities.compactMap { entity in
            models.origin(of: entity).flatMap { old.numbering[$0] }.flatMap { number in new.numbering[entity].map { (number, $0) } }
        }
        let columns = self.columns(of: table, origin, numbers)
        let used = columns.flatMap(\.originNames)
        let dropped = origin.columns.map(\.name).filter { !used.contains($0) }
        let isSimple = columns.allSatisfy { !$0.isByEntity } && Set(used).count == used.count && dropped.count < Self.dropsWorthACopy
        let manner: TableChange.Manner = !isHeir ? .split : isSimple && !mustBeRebuilt.contains(origin.name) ? .inPlace : .rebuilt
        return TableChange(table: table, origin: origin, manner: manner, columns: columns, numbers: numbers, dropped: dropped)
    }

    private func columns(of table: SQLTable, _ origin: SQLTable, _ numbers: [(old: Int, new: Int)]) -> [ColumnChange] {
        var origins: [String: [Int: String]] = [:]
        func note(_ column: SQLColumn, _ old: SQLColumn, _ number: Int) {
            origins[column.name, default: [:]][number] = old.name
            if let name = column.entityColumn { origins[name, default: [:]][number] = old.entityColumn }
            if let name = column.orderColumn { origins[name, default: [:]][number] = old.orderColumn }
        }
        for (property, column) in stored(in: table) {
            for entity in [property.entity] + property.entity.allSubentities {
                guard let number = models.origin(of: entity).flatMap({ old.numbering[$0] }),
                    let before = self.column(of: property, in: entity, origin)
                else { continue }
                note(column, before, number)
            }
        }
        for (relationship, column) in oneWay[table.name] ?? [] {
            // NB: the column of a to-one relationship itself is in the rows of the other end.
            let kept = models.origins(of: relationship).lazy.filter { $0.isToMany || $0.inverse != nil }
            guard let before = kept.compactMap({ origin[$0.inverse ?? $0] }).first else { continue }
            for number in numbers { note(column, before, number.old) }
        }
        return table.columns.map { change($0, origins[$0.name] ?? [:], numbers) }
    }

    /// What is declared by the entities of a table and has a column for its value in their rows.
    ///
    /// NB: a to-many relationship without inverse has one in the rows of its targets, which may be of the same table.
    private func stored(in table: SQLTable) -> [(NSPropertyDescription, SQLColumn)] {
        table.entities.flatMap(\.declaredProperties).filter { ($0 as? NSRelationshipDescription)?.isToMany != true }
            .compactMap { property in table[property].map { (property, $0) } }
    }

    /// The column that has the value of a property of a new entity in the old rows.
    private func column(of property: NSPropertyDescription, in entity: NSEntityDescription, _ origin: SQLTable) -> SQLColumn? {
        if let before = models.origin(of: property, in: entity) { return origin[before] }
        // An inverse that is new may have been kept as what it is the inverse of.
        guard let inverse = (property as? NSRelationshipDescription)?.inverse else { return nil }
        return models.origins(of: inverse).lazy.filter(\.isToMany).compactMap { origin[$0.inverse ?? $0] }.first
    }

    private func change(_ column: SQLTable.Column, _ origins: [Int: String], _ numbers: [(old: Int, new: Int)]) -> ColumnChange {
        let names = Set(origins.values)
        guard names.count <= 1 else {
            return ColumnChange(name: column.name, type: column.type, origin: .byEntity(origins), cleared: [])
        }
        guard let name = names.first else { return ColumnChange(name: column.name, type: column.type, origin: .none, cleared: []) }
        let others = numbers.filter { number in
            origins[number.old] == nil && (old.entity(numbered: number.old)?.columns.values.contains { $0.has(name) } ?? false)
        }
        return ColumnChange(name: column.name, type: column.type, origin: .column(name), cleared: others.map(\.new))
    }
}

extension TablePlanner {
    /// The pairs of a join table: those of an old one, or what the two relationships were before.
    func change(_ table: SQLJoinTable) -> JoinChange {
        let masters = models.origins(of: table.master)
        let others = table.isReflexive ? masters : models.origins(of: table.other)
        if masters.count == 1, others.count == 1,
            let kept = oldJoins[ObjectIdentifier(masters[0])], kept.other === others[0],
            (kept.masterOrder == nil) == (table.masterOrder == nil), (kept.otherOrder == nil) == (table.otherOrder == nil)
        {
            return JoinChange(table: table, kept: kept, origins: [])
        }
        let reversed = others.filter { other in !masters.contains { $0 === other || $0.inverse === other } }
        return JoinChange(table: table, kept: nil, origins: masters.map { ($0, false) } + reversed.map { ($0, true) })
    }

    /// The foreign keys in a table that have to be made of what was elsewhere.
    func fills(_ change: TableChange) -> [KeyFill] {
        let missing = Set(change.added.map(\.name))
        let inverses: [KeyFill] = stored(in: change.table).flatMap { property, column -> [KeyFill] in
            guard missing.contains(column.name), let relationship = property as? NSRelationshipDescription,
                let inverse = relationship.inverse
            else { return [] }
            return models.origins(of: inverse).map { KeyFill(table: change.table, column: column, origin: $0, relationship: relationship) }
        }
        let sets: [KeyFill] = (oneWay[change.table.name] ?? []).flatMap { relationship, column -> [KeyFill] in
            guard missing.contains(column.name) else { return [] }
            return models.origins(of: relationship).map {
                KeyFill(table: change.table, column: column, origin: $0, relationship: relationship)
            }
        }
        return inverses + sets
    }
}

extension TableChange {
    fileprivate init(new table: SQLTable) {
        let columns = table.columns.map { ColumnChange(name: $0.name, type: $0.type, origin: .none, cleared: []) }
        self.init(table: table, origin: nil, manner: .new, columns: columns, numbers: [], dropped: [])
    }
}

extension ColumnChange {
    fileprivate var isByEntity: Bool { if case .byEntity = origin { true } else { false } }

    fileprivate var originNames: [String] {
        switch origin {
        case .none: []
        case .column(let name): [name]
        case .byEntity(let names): Array(Set(names.values))
        }
    }
}

extension SQLColumn {
    fileprivate func has(_ column: String) -> Bool { name == column || entityColumn == column || orderColumn == column }
}
