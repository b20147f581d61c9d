import SQLiteDriver

/// Where everything that a model describes is in one store: numbers, tables, columns, join tables.
///
/// Immutable. The model must be frozen.
struct SQLSchema: Sendable {
    /// The entities of the store by ascending number.
    let entities: [SQLEntity]
    /// The tables of a new store, by ascending number of the root entity.
    let tables: [SQLTable]
    let joinTables: [SQLJoinTable]
    let numbering: EntityNumbering
    private let byNumber: [Int: SQLEntity]
    private let byIndex: [SQLEntity?]

    /// The schema of a new store.
    ///
    /// - Precondition: the model is frozen and has the configuration.
    init(model: NSManagedObjectModel, configuration: String?) {
        let numbering = EntityNumbering(model: model, configuration: configuration)
        let joinTables = Self.pairs(numbering).map { $0.newTable(numbering: numbering) }
        self.init(model: model, numbering: numbering, joinTables: joinTables)
    }

    init(model: NSManagedObjectModel, numbering: EntityNumbering, joinTables: [SQLJoinTable]) {
        let tables = Self.tables(numbering)
        let toMany = Self.toMany(numbering: numbering, tables: tables, joinTables: joinTables)
        entities = numbering.entities.map { SQLEntity($0, numbering: numbering, tables: tables, toMany: toMany) }
        self.numbering = numbering
        self.joinTables = joinTables
        self.tables = tables.sorted { $0.key < $1.key }.map(\.value)
        byNumber = Dictionary(entities.map { ($0.number, $0) }) { $1 }
        var byIndex = [SQLEntity?](repeating: nil, count: model.entitiesInIndexOrder.count)
        for entity in entities { byIndex[entity.description.index] = entity }
        self.byIndex = byIndex
    }

    /// The entity with this `Z_ENT`; nil when there is none, as for the rows of the history.
    func entity(numbered number: Int) -> SQLEntity? { byNumber[number] }

    /// - Precondition: the store keeps the entity.
    func entity(for description: NSEntityDescription) -> SQLEntity {
        guard let entity = entityIfStored(description) else {
            misuse("The store does not keep entity \(description.name ?? ""): use its own model, and a configuration with that entity.")
        }
        return entity
    }

    /// Nil when the entity is not in the configuration of the store, or is one of another model.
    func entityIfStored(_ description: NSEntityDescription) -> SQLEntity? {
        guard byIndex.indices.contains(description.index), let entity = byIndex[description.index] else { return nil }
        return entity.description === description ? entity : nil
    }

    /// `Z_ENT` of the entity with this index in the model; 0 for one that the store does not keep.
    func number(ofEntityAt index: Int32) -> Int { byIndex[Int(index)]?.number ?? 0 }

    /// The many-to-many pairs, each once, ordered by the number of the entity that names the table and the name of the relationship.
    static func pairs(_ numbering: EntityNumbering) -> [ManyToMany] {
        numbering.entities.flatMap { entity in
            entity.declaredProperties.sorted(by: binaryNameOrder).compactMap { property in
                (property as? NSRelationshipDescription).flatMap { ManyToMany($0, numbering: numbering) }.flatMap {
                    $0.master === property ? $0 : nil
                }
            }
        }
    }

    /// The table of each tree by the index of its root.
    private static func tables(_ numbering: EntityNumbering) -> [Int: SQLTable] {
        let oneWay = relationshipsWithoutInverse(numbering)
        let trees = Dictionary(grouping: numbering.entities, by: \.rootEntity.index)
        var names = SQLNames.systemTables
        var tables: [Int: SQLTable] = [:]
        for (root, tree) in trees.sorted(by: { $0.key < $1.key }) {
            let entities = tree.sorted { $0.index < $1.index }
            let name = SQLNames.unique(SQLNames.table(of: entities[0]), in: &names)
            tables[root] = SQLTable(name, of: entities, numbering: numbering, oneWay: oneWay)
        }
        return tables
    }

    /// To-many relationships without inverse by the index of their destination, in the order of their owners' numbers and their names.
    private static func relationshipsWithoutInverse(_ numbering: EntityNumbering) -> [Int: [NSRelationshipDescription]] {
        let all = numbering.entities.flatMap { owner in
            owner.declaredProperties.sorted(by: binaryNameOrder).compactMap { $0 as? NSRelationshipDescription }
        }
        return Dictionary(grouping: all.filter { $0.isToMany && $0.inverse == nil && !$0.isTransient }, by: \.destination.index)
    }

    private static func toMany(
        numbering: EntityNumbering,
        tables: [Int: SQLTable],
        joinTables: [SQLJoinTable]
    ) -> [ObjectIdentifier: SQLToMany] {
        var found: [ObjectIdentifier: SQLToMany] = [:]
        for join in joinTables {
            found[ObjectIdentifier(join.master)] = join.side(of: join.master)
            found[ObjectIdentifier(join.other)] = join.side(of: join.other)
        }
        let others = numbering.entities.flatMap(\.declaredProperties).compactMap { $0 as? NSRelationshipDescription }
        for relationship in others where relationship.isToMany && !relationship.isTransient {
            guard let table = tables[relationship.destination.rootEntity.index], let column = table[relationship.inverse ?? relationship]
            else {
                continue
            }
            found[ObjectIdentifier(relationship)] = .foreignKey(
                table: table.name,
                column: column.name,
                entityColumn: column.entityColumn,
                orderColumn: column.orderColumn
            )
        }
        return found
    }
}
