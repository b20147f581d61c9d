import Foundation
import Predicates
import SQLiteDriver
import class Predicates.NSExpression

/// The predefined functions that SQLite computes as memory does: integers stay integers until they overflow, and a division by zero is nil.
extension PredicateSQL {
    mutating func operand(function name: String, _ arguments: [NSExpression]) throws -> SQLOperand {
        switch name {
        case "add:to:": return try sum("+", arguments, dates: Self.sumsWithDates)
        case "from:subtract:": return try sum("-", arguments, dates: Self.differencesOfDates)
        case "multiply:by:": return try arithmetic("*", arguments)
        case "divide:by:": return try arithmetic("/", arguments)
        case "modulus:by:": return try integers("%", arguments)
        case "bitwiseAnd:with:": return try integers("&", arguments)
        case "bitwiseOr:with:": return try integers("|", arguments)
        case "leftshift:by:": return try integers("<<", arguments)
        case "rightshift:by:": return try integers(">>", arguments)
        case "chs:": return try negation(arguments)
        case "now": return SQLOperand(SQLConstant(value: .real(Date().timeIntervalSinceReferenceDate), kind: .date))
        case "castObject:toType:": return try cast(arguments)
        case "noindex:": return try withoutIndex(arguments)
        default: return try aggregate(name, arguments)
        }
    }

    /// `FUNCTION(date, 'timeIntervalSinceNow')` and the like: a date is stored as a number of seconds.
    mutating func operand(message selector: String, to target: NSExpression, _ arguments: [NSExpression]) throws -> SQLOperand {
        guard arguments.isEmpty, selector.hasPrefix("timeInterval") else { throw BeyondSQL() }
        let date = try operand(target)
        guard date.kind == .date else { throw BeyondSQL() }
        switch selector {
        case "timeIntervalSinceReferenceDate": return SQLOperand(date.text, .real)
        case "timeIntervalSince1970":
            return SQLOperand(prefix("(", date.text, " + \(Date.timeIntervalBetween1970AndReferenceDate))"), .real)
        case "timeIntervalSinceNow":
            let now = SQLText(sql: "?", parameters: [.real(Date().timeIntervalSinceReferenceDate)])
            return SQLOperand(infix(SQLOperand(date.text, .real), "-", SQLOperand(now, .real)), .real)
        default: throw BeyondSQL()
        }
    }

    private mutating func arithmetic(_ symbol: String, _ arguments: [NSExpression]) throws -> SQLOperand {
        arithmetic(symbol, try numbers(arguments, count: 2))
    }

    private func arithmetic(_ symbol: String, _ operands: [SQLOperand]) -> SQLOperand {
        // Integers may overflow into a double.
        var result = SQLOperand(infix(operands[0], symbol, operands[1]), .real)
        result.isWhole = symbol != "/" && operands.allSatisfy(\.isWhole)
        return result
    }

    /// A sum or a difference in which dates may take part: they are stored as numbers of seconds.
    private mutating func sum(_ symbol: String, _ arguments: [NSExpression], dates: [[Bool]: SQLKind]) throws -> SQLOperand {
        guard arguments.count == 2 else { throw BeyondSQL() }
        let operands = try arguments.map { try operand($0) }
        let areDates = operands.map { $0.kind == .date }
        guard areDates.contains(true) else { return arithmetic(symbol, try operands.map(number)) }
        guard let kind = dates[areDates] else { throw BeyondSQL() }
        let seconds = try operands.map { $0.kind == .date ? $0 : try number($0) }
        return SQLOperand(infix(seconds[0], symbol, seconds[1]), kind)
    }

    /// What comes of two operands, by which of them are dates.
    private static let sumsWithDates: [[Bool]: SQLKind] = [[true, false]: .date, [false, true]: .date]
    private static let differencesOfDates: [[Bool]: SQLKind] = [[true, false]: .date, [true, true]: .real]

    /// What works on integers only: with doubles, SQLite would cut the fraction off.
    private mutating func integers(_ symbol: String, _ arguments: [NSExpression]) throws -> SQLOperand {
        let operands = try numbers(arguments, count: 2)
        guard operands.allSatisfy({ $0.kind == .integer }) else { throw BeyondSQL() }
        return SQLOperand(infix(operands[0], symbol, operands[1]), .integer)
    }

    private mutating func negation(_ arguments: [NSExpression]) throws -> SQLOperand {
        let number = try numbers(arguments, count: 1)[0]
        return SQLOperand(prefix("(-", number.text, ")"), .real)
    }

    private mutating func withoutIndex(_ arguments: [NSExpression]) throws -> SQLOperand {
        guard arguments.count == 1 else { throw BeyondSQL() }
        let operand = try operand(arguments[0])
        return SQLOperand(prefix("(\(SQLDialect.withoutIndex)", operand.text, ")"), operand.kind)
    }

    /// A date is stored as the number that a cast makes of it.
    private mutating func cast(_ arguments: [NSExpression]) throws -> SQLOperand {
        guard arguments.count == 2, case .constant(let type as String) = arguments[1].tree else { throw BeyondSQL() }
        let operand = try operand(arguments[0])
        switch (type, operand.kind) {
        case ("NSDate", .date): return operand
        case ("NSNumber", .date): return SQLOperand(operand.text, .real)
        case ("NSDate", .integer), ("NSDate", .real): return SQLOperand(operand.text, .date)
        case ("NSNumber", .integer), ("NSNumber", .real), ("NSNumber", .float): return operand
        default: throw BeyondSQL()
        }
    }

    private mutating func numbers(_ arguments: [NSExpression], count: Int) throws -> [SQLOperand] {
        guard arguments.count == count else { throw BeyondSQL() }
        return try arguments.map { try number(operand($0)) }
    }

    private func number(_ operand: SQLOperand) throws -> SQLOperand {
        // NB: a decimal 10 is stored as an integer, by which SQLite divides without a remainder.
        guard operand.kind.isNumber, operand.kind != .decimal else { throw BeyondSQL() }
        return operand
    }

    private func infix(_ left: SQLOperand, _ symbol: String, _ right: SQLOperand) -> SQLText {
        var text = prefix("(", left.text, " ")
        text.append(symbol)
        text.append(" ")
        text.append(right.text)
        text.append(")")
        return text
    }

    private func prefix(_ before: String, _ inner: SQLText, _ after: String) -> SQLText {
        SQLText(sql: before + inner.sql + after, parameters: inner.parameters)
    }
}
