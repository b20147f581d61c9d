import Foundation

/// The reference: what a fetch is to answer, said once more over plain values, with SQL's meaning of nil.
struct PlainEvaluation {
    let graph: PlainGraph
    let node: Int
    var variables: [String: Int] = [:]

    func truth(_ condition: Condition) -> Bool? {
        switch condition {
        case .always(let value): value
        case .and(let parts): conjunction(parts.map(truth))
        case .or(let parts): conjunction(parts.map { truth($0).map { !$0 } }).map { !$0 }
        case .not(let part): truth(part).map { !$0 }
        case .compare(let left, let symbol, let right, let options):
            compare(value(left), symbol, value(right), options, hasLiteralNil: isNilLiteral(left) || isNilLiteral(right))
        case .among(let term, let list, let options): membership(value(term), list, options)
        case .between(let term, let low, let high):
            conjunction([compare(value(term), ">=", low, ""), compare(value(term), "<=", high, "")])
        case .quantified(let quantifier, let path, let symbol, let constant, let options):
            quantified(quantifier, values(path).map { compare($0, symbol, constant, options, hasLiteralNil: constant == .null) })
        case .amongMembers(let term, let path): membership(value(term), values(path), "")
        case .contains(let path, let constant): values(path).contains { compare($0, "==", constant, "") == true }
        case .isObject(let path, let number, let isNegated): isObject(path, number).map { $0 != isNegated }
        case .isSameObject(let left, let right):
            if let left = objects(left)[0], let right = objects(right)[0] { left == right } else { nil }
        case .isAnyOf(let path, let numbers): numbers.isEmpty ? false : objects(path)[0].map(numbers.contains)
        case .hasMember(let quantifier, let path, let number): quantified(quantifier, objects(path).map { $0.map { $0 == number } })
        case .isMember(let path, let number): objects(path).contains(number)
        case .entityName(let path, let symbol, let name):
            compare(objects(path)[0].map { .text(entityName(of: $0)) } ?? .null, symbol, .text(name), "")
        }
    }

    private func conjunction(_ answers: [Bool?]) -> Bool? {
        answers.contains(false) ? false : answers.contains(nil) ? nil : true
    }

    private func quantified(_ quantifier: Condition.Quantifier, _ answers: [Bool?]) -> Bool {
        switch quantifier {
        case .any: answers.contains(true)
        case .none: !answers.contains(true)
        case .all: answers.allSatisfy { $0 == true }
        }
    }

    private func isObject(_ path: PlainPath, _ number: Int?) -> Bool? {
        guard let number else { return objects(path)[0] == nil }
        return objects(path)[0].map { $0 == number }
    }

    private func entityName(of number: Int) -> String { graph.nodes[number].map { graph.shape.entities[$0.entity].name } ?? "?" }

    private func isNilLiteral(_ term: Term) -> Bool { if case .constant(.null) = term { true } else { false } }
}

/// Values.
extension PlainEvaluation {
    func value(_ term: Term) -> Plain {
        switch term {
        case .path(let path): return values(path)[0]
        case .constant(let value): return value
        case .count(let path): return .integer(objects(path).count)
        case .aggregate(let name, let path): return aggregate(name, values(path).filter { $0 != .null })
        case .arithmetic(let symbol, let left, let right): return arithmetic(symbol, value(left), value(right))
        case .subquery(let path, let variable, let condition):
            let found = objects(path).filter { member in
                var inner = self
                inner.variables[variable] = member
                return inner.truth(condition) == true
            }
            return .integer(found.count)
        }
    }

    /// What a path leads to: exactly one, perhaps nil, unless a relationship on it is to-many.
    func objects(_ path: PlainPath) -> [Int?] {
        var objects: [Int?] = [path.variable.flatMap { variables[$0] } ?? node]
        for relation in path.relations {
            if relation.isToMany {
                objects = objects.flatMap { number in number.map { graph.targets(of: $0, relation) } ?? [] }
            } else {
                objects = objects.map { number in number.flatMap { graph.targets(of: $0, relation).first } }
            }
        }
        return objects
    }

    private func values(_ path: PlainPath) -> [Plain] {
        objects(path).map { number in
            guard let number, let attribute = path.attribute else { return .null }
            return graph.value(of: number, attribute)
        }
    }

    private func aggregate(_ name: String, _ values: [Plain]) -> Plain {
        switch name {
        case "@min": values.min { PlainOrder.precedes($0, $1) } ?? .null
        case "@max": values.max { PlainOrder.precedes($0, $1) } ?? .null
        case "@sum": .real(values.compactMap(\.number).reduce(0, +))
        default: values.isEmpty ? .null : .real(values.compactMap(\.number).reduce(0, +) / Double(values.count))
        }
    }

    private func arithmetic(_ symbol: String, _ left: Plain, _ right: Plain) -> Plain {
        if case .integer(let a) = left, case .integer(let b) = right {
            switch symbol {
            case "+": return .integer(a + b)
            case "-": return .integer(a - b)
            case "*": return .integer(a * b)
            default: return b == 0 ? .null : .integer(symbol == "/" ? a / b : a % b)
            }
        }
        guard let a = left.number, let b = right.number else { return .null }
        switch symbol {
        case "+": return .real(a + b)
        case "-": return .real(a - b)
        case "*": return .real(a * b)
        default: return b == 0 ? .null : .real(symbol == "/" ? a / b : a.truncatingRemainder(dividingBy: b))
        }
    }
}

/// Comparisons.
extension PlainEvaluation {
    private func compare(_ left: Plain, _ symbol: String, _ right: Plain, _ options: String, hasLiteralNil: Bool = false) -> Bool? {
        if symbol == "==" || symbol == "!=" {
            if left == .null || right == .null { return hasLiteralNil ? (left == right) == (symbol == "==") : nil }
            return (PlainOrder.order(left, right, options) == .orderedSame) == (symbol == "==")
        }
        if ["<", "<=", ">", ">="].contains(symbol) {
            guard let order = PlainOrder.order(left, right, options) else { return nil }
            switch symbol {
            case "<": return order == .orderedAscending
            case "<=": return order != .orderedDescending
            case ">": return order == .orderedDescending
            default: return order != .orderedAscending
            }
        }
        guard case .text(let text) = left, case .text(let pattern) = right else { return nil }
        return PlainText.matches(PlainText.folded(text, options), symbol, PlainText.folded(pattern, options))
    }

    private func membership(_ value: Plain, _ list: [Plain], _ options: String) -> Bool? {
        if list.isEmpty { return false }
        let answers = list.map { compare(value, "==", $0, options) }
        return answers.contains(true) ? true : answers.contains(nil) ? nil : false
    }
}

extension PlainGraph {
    func value(of number: Int, _ attribute: String) -> Plain {
        attribute == "number" ? .integer(number) : nodes[number]?.values[attribute] ?? .null
    }
}

extension Plain {
    var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }
}

/// The order of plain values.
enum PlainOrder {
    /// Nil for values of different kinds.
    static func order(_ left: Plain, _ right: Plain, _ options: String = "") -> ComparisonResult? {
        switch (left, right) {
        case (.text(let a), .text(let b)): bytes(PlainText.folded(a, options).utf8, PlainText.folded(b, options).utf8)
        case (.date(let a), .date(let b)): compare(a, b)
        case (.uuid(let a), .uuid(let b)): compare(a, b)
        case (.data(let a), .data(let b)): bytes(a, b)
        default: if let a = left.number, let b = right.number { compare(a, b) } else { nil }
        }
    }

    static func precedes(_ left: Plain, _ right: Plain) -> Bool { order(left, right) == .orderedAscending }

    static func compare<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
        left < right ? .orderedAscending : right < left ? .orderedDescending : .orderedSame
    }

    private static func bytes(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> ComparisonResult {
        left.lexicographicallyPrecedes(right) ? .orderedAscending : left.elementsEqual(right) ? .orderedSame : .orderedDescending
    }
}

enum PlainText {
    static func folded(_ text: String, _ options: String) -> String {
        var compare: String.CompareOptions = []
        if options.contains("c") { compare.insert(.caseInsensitive) }
        if options.contains("d") { compare.insert(.diacriticInsensitive) }
        return compare.isEmpty ? text : text.folding(options: compare, locale: nil)
    }

    static func matches(_ text: String, _ symbol: String, _ pattern: String) -> Bool {
        let (text, pattern) = (Array(text.unicodeScalars), Array(pattern.unicodeScalars))
        switch symbol {
        case "BEGINSWITH": return text.starts(with: pattern)
        case "ENDSWITH": return text.reversed().starts(with: pattern.reversed())
        case "LIKE": return isLike(text[...], pattern[...])
        default: return (0...text.count).contains { text[$0...].starts(with: pattern) }
        }
    }

    private static func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" { return (text.startIndex...text.endIndex).contains { isLike(text[$0...], pattern.dropFirst()) } }
        guard let next = text.first, first == "?" || first == next else { return false }
        return isLike(text.dropFirst(), pattern.dropFirst())
    }
}
