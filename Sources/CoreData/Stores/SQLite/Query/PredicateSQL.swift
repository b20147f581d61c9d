import Foundation
import Predicates
import SQLiteDriver

/// Translates predicates over one entity into the conditions of a statement, in SQL's three-valued logic: what `evaluate` with the
/// semantics `.sql` answers, the condition answers.
struct PredicateSQL {
    let cache: PlanCache
    /// The store that is asked; nil where there is only one.
    let home: StoreIdentity?
    /// What has been written.
    var text = SQLText()
    /// The tables of the statement, then those of the subselects that are being written, from the outside in.
    var scopes: [SQLScope]
    /// The number of the next alias.
    var nextAlias = 1
    var depth = 0
    /// Why the conditions make no sense: a property is compared with a value of another kind.
    var otherKind: CocoaError?
    /// In a fetch for dictionaries, while columns and conditions on groups are written.
    var aggregation: Aggregation?
    /// Whether an aggregate has been written.
    var hasAggregate = false
    /// The columns that conditions on groups may name.
    var selected: [String: SQLOperand] = [:]

    var schema: SQLSchema { cache.schema }

    init(entity: SQLEntity, cache: PlanCache, home: StoreIdentity? = nil) {
        self.cache = cache
        self.home = home
        scopes = [SQLScope(alias: "t0", entity: entity)]
    }

    /// Writes rows off, few of them one by one, so that the texts of many fetches are the same.
    mutating func exclude(_ keys: [Int64]) {
        if keys.isEmpty { return }
        beginConjunct()
        text.append("t0.\(SQLNames.key) NOT IN ")
        if keys.count > 8 { return text.append(SQLText(sql: SQLDialect.list, parameters: [.keys(keys)])) }
        text.append("(")
        text.append(parameters: keys.map(SQLiteValue.integer))
        text.append(")")
    }

    private mutating func beginConjunct() { text.append(text.sql.isEmpty ? " WHERE " : " AND ") }

    /// Writes each conjunct that SQL can say; the others are the result.
    mutating func writeConjuncts(of predicate: PredicateTree) throws -> [PredicateTree] {
        var written: [SQLText] = []
        var beyond: [PredicateTree] = []
        var count = text.parameters.count
        let conjuncts = if case .comparison = predicate { [predicate] } else { conjuncts(of: predicate) }
        for conjunct in conjuncts {
            let untouched = scopes
            do {
                let condition = try apart { try $0.write(conjunct) }
                guard count + condition.parameters.count <= SQLLimits.parameters, try Self.canParse(condition.sql) else {
                    throw BeyondSQL()
                }
                count += condition.parameters.count
                written.append(condition)
            } catch is BeyondSQL {
                scopes = untouched
                depth = 0
                beyond.append(conjunct)
            }
        }
        if !written.isEmpty {
            beginConjunct()
            text.append(written[...], separator: " AND ")
        }
        return beyond
    }

    /// Whether SQLite's parser gets through a condition, wherever in a statement it stands.
    private static func canParse(_ condition: String) throws -> Bool {
        var nesting = 0, deepest = 0
        for byte in condition.utf8 {
            if byte == UInt8(ascii: "(") { nesting += 1 } else if byte == UInt8(ascii: ")") { nesting -= 1 }
            deepest = max(deepest, nesting)
        }
        if deepest <= SQLLimits.harmlessNesting { return true }
        return try Connection.canParse("SELECT COUNT(*) FROM (SELECT 1 FROM t t0 WHERE 1 AND 1 AND (\(condition)))")
    }

    /// - Throws: `BeyondSQL` where no statement could be nested that deep.
    mutating func goDeeper() throws {
        depth += 1
        guard depth <= SQLLimits.nesting else { throw BeyondSQL() }
    }

    private func conjuncts(of predicate: PredicateTree) -> [PredicateTree] {
        switch predicate {
        case .and(let parts): parts.flatMap(conjuncts)
        case .constant(true): []
        default: [predicate]
        }
    }

    /// What `body` writes, kept apart from the rest.
    mutating func apart(_ body: (inout PredicateSQL) throws -> Void) rethrows -> SQLText {
        let outer = text
        text = SQLText()
        defer { text = outer }
        try body(&self)
        return text
    }

    /// - Throws: `BeyondSQL`, or an error for the user.
    mutating func write(_ predicate: PredicateTree) throws {
        try goDeeper()
        switch predicate {
        case .constant(let value): text.append(value ? "1" : "0")
        case .and(let parts): try write(parts, separator: " AND ", empty: "1")
        case .or(let parts): try write(parts, separator: " OR ", empty: "0")
        case .not(let part):
            text.append("NOT (")
            try write(part)
            text.append(")")
        case .comparison(let comparison): try write(comparison)
        case .opaque: throw BeyondSQL()
        }
        depth -= 1
    }

    private mutating func write(_ parts: [PredicateTree], separator: String, empty: String) throws {
        if parts.isEmpty { return text.append(empty) }
        var written: [SQLText] = []
        for part in parts { written.append(try apart { try $0.write(part) }) }
        text.append("(")
        text.append(written[...], separator: separator)
        text.append(")")
    }
}
