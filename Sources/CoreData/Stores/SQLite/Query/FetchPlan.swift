import Foundation
import Predicates
import SQLiteDriver

/// One statement of a fetch: text, parameters, and what SQL could not say.
///
/// The text depends only on the shape of the query, never on its constants: it is the key of the statement cache.
struct FetchPlan {
    enum Result: Hashable, Sendable {
        /// The columns of `SelectedColumns`.
        case rows
        /// Those of some properties only.
        case partialRows(Set<String>)
        /// `Z_PK` and `Z_ENT`.
        case references
        /// One number.
        case count
    }

    let sql: String
    /// The same statement with the rows handed to an aggregate: for whole tables, which no order and no limit stands in the way of. (Setting the
    /// aggregate up costs more than it saves where a predicate leaves few rows.)
    let sinkSQL: String?
    let parameters: [SQLiteValue]
    /// How to read a result row; only for rows.
    let columns: SelectedColumns
    /// The conjuncts that are to be evaluated in memory for each row; nil when SQL says all. References and counts have no values to
    /// evaluate with: when they come with a remainder, plan rows instead.
    let remainder: PredicateTree?
    /// Whether the caller has to sort: there is no ORDER BY.
    let sortsInMemory: Bool
    /// The error where a property is compared with a value of another kind: such a fetch finds nothing that its author wants.
    let otherKind: CocoaError?

    /// Whether limit and offset are left to the caller, because what he filters or sorts comes before them.
    var limitsInMemory: Bool { remainder != nil || sortsInMemory }

    /// Translates without what can be reused: for single uses. A store keeps a `PlanCache`.
    init(_ query: FetchQuery, schema: SQLSchema, result: Result) throws {
        try self.init(query, cache: PlanCache(schema: schema), result: result)
    }

    /// - Throws: `CocoaError.coreData` for a key path that does not exist, or a pattern that is no regular expression.
    /// - Parameters:
    ///   - home: the store: objects of others equal none of this one. Nil where there is only one.
    ///   - excluded: keys of rows that do not count.
    init(_ query: FetchQuery, cache: PlanCache, result: Result, home: StoreIdentity? = nil, excluding excluded: [Int64] = []) throws {
        let frame = cache.frame(entity: query.entity, includesSubentities: query.includesSubentities, result: result)
        columns = frame.columns
        let lookUp = excluded.isEmpty ? LookUp(query) : nil
        if let lookUp, let known = frame.lookUps.withLock({ $0[lookUp.shape] }) {
            (sql, sinkSQL, remainder, sortsInMemory, otherKind) = (known, nil, nil, false, nil)
            parameters = query.limit > 0 || query.offset > 0 ? [lookUp.value] + Self.limit(query).parameters : [lookUp.value]
            return
        }
        var condition = PredicateSQL(entity: frame.entity, cache: cache, home: home)
        condition.text.sql = frame.entityFilter
        condition.exclude(excluded)
        let untranslated = try query.predicate.map { try condition.writeConjuncts(of: $0) } ?? []
        otherKind = condition.otherKind
        remainder = untranslated.isEmpty ? nil : untranslated.count == 1 ? untranslated[0] : .and(untranslated)
        let order = result == .count ? "" : try condition.order(by: query.sortDescriptors)
        sortsInMemory = order == nil
        let limit = remainder == nil && order != nil ? Self.limit(query) : SQLText()
        let isLimitedCount = result == .count && !limit.sql.isEmpty
        var text = isLimitedCount ? "SELECT COUNT(*) FROM (SELECT 1 FROM \(frame.entity.table) t0" : frame.select
        text.reserveCapacity(text.utf8.count + condition.text.sql.utf8.count + 128)
        text += condition.scopes[0].joinClauses
        text += condition.text.sql
        text += order ?? ""
        text += limit.sql
        if isLimitedCount { text += ")" }
        sql = text
        let isSink = frame.sinkSelect != nil && query.predicate == nil && (order ?? "").isEmpty && limit.sql.isEmpty
        // The two differ in what stands before FROM only.
        sinkSQL = isSink ? frame.sinkSelect.map { $0 + text.dropFirst(frame.select.count) } : nil
        // A value of a kind that the attribute never has is not looked for.
        if let lookUp, remainder == nil, condition.text.parameters == [lookUp.value] { frame.lookUps.withLock { $0[lookUp.shape] = text } }
        parameters = limit.parameters.isEmpty ? condition.text.parameters : condition.text.parameters + limit.parameters
    }

    static func limit(_ query: FetchQuery) -> SQLText { SQLDialect.window(limit: query.limit, offset: query.offset) }
}

extension FetchPlan.Result {
    /// The properties whose columns are read; nil for all.
    var properties: Set<String>? {
        if case .partialRows(let properties) = self { properties } else { nil }
    }
}

extension FetchQuery {
    /// What a store reads for objects.
    var rowsToRead: FetchPlan.Result { properties.map(FetchPlan.Result.partialRows) ?? .rows }
}
