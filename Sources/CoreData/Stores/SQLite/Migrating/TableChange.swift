/// What becomes of one table of entities.
struct TableChange {
    enum Manner: String {
        /// There was none.
        case new
        /// The rows stay where they are.
        case inPlace
        /// All rows are copied into a new table, which takes the place of the old one.
        case rebuilt
        /// Some of the rows are copied out of a table that goes on as another one.
        case split
    }

    let table: SQLTable
    /// The table that the rows are in.
    let origin: SQLTable?
    let manner: Manner
    let columns: [ColumnChange]
    /// The numbers of the entities whose rows come along.
    let numbers: [(old: Int, new: Int)]
    /// Columns of the old table that nothing comes from.
    let dropped: [String]

    var isInPlace: Bool { manner == .inPlace }
    /// The columns that stay and have another name now.
    var renamed: [(old: String, new: String)] {
        columns.compactMap { column in
            if case .column(let old) = column.origin, old != column.name { (old, column.name) } else { nil }
        }
    }
    /// The columns that the old table has nothing for.
    var added: [ColumnChange] { columns.filter { $0.origin == .none } }
}

/// Where the values of a column come from.
struct ColumnChange {
    enum Origin: Equatable {
        case none
        case column(String)
        /// A column for each entity, by the entity's number before.
        case byEntity([Int: String])
    }

    let name: String
    let type: String
    let origin: Origin
    /// The new numbers of entities whose rows have something in the old column that does not belong in this one.
    let cleared: [Int]
}

/// What becomes of one join table.
struct JoinChange {
    let table: SQLJoinTable
    /// The table that stays as it is but for its names; nil where the pairs are copied.
    let kept: SQLJoinTable?
    /// The relationships of the source that the pairs come from, and whether they lead the other way.
    let origins: [(relationship: NSRelationshipDescription, isReversed: Bool)]
}

/// A foreign key that was kept in another table, or as pairs.
struct KeyFill {
    /// The new table that has the column.
    let table: SQLTable
    let column: SQLColumn
    /// Leads from what the column will name to the object that has the column.
    let origin: NSRelationshipDescription
    /// The relationship of the destination that is kept like this.
    let relationship: NSRelationshipDescription
}
