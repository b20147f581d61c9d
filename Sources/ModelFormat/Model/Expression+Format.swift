extension Model.Expression {
    /// The expression in the format language of predicates.
    public var format: String {
        switch self {
        case .text(let text): text
        case .constant(let value): value?.format ?? "nil"
        case .evaluatedObject: "SELF"
        case .variable(let name): "$\(name)"
        case .keyPath(nil, let path), .keyPath(.evaluatedObject?, let path): keyPathFormat(path)
        case .keyPath(let operand?, let path): "\(operand.format).\(path)"
        case .function(let name, let arguments): functionFormat(name, arguments)
        case .call(let target, let name, let arguments): "FUNCTION(\(list([target, .constant(.string(name))] + arguments)))"
        case .aggregate(let elements): "{\(list(elements))}"
        case .set(let operation, let left, let right): "(\(left.format)) \(operation.keyword) (\(right.format))"
        case .subquery(let collection, let variable, let predicate): "SUBQUERY(\(collection.format), $\(variable), \(predicate.format))"
        case .conditional(let predicate, let yes, let no): "TERNARY(\(predicate.format), \(list([yes, no])))"
        case .fetch(let request, let context, let countOnly): "FETCH(\(list([request, context])), \(countOnly ? "YES" : "NO"))"
        case .anyKey: "ANYKEY"
        }
    }
}

private func list(_ expressions: [Model.Expression]) -> String { expressions.map(\.format).joined(separator: ", ") }

/// Operators that stand for predefined functions of two values.
private let infixSymbols = [
    "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
]

private func functionFormat(_ name: String, _ arguments: [Model.Expression]) -> String {
    if let symbol = infixSymbols[name], arguments.count == 2 { return "(\(arguments[0].format) \(symbol) \(arguments[1].format))" }
    if name == "castObject:toType:" { return "CAST(\(list(arguments)))" }
    return "\(name)(\(list(arguments)))"
}

/// Words that are no keys at the start of a key path unless a `#` says so.
private let reservedWords: Set<String> = [
    "and", "or", "not", "all", "any", "some", "none", "in", "like", "matches", "contains", "beginswith", "endswith", "between", "null",
    "nil", "self", "true", "yes", "false", "no", "anykey", "truepredicate", "falsepredicate", "first", "last", "size",
]

private func keyPathFormat(_ path: String) -> String {
    let first = path.prefix { $0 != "." }
    return reservedWords.contains(first.lowercased()) ? "#\(path)" : path
}

extension Model.Expression.SetOperation {
    fileprivate var keyword: String {
        switch self {
        case .union: "UNION"
        case .intersect: "INTERSECT"
        case .minus: "MINUS"
        }
    }
}

extension Model.Value {
    /// The value as a constant in the format language. Data and objects have no such form: theirs says what they are.
    var format: String {
        switch self {
        case .string(let text): quoted(text)
        case .uri(let text): quoted(text)
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .bool(let flag): flag ? "1" : "0"
        case .decimal(let number): number.description
        case .date(let seconds): "CAST(\(seconds), \"NSDate\")"
        case .data(let data): "<\(data.count) bytes>"
        case .uuid(let uuid): quoted(uuid.uuidString)
        case .array(let elements): "{\(elements.map(\.format).joined(separator: ", "))}"
        case .archived(let className, _): "<\(className)>"
        }
    }
}

private func quoted(_ text: String) -> String {
    let escapes: [Unicode.Scalar: String] = ["\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"]
    return "\"" + text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined() + "\""
}
