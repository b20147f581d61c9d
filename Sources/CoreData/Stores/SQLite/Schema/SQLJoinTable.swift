/// The table that holds a pair of to-many relationships which are each other's inverse, or one that is its own.
struct SQLJoinTable: Sendable {
    let name: String
    /// The relationship that names the table.
    let master: NSRelationshipDescription
    /// Its inverse; `master` itself when that is its own inverse.
    let other: NSRelationshipDescription
    /// The keys of the objects that have `master`.
    let masterColumn: String
    /// The keys of the objects that have `other`.
    let otherColumn: String

    var isReflexive: Bool { master === other }
    /// The positions in `master`, when that is ordered.
    var masterOrder: String? { master.isOrdered ? SQLNames.joinOrderColumn(beside: isReflexive ? masterColumn : otherColumn) : nil }
    /// The positions in `other`, when that is ordered.
    var otherOrder: String? { other.isOrdered && !isReflexive ? SQLNames.joinOrderColumn(beside: masterColumn) : nil }

    /// The table as one of its two relationships sees it.
    func side(of relationship: NSRelationshipDescription) -> SQLToMany {
        if isReflexive { return .reflexive(name: name, column: masterColumn, otherColumn: otherColumn, orderColumn: masterOrder) }
        if relationship === master {
            return .joinTable(
                name: name,
                ownerColumn: masterColumn,
                targetColumn: otherColumn,
                orderColumn: masterOrder,
                inverseOrderColumn: otherOrder
            )
        }
        return .joinTable(
            name: name,
            ownerColumn: otherColumn,
            targetColumn: masterColumn,
            orderColumn: otherOrder,
            inverseOrderColumn: masterOrder
        )
    }

    /// All columns of the table, in order.
    var columns: [String] {
        // NB: the positions of what the first column holds come first, and those are the positions in `other`.
        [masterColumn, otherColumn] + [otherOrder, masterOrder].compactMap { $0 }
    }

    /// The statement that makes the table.
    var creationStatement: String {
        let columns = columns.map { "\($0) \(ColumnType.integer)" } + ["PRIMARY KEY (\(masterColumn), \(otherColumn))"]
        return "CREATE TABLE \(name) ( \(columns.joined(separator: ", ")) )"
    }

    /// The statement that makes the index for the way back.
    var indexStatement: String {
        "CREATE INDEX \(name)_\(otherColumn)_INDEX ON \(name) (\(otherColumn), \(masterColumn))"
    }
}

/// A pair of many-to-many relationships before it is known how the store names things.
struct ManyToMany: Sendable {
    let master: NSRelationshipDescription
    let other: NSRelationshipDescription
    let masterNumber: Int
    let otherNumber: Int

    /// The pair that `relationship` belongs to; nil when it is none, or when the store does not keep both entities.
    ///
    /// Which side is the master: the one that belongs to a tree of entities when the other does not, else the one with the lower number;
    /// within one entity the one whose name comes last.
    init?(_ relationship: NSRelationshipDescription, numbering: EntityNumbering) {
        guard relationship.isToMany, !relationship.isTransient, let inverse = relationship.inverse, inverse.isToMany, !inverse.isTransient,
            let number = numbering[relationship.entity], let inverseNumber = numbering[inverse.entity]
        else { return nil }
        let sides = [(relationship, number), (inverse, inverseNumber)].sorted(by: Self.isMaster)
        (master, masterNumber) = sides[0]
        (other, otherNumber) = sides[1]
    }

    private static func isMaster(_ left: (NSRelationshipDescription, Int), _ right: (NSRelationshipDescription, Int)) -> Bool {
        if left.0.entity === right.0.entity { return binaryNameOrder(right.0, left.0) }
        let (leftInTree, rightInTree) = (isInTree(left.0.entity), isInTree(right.0.entity))
        return leftInTree == rightInTree ? left.1 < right.1 : leftInTree
    }

    private static func isInTree(_ entity: NSEntityDescription) -> Bool { !entity.rootEntity.subentities.isEmpty }

    /// The same pair named by its other side.
    var swapped: ManyToMany { ManyToMany(master: other, other: master, masterNumber: otherNumber, otherNumber: masterNumber) }

    private init(master: NSRelationshipDescription, other: NSRelationshipDescription, masterNumber: Int, otherNumber: Int) {
        self.master = master
        self.other = other
        self.masterNumber = masterNumber
        self.otherNumber = otherNumber
    }

    var tableName: String { SQLNames.join(masterNumber, master.name) }
    /// The column for the keys of the objects that have `master`, without the suffix of a collision.
    var masterColumn: String { SQLNames.join(masterNumber, other.name) }
    /// The column for the keys of the objects that have `other`, without the suffix of a collision.
    var otherColumn: String { master === other ? Self.reflexiveColumn : SQLNames.join(otherNumber, master.name) }

    private static let reflexiveColumn = "REFLEXIVE"
}

extension ManyToMany {
    /// The table of a new store.
    func newTable(numbering: EntityNumbering) -> SQLJoinTable {
        SQLJoinTable(
            name: tableName,
            master: master,
            other: other,
            masterColumn: masterColumn + suffix(of: master, numbering: numbering),
            otherColumn: master === other ? otherColumn : otherColumn + suffix(of: other, numbering: numbering)
        )
    }

    /// When several relationships of one entity have inverses of the same name, the later ones by name get 1, 2, … after their columns.
    private func suffix(of relationship: NSRelationshipDescription, numbering: EntityNumbering) -> String {
        let inverseName = relationship.inverse?.name.uppercased()
        let rivals = relationship.entity.declaredProperties.sorted(by: binaryNameOrder).compactMap { $0 as? NSRelationshipDescription }
            .filter {
                ManyToMany($0, numbering: numbering) != nil && $0.inverse?.name.uppercased() == inverseName
            }
        let place = rivals.firstIndex { $0 === relationship } ?? 0
        return place == 0 ? "" : String(place)
    }
}
