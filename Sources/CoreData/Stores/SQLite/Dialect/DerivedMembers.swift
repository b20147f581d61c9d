/// What is computed of the objects in a to-many relationship.
struct DerivedMembers {
    /// The table and the column of the derived attribute.
    private let table: String
    private let column: String
    private let side: SQLToMany
    private let target: String
    /// The column whose values are added; nil where objects are counted.
    private let summand: String?
    /// Whether sums of numbers and their changes are the same.
    private let isExact: Bool

    /// Nil where the store does not keep the members.
    init?(
        _ relationship: NSRelationshipDescription,
        _ attribute: NSAttributeDescription?,
        of entity: SQLEntity,
        _ column: String,
        _ schema: SQLSchema
    ) {
        guard let side = entity.toMany[relationship.name], let target = schema.entityIfStored(relationship.destination) else { return nil }
        (table, self.column, self.side, self.target) = (entity.table, column, side, target.table)
        summand = attribute.flatMap { target.columns[$0.name]?.name }
        if attribute != nil, summand == nil { return nil }
        isExact = attribute.map { $0.attributeType.rawValue <= NSAttributeType.integer64AttributeType.rawValue } ?? true
    }

    /// The value for the owner with this key, from all its members.
    func value(of owner: String) -> String {
        switch side {
        case .foreignKey(let table, let column, _, _):
            return "(SELECT \(aggregate(of: "d", counted: column)) FROM \(table) AS d WHERE d.\(column) = \(owner))"
        case .joinTable(let name, let ownerColumn, let targetColumn, _, _):
            return of("SELECT \(targetColumn) AS k FROM \(name) WHERE \(ownerColumn) = \(owner)")
        case .reflexive(let name, let column, let other, _):
            return of(
                "SELECT \(other) AS k FROM \(name) WHERE \(column) = \(owner) UNION SELECT \(column) FROM \(name) WHERE \(other) = \(owner)"
            )
        }
    }

    private func of(_ keys: String) -> String {
        guard summand != nil else { return "(SELECT COUNT(*) FROM (\(keys)))" }
        return "(SELECT \(aggregate(of: "d", counted: SQLNames.key)) FROM \(target) AS d WHERE d.\(SQLNames.key) IN (\(keys)))"
    }

    private func aggregate(of row: String, counted: String) -> String {
        let value = summand.map { "SUM(\(row).\($0))" } ?? "COUNT(\(row).\(counted))"
        return SQLDialect.orZero(value)
    }

    /// What other rows do that changes the value.
    var events: [DerivedEvent] {
        switch side {
        case .foreignKey(let members, let key, _, _): keyEvents(members, key)
        case .joinTable(let pairs, let owner, let member, _, _): pairEvents(pairs, owner, member)
        case .reflexive(let pairs, let column, let other, _): mutualEvents(pairs, column, other)
        }
    }

    private func keyEvents(_ members: String, _ key: String) -> [DerivedEvent] {
        // The row itself is counted as it is inserted.
        let isOther = members == table ? " AND NEW.\(key) <> \(SQLNames.key(of: "NEW"))" : ""
        let written = "UPDATE OF " + ([key] + [summand].compactMap { $0 }).joined(separator: ", ")
        func event(_ kind: String, _ event: String, _ row: String, _ sign: String, _ rest: String = "") -> DerivedEvent {
            let value = isExact ? changed(by: sign, row) : value(of: "\(row).\(key)")
            let owner = "\(SQLNames.key) = \(row).\(key)"
            return DerivedEvent(kind, event, on: members, when: "\(row).\(key) NOT NULL\(rest)", set: value, of: owner)
        }
        return [
            event("INSERT", "INSERT", "NEW", "+", isOther),
            event("UPDATE_INCREMENT", written, "NEW", "+"),
            event("UPDATE_DECREMENT", written, "OLD", "-"),
            event("DELETE", "DELETE", "OLD", "-"),
        ]
    }

    /// A count, or a sum of whole numbers, needs no more than the change.
    private func changed(by sign: String, _ row: String) -> String {
        "\(SQLDialect.orZero(column)) \(sign) " + (summand.map { SQLDialect.orZero("\(row).\($0)") } ?? "1")
    }

    private func pairEvents(_ pairs: String, _ owner: String, _ member: String) -> [DerivedEvent] {
        func event(_ kind: String, _ row: String, _ sign: String) -> DerivedEvent {
            let value = summand == nil ? changed(by: sign, row) : value(of: "\(row).\(owner)")
            return DerivedEvent(kind, kind, on: pairs, set: value, of: "\(SQLNames.key) = \(row).\(owner)")
        }
        let owners = "SELECT \(owner) FROM \(pairs) WHERE \(member) = \(SQLNames.key(of: "NEW"))"
        return [event("INSERT", "NEW", "+"), event("DELETE", "OLD", "-")] + memberUpdate(of: owners)
    }

    /// NB: a pair may be there in one direction or in both.
    private func mutualEvents(_ pairs: String, _ first: String, _ second: String) -> [DerivedEvent] {
        func event(_ kind: String, _ row: String) -> DerivedEvent {
            let ends = "\(SQLNames.key) IN (\(row).\(first), \(row).\(second))"
            return DerivedEvent(kind, kind, on: pairs, set: ownValue, of: ends)
        }
        let key = SQLNames.key(of: "NEW")
        let owners = "SELECT \(first) FROM \(pairs) WHERE \(second) = \(key) UNION SELECT \(second) FROM \(pairs) WHERE \(first) = \(key)"
        return [event("INSERT", "NEW"), event("DELETE", "OLD")] + memberUpdate(of: owners)
    }

    private func memberUpdate(of owners: String) -> [DerivedEvent] {
        guard let summand else { return [] }
        return [DerivedEvent("UPDATE", "UPDATE OF \(summand)", on: target, set: ownValue, of: "\(SQLNames.key) IN (\(owners))")]
    }

    private var ownValue: String { value(of: "\(table).\(SQLNames.key)") }
}
