/// A column that holds an attribute or a to-one relationship.
struct SQLColumn: Sendable, Equatable {
    let name: String
    /// The declared type, such as `VARCHAR`.
    let type: String
    /// Beside a foreign key whose destination has subentities: the column with the number of the target's entity.
    var entityColumn: String?
    /// Beside a foreign key whose inverse is ordered: the column with the position in the inverse.
    var orderColumn: String?
    /// Whether values begin with a byte that says where they are: see `MarkedData`.
    var isMarked = false
}

/// The table of a tree of entities, as a new store has it.
struct SQLTable: Sendable {
    struct Column: Sendable, Equatable {
        let name: String
        let type: String
    }

    let name: String
    /// The entities whose objects live here, by ascending number, the root first.
    let entities: [NSEntityDescription]
    /// The columns after `Z_PK`, `Z_ENT` and `Z_OPT`.
    let columns: [Column]
    /// The names of the columns that hold foreign keys, in order.
    let foreignKeys: [String]
    /// The column of each attribute and to-one relationship declared by an entity of the tree, and of each to-many relationship without
    /// inverse that leads here.
    private let columnsByProperty: [ObjectIdentifier: SQLColumn]

    /// The table of `entities`, which are a whole tree, root first.
    ///
    /// - Parameter oneWay: the to-many relationships without inverse by the index of their destination.
    init(_ name: String, of entities: [NSEntityDescription], numbering: EntityNumbering, oneWay: [Int: [NSRelationshipDescription]]) {
        var builder = SQLTableBuilder(numbering: numbering, oneWay: oneWay)
        entities.forEach { builder.add($0) }
        self.name = name
        self.entities = entities
        columns = builder.columns
        foreignKeys = builder.foreignKeys
        columnsByProperty = builder.columnsByProperty
    }

    subscript(property: NSPropertyDescription) -> SQLColumn? { columnsByProperty[ObjectIdentifier(property)] }

    /// The statement that makes the table.
    var creationStatement: String {
        let own = SQLNames.rowColumns.map { "\($0) \(ColumnType.integer)" + ($0 == SQLNames.key ? " PRIMARY KEY" : "") }
        let columns = own + columns.map { "\($0.name) \($0.type)" }
        return "CREATE TABLE \(name) ( \(columns.joined(separator: ", ")) )"
    }
}

/// Collects the columns of a table entity by entity.
private struct SQLTableBuilder {
    let numbering: EntityNumbering
    let oneWay: [Int: [NSRelationshipDescription]]
    private(set) var foreignKeys: [String] = []
    private(set) var columnsByProperty: [ObjectIdentifier: SQLColumn] = [:]
    private var grouped: [[SQLTable.Column]] = ColumnGroup.allCases.map { _ in [] }
    private var taken = Set(SQLNames.rowColumns)

    init(numbering: EntityNumbering, oneWay: [Int: [NSRelationshipDescription]]) {
        self.numbering = numbering
        self.oneWay = oneWay
    }

    /// The groups in order; within one, columns are in the order in which they were added.
    var columns: [SQLTable.Column] { grouped.flatMap { $0 } }

    mutating func add(_ entity: NSEntityDescription) {
        let declared = entity.declaredProperties.filter { !$0.isTransient }.sorted(by: binaryNameOrder)
        declared.compactMap { $0 as? NSAttributeDescription }.forEach { add($0) }
        declared.compactMap { $0 as? NSRelationshipDescription }.filter { !$0.isToMany }.forEach { add(toOne: $0) }
        oneWay[entity.index, default: []].forEach { add(toMany: $0) }
    }

    private mutating func add(_ attribute: NSAttributeDescription) {
        guard let (type, group) = attribute.attributeType.column else { return }
        let name = SQLNames.unique(SQLNames.column(attribute.name), in: &taken)
        append(name, type, to: group)
        let isMarked = type == ColumnType.data && attribute.allowsExternalBinaryDataStorage && attribute.attributeType != .UUIDAttributeType
        columnsByProperty[ObjectIdentifier(attribute)] = SQLColumn(name: name, type: type, isMarked: isMarked)
    }

    private mutating func add(toOne relationship: NSRelationshipDescription) {
        var column = foreignKey(named: SQLNames.column(relationship.name))
        if let root = numbering[relationship.destination.rootEntity], !relationship.destination.subentities.isEmpty {
            column.entityColumn = companion(SQLNames.entityColumn(beside: column.name, root: root), in: .integer)
        }
        if let inverse = relationship.inverse, inverse.isToMany, inverse.isOrdered {
            column.orderColumn = companion(SQLNames.orderColumn(beside: column.name), in: .order)
        }
        columnsByProperty[ObjectIdentifier(relationship)] = column
    }

    private mutating func add(toMany relationship: NSRelationshipDescription) {
        guard let owner = numbering[relationship.entity] else { return }
        var column = foreignKey(named: SQLNames.columnWithoutInverse(owner: owner, relationship.name))
        if relationship.isOrdered { column.orderColumn = companion(SQLNames.orderColumn(beside: column.name), in: .order) }
        columnsByProperty[ObjectIdentifier(relationship)] = column
    }

    private mutating func foreignKey(named name: String) -> SQLColumn {
        let name = SQLNames.unique(name, in: &taken)
        append(name, ColumnType.integer, to: .integer)
        foreignKeys.append(name)
        return SQLColumn(name: name, type: ColumnType.integer)
    }

    private mutating func companion(_ name: String, in group: ColumnGroup) -> String {
        let name = SQLNames.unique(name, in: &taken)
        append(name, ColumnType.integer, to: group)
        return name
    }

    private mutating func append(_ name: String, _ type: String, to group: ColumnGroup) {
        grouped[group.rawValue].append(SQLTable.Column(name: name, type: type))
    }
}
