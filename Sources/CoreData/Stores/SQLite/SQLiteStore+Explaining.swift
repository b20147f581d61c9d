import Foundation
import Predicates
import SQLiteDriver

extension SQLiteStore {
    package func explain(_ query: ExplainedQuery) throws -> FetchExplanation {
        switch query {
        case .objects(let query): return try explanation(of: query, query.rowsToRead)
        case .references(let query): return try explanation(of: query, .references)
        case .count(let query): return try explanation(of: query, .count)
        case .dictionaries(let query):
            let plan = try DictionaryPlan(query, cache: plans, home: home)
            return FetchExplanation(statements: [try statement(plan.sql, plan.parameters)])
        }
    }

    private func explanation(of query: FetchQuery, _ result: FetchPlan.Result) throws -> FetchExplanation {
        let plan = try plan(query, result)
        // What is left to memory takes objects.
        if plan.limitsInMemory, result == .references || result == .count { return try explanation(of: query, .rows) }
        var explanation = FetchExplanation(statements: [try statement(plan.sql, plan.parameters)])
        explanation.inMemory = Self.conditions(of: plan).map { "the condition \(Self.text(of: $0)): \(Self.reason(for: $0, query.entity))" }
        if plan.sortsInMemory { explanation.inMemory.append("the order: a comparator, or a key that is not in the store") }
        let hasWindow = query.limit > 0 || query.offset > 0
        if plan.limitsInMemory, hasWindow { explanation.inMemory.append("limit and offset: they count what is left then") }
        return explanation
    }

    private func statement(_ sql: String, _ parameters: [SQLiteValue]) throws -> FetchExplanation.Statement {
        FetchExplanation.Statement(
            store: url?.path ?? "",
            sql: sql,
            arguments: parameters.map(\.literal),
            plan: try reporting("explain a fetch") { try reading { try Self.plan(of: sql, parameters, $0) } }
        )
    }

    private static func plan(of sql: String, _ parameters: [SQLiteValue], _ connection: Connection) throws -> [String] {
        try connection.withCached("EXPLAIN QUERY PLAN " + sql) { statement in
            try statement.bind(parameters)
            var (steps, depths): ([String], [Int64: Int]) = ([], [0: -1])
            while try statement.step() {
                let depth = (depths[statement.int(1)] ?? -1) + 1
                depths[statement.int(0)] = depth
                steps.append(String(repeating: "  ", count: depth) + (statement.text(3) ?? ""))
            }
            return steps
        }
    }

    private static func conditions(of plan: FetchPlan) -> [PredicateTree] {
        guard let remainder = plan.remainder else { return [] }
        if case .and(let parts) = remainder { return parts }
        return [remainder]
    }

    private static func text(of condition: PredicateTree) -> String {
        switch condition {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let parts): "(" + parts.map(text).joined(separator: " AND ") + ")"
        case .or(let parts): "(" + parts.map(text).joined(separator: " OR ") + ")"
        case .not(let part): "NOT " + text(of: part)
        case .comparison(let comparison): comparison.printedFormat
        case .opaque: "of a block"
        }
    }

    private static func reason(for condition: PredicateTree, _ entity: NSEntityDescription) -> String {
        if case .opaque = condition { return "only the program can evaluate it" }
        let keys = ConditionKeys.keys(condition)
        if let key = keys.first(where: { entity.propertiesByName[$0]?.isTransient == true }) {
            return "“\(key)” is transient, so no store has it"
        }
        return "SQL has nothing that means the same"
    }
}

/// The keys that a condition reads from the fetched objects.
private enum ConditionKeys {
    static func keys(_ condition: PredicateTree) -> [String] {
        switch condition {
        case .and(let parts), .or(let parts): parts.flatMap(keys)
        case .not(let part): keys(part)
        case .comparison(let comparison): [comparison.leftExpression, comparison.rightExpression].compactMap(\.firstKey)
        case .constant, .opaque: []
        }
    }
}

extension Predicates.NSExpression {
    fileprivate var firstKey: String? {
        guard case .keyPath(nil, let path) = tree else { return nil }
        return path.split(separator: ".").first.map(String.init)
    }
}

extension SQLiteValue {
    /// The value as SQL writes it; of data, how many bytes there are.
    fileprivate var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
        case .blob(let bytes): "x'…' (\(bytes.count) bytes)"
        }
    }
}
