import Predicates
import SQLiteDriver
import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

/// Conditions over the contents of to-many relationships, as subselects.
extension PredicateSQL {
    /// ANY and ALL. Never unknown: an element for which the comparison is unknown counts as one for which it is false.
    mutating func writeQuantified(_ comparison: NSComparisonPredicate, isUniversal: Bool) throws {
        guard case .collection(let collection, let rest)? = try target(of: comparison.leftExpression) else { throw BeyondSQL() }
        let select = try subselect("1", from: collection) { sql, scope in
            let element = try sql.element(rest, scope: scope)
            if isUniversal { sql.text.append("(") }
            try sql.write(comparison, left: element)
            if isUniversal { sql.text.append(") IS NOT TRUE") }
        }
        text.append(isUniversal ? "NOT EXISTS " : "EXISTS ")
        text.append(select)
    }

    /// `relationship CONTAINS x` and `x IN relationship`; false when the comparison is neither, and nothing is written.
    mutating func writeElementTest(_ comparison: NSComparisonPredicate) throws -> Bool {
        switch comparison.predicateOperatorType {
        case .contains:
            // A list that is written out can be searched too.
            if case .aggregate = comparison.leftExpression.tree { throw BeyondSQL() }
            if case .constant(let value) = comparison.leftExpression.tree, case .list = PredicateConstant(value) { throw BeyondSQL() }
            guard case .collection(let collection, let rest)? = try target(of: comparison.leftExpression) else { return false }
            guard rest.first?.hasPrefix("@") != true else { throw BeyondSQL() }
            try writeContainment(of: comparison.rightExpression, in: collection, rest, comparison)
        case .in:
            guard case .collection(let collection, let rest)? = try target(of: comparison.rightExpression) else { return false }
            guard rest.first?.hasPrefix("@") != true else { throw BeyondSQL() }
            try writeMembership(of: comparison.leftExpression, in: collection, rest, comparison)
        default: return false
        }
        return true
    }

    /// Elements that are nil differ from everything.
    private mutating func writeContainment(
        of part: NSExpression,
        in collection: SQLCollection,
        _ rest: ArraySlice<String>,
        _ comparison: NSComparisonPredicate
    ) throws {
        let part = try operand(part)
        // A part that may be nil makes the answer unknown.
        guard part.isConstant, part.kind != .null else { throw BeyondSQL() }
        let select = try subselect("1", from: collection) { sql, scope in
            let element = try sql.element(rest, scope: scope)
            sql.writeEquality(of: element, to: part, comparison)
        }
        text.append("EXISTS ")
        text.append(select)
    }

    /// SQL's IN: unknown when nothing matches and an element is nil.
    private mutating func writeMembership(
        of part: NSExpression,
        in collection: SQLCollection,
        _ rest: ArraySlice<String>,
        _ comparison: NSComparisonPredicate
    ) throws {
        let part = try operand(part)
        guard SQLFunctions.collation(for: comparison.options) == nil else { throw BeyondSQL() }
        var kind = SQLKind.null
        let select = try subselect(from: collection) { sql, scope in
            let element = try sql.element(rest, scope: scope)
            kind = element.kind
            return element.text
        }
        guard part.kind.isComparable(to: kind) else { throw BeyondSQL() }
        text.append(part.text)
        text.append(" IN ")
        text.append(select)
    }

    /// What is read from the row of a subselect. Only one to-many relationship may be on the way.
    private mutating func element(_ keys: ArraySlice<String>, scope: Int) throws -> SQLOperand {
        if keys.contains(where: { $0.hasPrefix("@") }) { throw BeyondSQL() }
        let target = keys.isEmpty ? rowTarget(scope) : try target(of: keys.joined(separator: "."), scope: scope)
        if case .collection = target { throw BeyondSQL() }
        return try operand(target)
    }
}

/// Values of collections.
extension PredicateSQL {
    /// `@count`, `@min`, `@max`, `@avg` and `@sum`.
    mutating func aggregate(_ rest: ArraySlice<String>, of collection: SQLCollection) throws -> SQLOperand {
        guard let function = rest.first(where: { $0.hasPrefix("@") }) else { throw isToMany(collection) }
        guard function == rest.first else { throw BeyondSQL() }
        let keys = rest.dropFirst()
        if function == "@count" {
            guard keys.isEmpty else { throw BeyondSQL() }
            return SQLOperand(try subselect("COUNT(*)", from: collection) { _, _ in }, .integer)
        }
        guard let name = ["@min": "MIN", "@max": "MAX", "@avg": "AVG", "@sum": "SUM"][function] else { throw BeyondSQL() }
        var kind = SQLKind.null
        let select = try subselect(from: collection) { sql, scope in
            let element = try sql.element(keys, scope: scope)
            kind = element.kind
            return SQLText(sql: "\(name)(\(element.text.sql))", parameters: element.text.parameters)
        }
        return try aggregate(name, select, of: kind)
    }

    private func isToMany(_ collection: SQLCollection) -> CocoaError {
        .coreData(
            .coreData,
            """
            The relationship “\(collection.name)” of \(collection.entity.name ?? "?") is to-many: a predicate or an order needs one value. Use ANY, \
            ALL, NONE, SUBQUERY, or @count and the like: “\(collection.name).@count == 0” finds those that have none.
            """
        )
    }

    private func aggregate(_ name: String, _ select: SQLText, of kind: SQLKind) throws -> SQLOperand {
        switch name {
        case "MIN", "MAX":
            guard kind.isOrdered else { throw BeyondSQL() }
            return SQLOperand(select, kind)
        // A column of dictionaries is the store's to compute, as its sum over a group is.
        case _ where aggregation != nil: return try aggregate(name, select, kind)
        default:
            // NB: SUM fails when integers overflow, and decimals are summed as decimals in memory.
            guard kind == .real || kind == .float || (kind == .integer && name == "AVG") else { throw BeyondSQL() }
            if name == "AVG" { return SQLOperand(select, .real) }
            return SQLOperand(SQLText(sql: "COALESCE(\(select.sql), 0)", parameters: select.parameters), .real)
        }
    }

    /// `SUBQUERY(collection, $variable, predicate).@count`
    mutating func count(of collection: NSExpression, variable: String, where predicate: NSPredicate) throws -> SQLOperand {
        guard case .collection(let collection, let rest)? = try target(of: collection), rest.isEmpty else { throw BeyondSQL() }
        let select = try subselect("COUNT(*)", from: collection, variable: variable) { sql, _ in try sql.write(predicate.tree) }
        return SQLOperand(select, .integer)
    }
}

/// Subselects.
extension PredicateSQL {
    /// `(SELECT what FROM …)` over the rows of a collection for which what `condition` writes is true.
    private mutating func subselect(
        _ what: String,
        from collection: SQLCollection,
        variable: String? = nil,
        where condition: (inout PredicateSQL, Int) throws -> Void
    ) throws -> SQLText {
        let scope = enter(collection, variable)
        let written = try apart { try condition(&$0, scope) }
        return leave(collection, what: SQLText(sql: what), where: written)
    }

    /// `(SELECT what FROM …)` over all rows of a collection, where `what` is read from each.
    private mutating func subselect(
        from collection: SQLCollection,
        what: (inout PredicateSQL, Int) throws -> SQLText
    ) throws -> SQLText {
        let scope = enter(collection, nil)
        return leave(collection, what: try what(&self, scope), where: SQLText())
    }

    private mutating func enter(_ collection: SQLCollection, _ variable: String?) -> Int {
        scopes.append(SQLScope(alias: "t\(nextAlias)", entity: collection.destination, variable: variable))
        nextAlias += 1
        return scopes.count - 1
    }

    private mutating func leave(_ collection: SQLCollection, what: SQLText, where condition: SQLText) -> SQLText {
        let scope = scopes.removeLast()
        var text = SQLText(sql: "(SELECT ")
        text.append(what)
        text.append(" FROM \(scope.entity.table) \(scope.alias)\(scope.joinClauses) WHERE \(collection.link(to: scope.alias))")
        if !condition.sql.isEmpty {
            text.append(" AND ")
            text.append(condition)
        }
        text.append(")")
        return text
    }
}

extension SQLCollection {
    /// The condition under which the row of `alias` is in the collection.
    fileprivate func link(to alias: String) -> String {
        switch storage {
        case .foreignKey(_, let column, _, _): "\(alias).\(column) = \(owner)"
        case .joinTable(let name, let ownerColumn, let targetColumn, _, _):
            "\(alias).\(SQLNames.key) IN (SELECT \(targetColumn) FROM \(name) WHERE \(ownerColumn) = \(owner))"
        case .reflexive(let name, let column, let otherColumn, _):
            "\(alias).\(SQLNames.key) IN (SELECT \(otherColumn) FROM \(name) WHERE \(column) = \(owner) "
                + "UNION ALL SELECT \(column) FROM \(name) WHERE \(otherColumn) = \(owner))"
        }
    }
}
