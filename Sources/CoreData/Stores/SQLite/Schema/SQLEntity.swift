/// Where the objects of one entity are in a store.
final class SQLEntity: Sendable {
    let description: NSEntityDescription
    /// `Z_ENT` of the entity.
    let number: Int
    /// `Z_ENT` of the superentity; 0 without one.
    let superNumber: Int
    /// `Z_ENT` of the root entity, whose row of `Z_PRIMARYKEY` counts the keys.
    let rootNumber: Int
    let table: String
    let hasSubentities: Bool
    /// Attributes and to-one relationships by name, inherited ones included.
    let columns: [String: SQLColumn]
    /// To-many relationships by name, inherited ones included. One that leads to an entity outside of the store is missing.
    let toMany: [String: SQLToMany]

    init(
        _ description: NSEntityDescription,
        numbering: EntityNumbering,
        tables: [Int: SQLTable],
        toMany: [ObjectIdentifier: SQLToMany]
    ) {
        self.description = description
        let rootIndex = description.rootEntity.index
        // A numbering contains an entity together with its superentities, and there is a table for each root in it.
        let table = tables[rootIndex]!
        number = numbering[description]!
        rootNumber = numbering[description.rootEntity]!
        superNumber = description.superentity.flatMap { numbering[$0] } ?? 0
        self.table = table.name
        hasSubentities = description.subentities.contains { numbering[$0] != nil }
        columns = Dictionary(description.storedProperties.compactMap { property in table[property].map { (property.name, $0) } }) { $1 }
        self.toMany = Dictionary(
            description.toManyRelationships.compactMap { relationship in
                toMany[ObjectIdentifier(relationship)].map { (relationship.name, $0) }
            }
        ) { $1 }
    }
}

/// Where the contents of a to-many relationship are.
enum SQLToMany: Sendable, Equatable {
    /// A foreign key in the destination's table.
    ///
    /// `entityColumn` holds the entity of the owner, when that entity has subentities; `orderColumn` the position among the owner's objects.
    case foreignKey(table: String, column: String, entityColumn: String?, orderColumn: String?)
    /// A row for each pair.
    ///
    /// `orderColumn` holds the position of the target in the owner's set, `inverseOrderColumn` that of the owner in the target's set.
    case joinTable(name: String, ownerColumn: String, targetColumn: String, orderColumn: String?, inverseOrderColumn: String?)
    /// A row for each pair, of a relationship that is its own inverse. A pair may be there in one direction or in both: read the union.
    case reflexive(name: String, column: String, otherColumn: String, orderColumn: String?)
}
