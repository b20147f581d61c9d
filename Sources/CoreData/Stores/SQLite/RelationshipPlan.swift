import Foundation
import SQLiteDriver

/// The statement that reads a to-many relationship of many owners: owner, place, then the members' rows.
struct RelationshipPlan {
    let columns: SelectedColumns
    private let head: String
    private let ownerColumn: String
    private let order: String
    /// For most owners that there are; nil where members are found in another table than their own.
    let scan: RelationshipScan?

    init?(_ relationship: NSRelationshipDescription, of owner: SQLEntity, schema: SQLSchema) {
        guard let destination = relationship.destinationEntity, let toMany = owner.toMany[relationship.name] else { return nil }
        columns = SelectedColumns(entity: destination, includesSubentities: true, schema: schema, alias: "t0", firstColumn: 2)
        let table = schema.entity(for: destination).table
        switch toMany {
        case .foreignKey(_, let column, _, let orderColumn):
            ownerColumn = "t0.\(column)"
            order = orderColumn.map { "t0.\($0)" } ?? "NULL"
            let list = "\(ownerColumn), \(order), \(columns.list)"
            head = "SELECT \(list) FROM \(table) t0"
            scan = RelationshipScan(list, columnCount: 2 + columns.count, members: table, owners: owner.table, ownerColumn: ownerColumn)
        case .joinTable(let name, let own, let target, let orderColumn, _):
            ownerColumn = "j.\(own)"
            order = orderColumn.map { "j.\($0)" } ?? "NULL"
            scan = nil
            head = "SELECT \(ownerColumn), \(order), \(columns.list) FROM \(name) j \(SQLNames.join(table, "t0", on: "j.\(target)"))"
        case .reflexive(let name, let column, let other, let orderColumn):
            // A pair may stand there in one direction or in both.
            ownerColumn = "j.a"
            order = orderColumn == nil ? "NULL" : "j.p"
            let place = orderColumn ?? "NULL"
            scan = nil
            head = """
                SELECT j.a, \(order), \(columns.list) FROM (SELECT \(column) AS a, \(other) AS b, \(place) AS p FROM \(name) UNION \
                SELECT \(other), \(column), \(place) FROM \(name)) j \(SQLNames.join(table, "t0", on: "j.b"))
                """
        }
    }

    /// Whether the second column is a place.
    var isOrdered: Bool { order != "NULL" }

    /// The statement for so many owners: few are parameters of their own, many come as one JSON array, so that few texts are prepared.
    func sql(ownerCount: Int) -> String {
        let owners = ownerCount == 1 ? "= ?" : "IN \(SQLDialect.list)"
        let places = isOrdered ? ", \(order)" : ""
        return "\(head) WHERE \(ownerColumn) \(owners) ORDER BY \(ownerColumn)\(places), t0.\(SQLNames.key)"
    }

    func parameters(_ owners: ArraySlice<Int64>) -> [SQLiteValue] {
        if owners.count == 1, let owner = owners.first { return [.integer(owner)] }
        return [.keys(owners)]
    }
}

extension NSRelationshipDescription {
    /// The stored entity that declares the relationship.
    func owner(in schema: SQLSchema) -> SQLEntity? { schema.entityIfStored(entity) }
}
