import CoreData
import Foundation

/// Writes conditions as formats, with what stands for their arguments in one context.
struct ConditionText {
    private(set) var arguments: [Any?] = []
    /// What stands for the object with a number.
    let object: (Int) -> Any

    init(object: @escaping (Int) -> Any) { self.object = object }

    /// - Throws: what is wrong with the format.
    static func predicate(_ condition: Condition, object: @escaping (Int) -> Any) throws -> NSPredicate {
        var text = ConditionText(object: object)
        let format = text.format(condition)
        return try NSPredicate(parsing: format, arguments: text.arguments)
    }

    mutating func format(_ condition: Condition) -> String {
        switch condition {
        case .always(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let parts): return joined(parts, " AND ", "TRUEPREDICATE")
        case .or(let parts): return joined(parts, " OR ", "FALSEPREDICATE")
        case .not(let part): return "NOT (\(format(part)))"
        case .compare(let left, let symbol, let right, let options):
            let (left, right) = (format(left), format(right))
            return "\(left) \(symbol)\(bracketed(options)) \(right)"
        case .among(let term, let list, let options):
            let left = format(term)
            return "\(left) IN\(bracketed(options)) \(argument(list.map { $0.constant ?? NSNull() }))"
        case .between(let term, let low, let high):
            let left = format(term)
            return "\(left) BETWEEN {\(format(.constant(low))), \(format(.constant(high)))}"
        case .quantified(let quantifier, let path, let symbol, let constant, let options):
            return "\(quantifier.rawValue) \(format(path)) \(symbol)\(bracketed(options)) \(format(.constant(constant)))"
        case .amongMembers(let term, let path): return "\(format(term)) IN \(format(path))"
        case .contains(let path, let constant): return "\(format(path)) CONTAINS \(format(.constant(constant)))"
        case .isObject(let path, let number, let isNegated):
            return "\(format(path)) \(isNegated ? "!=" : "==") \(number.map { argument(object($0)) } ?? "nil")"
        case .isSameObject(let left, let right): return "\(format(left)) == \(format(right))"
        case .isAnyOf(let path, let numbers): return "\(format(path)) IN \(argument(numbers.map(object)))"
        case .hasMember(let quantifier, let path, let number):
            return "\(quantifier.rawValue) \(format(path)) == \(argument(object(number)))"
        case .isMember(let path, let number):
            return number % 2 == 0
                ? "\(argument(object(number))) IN \(format(path))" : "\(format(path)) CONTAINS \(argument(object(number)))"
        case .entityName(let path, let symbol, let name):
            let prefix = path.relations.isEmpty && path.variable == nil ? "" : format(path) + "."
            return "\(prefix)entity.name \(symbol) \(argument(name))"
        }
    }

    private mutating func joined(_ parts: [Condition], _ word: String, _ nothing: String) -> String {
        parts.isEmpty ? nothing : "(" + parts.map { format($0) }.joined(separator: word) + ")"
    }

    private mutating func format(_ term: Term) -> String {
        switch term {
        case .path(let path): return format(path)
        case .constant(.null): return "nil"
        case .constant(let value): return argument(value.constant)
        case .count(let path): return format(path) + ".@count"
        case .aggregate(let name, var path):
            let attribute = path.attribute ?? ""
            path.attribute = nil
            return "\(format(path)).\(name).\(attribute)"
        case .subquery(let path, let variable, let condition):
            return "SUBQUERY(\(format(path)), $\(variable), \(format(condition))).@count"
        case .arithmetic(let symbol, let left, let right):
            let (left, right) = (format(left), format(right))
            return symbol == "%" ? "modulus:by:(\(left), \(right))" : "(\(left) \(symbol) \(right))"
        }
    }

    private func format(_ path: PlainPath) -> String {
        let keys = path.relations.map(\.name) + (path.attribute.map { [$0] } ?? [])
        let whole = (path.variable.map { ["$" + $0] } ?? []) + keys
        return whole.isEmpty ? "SELF" : whole.joined(separator: ".")
    }

    private func bracketed(_ options: String) -> String { options.isEmpty ? "" : "[\(options)]" }

    private mutating func argument(_ value: Any?) -> String {
        arguments.append(value)
        return "%@"
    }
}
