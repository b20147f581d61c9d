import Foundation

/// The predefined functions, under Apple's names.
enum PredefinedFunctions {
    typealias Body = @Sendable ([Any?]) -> Any?

    static func call(_ name: String, _ arguments: [Any?]) throws -> Any? {
        guard let known = bodies[name] == nil ? canonicalName(name) : name, let body = bodies[known] else {
            throw PredicateEvaluationError.unknownFunction(name)
        }
        guard accepts(arguments.count, known) else {
            throw PredicateEvaluationError.unsupported("\"\(name)\" cannot take \(arguments.count) arguments")
        }
        return flattened(body(arguments))
    }

    /// The full name of a function that a format may write without colons and in any case; nil for an unknown one.
    static func canonicalName(_ name: String) -> String? { canonicalNames[plain(name)] }

    /// Whether a function can be called with so many arguments: one for each colon, any number for those that go over lists.
    static func accepts(_ count: Int, _ name: String) -> Bool {
        overLists.contains(name) ? count > 0 : count == name.count { $0 == ":" }
    }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != ":" } }

    private static let overLists: Set = ["sum:", "count:", "min:", "max:", "average:", "median:", "mode:", "stddev:", "distinct:"]

    private static let canonicalNames = Dictionary(uniqueKeysWithValues: bodies.keys.map { (plain($0), $0) })

    private static let bodies: [String: Body] =
        lists.merging(arithmetic) { _, new in new }.merging(bits) { _, new in new }.merging(others) { _, new in new }

    /// The arguments of an aggregate: numbers given one by one, or in lists.
    private static func values(_ arguments: [Any?]) -> [Any?] { arguments.flatMap { Value($0).elements ?? [$0] } }

    private static let lists: [String: Body] = [
        "sum:": { Aggregates.sum(values($0)) },
        "count:": { Aggregates.present(values($0)).count },
        "min:": { Aggregates.minimum(values($0)) },
        "max:": { Aggregates.maximum(values($0)) },
        "average:": { Aggregates.average(values($0)) },
        "median:": { Aggregates.median(values($0)) },
        "mode:": { Aggregates.mode(values($0)) },
        "stddev:": { Aggregates.standardDeviation(values($0)) },
        "distinct:": { Aggregates.distinct(values($0)) },
        "first:": { values($0).first ?? nil },
        "last:": { values($0).last ?? nil },
    ]

    private static let arithmetic: [String: Body] = [
        "add:to:": { sum(Value($0[0]), Value($0[1])) },
        "from:subtract:": { difference(Value($0[0]), Value($0[1])) },
        "multiply:by:": { binary($0) { $0 * $1 } },
        "divide:by:": { binary($0) { $0.divided(by: $1) } },
        "modulus:by:": { binary($0) { $0.remainder(dividingBy: $1) } },
        "raise:toPower:": { binary($0) { .real(pow($0.double, $1.double)) } },
        "sqrt:": { real($0) { $0.squareRoot() } },
        "log:": { real($0, log10) },
        "ln:": { real($0, log) },
        "exp:": { real($0, exp) },
        "floor:": { real($0) { $0.rounded(.down) } },
        "ceiling:": { real($0) { $0.rounded(.up) } },
        "trunc:": { real($0) { $0.rounded(.towardZero) } },
        "abs:": { unary($0) { $0.double < 0 ? .signed(0) - $0 : $0 } },
        "chs:": { unary($0) { .signed(0) - $0 } },
        "random": { _ in Int.random(in: 0...Int(Int32.max)) },
        "randomn:": { unary($0) { ($0.integer ?? 0) > 0 ? .signed(.random(in: 0..<($0.integer ?? 1))) : nil } },
    ]

    private static let bits: [String: Body] = [
        "bitwiseAnd:with:": { integers($0) { $0 & $1 } },
        "bitwiseOr:with:": { integers($0) { $0 | $1 } },
        "bitwiseXor:with:": { integers($0) { $0 ^ $1 } },
        "leftshift:by:": { integers($0) { $0 << $1 } },
        "rightshift:by:": { integers($0) { $0 >> $1 } },
        "onesComplement:": { unary($0) { $0.integer.map { .signed(~$0) } } },
    ]

    private static let others: [String: Body] = [
        "uppercase:": { text($0) { $0.uppercased() } },
        "lowercase:": { text($0) { $0.lowercased() } },
        "canonical:": { text($0) { $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) } },
        "length:": { text($0) { $0.utf16.count } },
        "now": { _ in Date() },
        "noindex:": { $0[0] },
        "objectFrom:withIndex:": { element(Value($0[1]), of: Value($0[0]).elements ?? []) },
        "castObject:toType:": { if case .text(let type) = Value($0[1]) { cast($0[0], to: type) } else { nil } },
    ]

    /// The element at an index; nil outside the list.
    static func element(_ index: Value, of elements: [Any?]) -> Any? {
        guard case .number(let number) = index, let index = number.integer.flatMap(Int.init(exactly:)),
            elements.indices.contains(index)
        else { return nil }
        return elements[index]
    }
}

/// Nil operands give nil, as in SQL.
extension PredefinedFunctions {
    private static func number(_ value: Any?) -> ExactNumber? {
        if case .number(let number) = Value(value) { number } else { nil }
    }

    private static func unary(_ arguments: [Any?], _ body: (ExactNumber) -> ExactNumber?) -> Any? {
        number(arguments[0]).flatMap(body)?.any
    }

    private static func real(_ arguments: [Any?], _ body: (Double) -> Double) -> Any? {
        number(arguments[0]).map { body($0.double) }
    }

    private static func binary(_ arguments: [Any?], _ body: (ExactNumber, ExactNumber) -> ExactNumber?) -> Any? {
        guard let left = number(arguments[0]), let right = number(arguments[1]) else { return nil }
        return body(left, right)?.any
    }

    /// A date and a number of seconds are a later date.
    private static func sum(_ left: Value, _ right: Value) -> Any? {
        switch (left, right) {
        case (.number(let left), .number(let right)): (left + right).any
        case (.date(let date), .number(let seconds)), (.number(let seconds), .date(let date)): date + seconds.double
        default: nil
        }
    }

    /// Between two dates there are seconds; seconds before a date there is another.
    private static func difference(_ left: Value, _ right: Value) -> Any? {
        switch (left, right) {
        case (.number(let left), .number(let right)): (left - right).any
        case (.date(let end), .date(let start)): end.timeIntervalSinceReferenceDate - start.timeIntervalSinceReferenceDate
        case (.date(let date), .number(let seconds)): date - seconds.double
        default: nil
        }
    }

    private static func integers(_ arguments: [Any?], _ body: (Int64, Int64) -> Int64) -> Any? {
        guard let left = number(arguments[0])?.integer, let right = number(arguments[1])?.integer else { return nil }
        return Int(body(left, right))
    }

    private static func text(_ arguments: [Any?], _ body: (String) -> Any) -> Any? {
        if case .text(let text) = Value(arguments[0]) { body(text) } else { nil }
    }

    /// The value as an instance of the class; nil when there is no way.
    static func cast(_ value: Any?, to type: String) -> Any? {
        switch (type, Value(value)) {
        case ("NSDate", .number(let number)): Date(timeIntervalSinceReferenceDate: number.double)
        case ("NSDate", .date(let date)): date
        case ("NSNumber", .date(let date)): date.timeIntervalSinceReferenceDate
        case ("NSNumber", .number(let number)): number.any
        case ("NSNumber", .text(let text)): Int(text) ?? Double(text)
        case ("NSDecimalNumber", .number(let number)): number.decimal
        case ("NSDecimalNumber", .text(let text)): Decimal(string: text)
        case ("NSString", .text(let text)): text
        case ("NSString", .number(let number)): number.description
        case ("NSUUID", .text(let text)): UUID(uuidString: text)
        case ("NSURL", .text(let text)): URL(string: text)
        default: nil
        }
    }
}
