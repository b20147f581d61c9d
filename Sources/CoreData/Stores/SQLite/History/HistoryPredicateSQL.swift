import Foundation
import Predicates
import SQLiteDriver

/// The part of a predicate about a history that its tables can answer, as SQL.
struct HistoryPredicateSQL {
    private let store: SQLiteStore
    private let subject: HistoryQuery.Subject
    /// A condition on `t`, the transactions, and for a predicate about changes on `c`; empty where there is none.
    private(set) var conditions: [String] = []
    private(set) var parameters: [SQLiteValue] = []
    /// What is left to be evaluated.
    private(set) var remainder: PredicateTree?

    init(_ predicate: PredicateTree?, _ subject: HistoryQuery.Subject, _ store: SQLiteStore) {
        (self.store, self.subject) = (store, subject)
        guard let predicate else { return }
        var parts: [PredicateTree] = [predicate]
        if case .and(let all) = predicate { parts = all }
        var rest: [PredicateTree] = []
        for part in parts {
            let known = parameters.count
            if let sql = sql(part) {
                conditions.append(sql)
            } else {
                parameters.removeSubrange(known...)
                rest.append(part)
            }
        }
        remainder = rest.count <= 1 ? rest.first : .and(rest)
    }

    /// An expression that is 1 or 0, never NULL; nil for what SQL does not answer as evaluation does.
    private mutating func sql(_ tree: PredicateTree) -> String? {
        switch tree {
        case .constant(let value): return value ? "1" : "0"
        case .and(let parts): return joined(parts, " AND ", "1")
        case .or(let parts): return joined(parts, " OR ", "0")
        case .not(let part): return sql(part).map { "NOT \($0)" }
        case .comparison(let comparison): return sql(comparison)
        case .opaque: return nil
        }
    }

    private mutating func joined(_ parts: [PredicateTree], _ word: String, _ nothing: String) -> String? {
        var texts: [String] = []
        for part in parts {
            guard let text = sql(part) else { return nil }
            texts.append(text)
        }
        return texts.isEmpty ? nothing : "(\(texts.joined(separator: word)))"
    }

    private mutating func sql(_ comparison: NSComparisonPredicate) -> String? {
        guard comparison.comparisonPredicateModifier == .direct, comparison.options.isEmpty else { return nil }
        switch (comparison.leftExpression.tree, comparison.rightExpression.tree) {
        case (.keyPath(nil, let key), .constant(let value)): return sql(key, comparison.predicateOperatorType, value)
        case (.keyPath(nil, let key), .aggregate(let elements)):
            var values: [Any?] = []
            for element in elements {
                guard case .constant(let value) = element.tree else { return nil }
                values.append(value)
            }
            return sql(key, comparison.predicateOperatorType, values)
        case (.constant(let value), .keyPath(nil, let key)):
            return comparison.predicateOperatorType.turned.flatMap { sql(key, $0, value) }
        default: return nil
        }
    }

    private mutating func sql(_ key: String, _ operation: NSComparisonPredicate.Operator, _ value: Any?) -> String? {
        if operation == .in { return isOneOf(key, value) }
        let ofTransaction = subject == .transactions ? key : key.hasPrefix("transaction.") ? String(key.dropFirst(12)) : ""
        if let column = Self.transactionColumns[ofTransaction] { return compare(column, operation, value) }
        guard subject == .changes else { return nil }
        switch key {
        case "changedEntity": return entity(operation, value)
        case "changedObjectID": return object(operation, value)
        default: return Self.changeColumns[key].flatMap { compare($0, operation, value) }
        }
    }

    private mutating func isOneOf(_ key: String, _ value: Any?) -> String? {
        guard case .list(let values) = PredicateConstant(value), values.count <= 500 else { return nil }
        var texts: [String] = []
        for value in values {
            guard let text = sql(key, .equalTo, value) else { return nil }
            texts.append(text)
        }
        return texts.isEmpty ? "0" : "(\(texts.joined(separator: " OR ")))"
    }

    private enum Kind { case number, date, text }
    private typealias Column = (sql: String, kind: Kind)

    private static let transactionColumns: [String: Column] = [
        "transactionNumber": ("t.Z_PK", .number), "token": ("t.Z_PK", .number), "timestamp": ("t.ZTIMESTAMP", .date),
        "author": (text("AUTHOR"), .text), "contextName": (text("CONTEXTNAME"), .text), "bundleID": (text("BUNDLEID"), .text),
        "processID": (text("PROCESSID"), .text),
    ]
    private static let changeColumns: [String: Column] = [
        "changeID": ("c.Z_PK", .number), "changedID": ("c.Z_PK", .number), "changeType": ("c.ZCHANGETYPE", .number),
    ]

    /// A text of a transaction `t`: as it is referred to, or as older stores have it.
    static func text(_ name: String) -> String { "coalesce((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.Z\(name)TS), t.Z\(name))" }

    private mutating func compare(_ column: Column, _ operation: NSComparisonPredicate.Operator, _ value: Any?) -> String? {
        guard let sign = operation.sign, let constant = constant(value, column.kind) else { return nil }
        parameters.append(constant)
        switch operation {
        case .equalTo, .notEqualTo: return "(\(column.sql) \(sign) ?)"
        default: return constant == .null ? nil : "ifnull(\(column.sql) \(sign) ?, 0)"
        }
    }

    /// Nil for values that are compared otherwise in memory.
    private func constant(_ value: Any?, _ kind: Kind) -> SQLiteValue? {
        guard case .scalar(let constant) = PredicateConstant(value), constant.kind != .foreign else { return nil }
        switch (kind, constant.kind) {
        case (_, .null), (.text, .text), (.date, .date): return constant.value
        case (.number, let other) where other.isNumber: return constant.value
        default: return nil
        }
    }

    /// Of exactly that entity.
    private mutating func entity(_ operation: NSComparisonPredicate.Operator, _ value: Any?) -> String? {
        guard operation == .equalTo || operation == .notEqualTo, case .entity(let entity) = PredicateConstant(value) else { return nil }
        let own = store.schema.entities.first { $0.description === entity || $0.description.name == entity.name }
        parameters.append(.integer(Int64(own?.number ?? 0)))
        return "(c.ZENTITY \(operation == .equalTo ? "=" : "<>") ?)"
    }

    private mutating func object(_ operation: NSComparisonPredicate.Operator, _ value: Any?) -> String? {
        guard operation == .equalTo || operation == .notEqualTo, case .row(let identity) = PredicateConstant(value) else { return nil }
        let isHere = identity.key > 0 && identity.space.home?.identifier == store.identifier
        let root = store.schema.entities.first { $0.description.name == identity.space.rootName }?.number
        let tree = store.schema.entities.filter { $0.rootNumber == root }.map { "\($0.number)" }
        let condition = isHere ? "(c.ZENTITYPK = \(identity.key) AND c.ZENTITY IN (\(tree.joined(separator: ","))))" : "0"
        return operation == .equalTo ? condition : "NOT \(condition)"
    }
}

extension NSComparisonPredicate.Operator {
    /// NB: IS, so that nil equals nil and differs from everything else.
    fileprivate var sign: String? {
        switch self {
        case .equalTo: "IS"
        case .notEqualTo: "IS NOT"
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        default: nil
        }
    }

    /// The one that says the same with the sides changed.
    fileprivate var turned: Self? {
        switch self {
        case .equalTo, .notEqualTo: self
        case .lessThan: .greaterThan
        case .lessThanOrEqualTo: .greaterThanOrEqualTo
        case .greaterThan: .lessThan
        case .greaterThanOrEqualTo: .lessThanOrEqualTo
        default: nil
        }
    }
}
