import Foundation

/// Expressions as text in the format language.
enum ExpressionPrinter {
    static func text(of expression: NSExpression) -> PrintedText {
        switch expression.tree {
        case .constant(let value): PrintedText(text(ofConstant: value))
        case .evaluatedObject: "SELF"
        case .anyKey: "ANYKEY"
        case .variable(let name): "$\(name)"
        case .keyPath(nil, let path): PrintedText(escaped(path))
        case .keyPath(let operand?, let path): "\(operandText(operand)).\(escaped(path, afterDot: true))"
        case .function(let name, let arguments): text(ofFunction: name, arguments)
        case .call(let target, let name, let arguments):
            "FUNCTION(\(list([target, NSExpression(forConstantValue: name)] + arguments)))"
        case .index(let collection, .at(let index)): "\(operandText(collection))[\(index)]"
        case .index(let collection, .first): "\(operandText(collection))[FIRST]"
        case .index(let collection, .last): "\(operandText(collection))[LAST]"
        case .index(let collection, .size): "\(operandText(collection))[SIZE]"
        case .aggregate(let elements): "{\(list(elements))}"
        case .set(let operation, let left, let right): "\(operandText(left)) \(operation.rawValue) \(operandText(right))"
        case .subquery(let collection, let variable, let predicate):
            "SUBQUERY(\(collection), $\(variable), \(predicate))"
        case .conditional(let predicate, let yes, let no): "TERNARY(\(predicate), \(list([yes, no])))"
        case .block(_, let arguments): "BLOCK(\(list(arguments)))"
        }
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func list(_ expressions: [NSExpression]) -> PrintedText {
        PrintedText(expressions.map { PrintedText($0) }, separator: ", ")
    }

    private static func text(ofFunction name: String, _ arguments: [NSExpression]) -> PrintedText {
        if let infix = InfixFunction.named(name), arguments.count == 2 {
            let left = part(arguments[0], within: infix, isRight: false)
            let right = part(arguments[1], within: infix, isRight: true)
            return "\(left) \(infix.symbol) \(right)"
        }
        if name == "castObject:toType:" { return "CAST(\(list(arguments)))" }
        return "\(name)(\(list(arguments)))"
    }

    /// An operand of an infix operator, in parentheses where it would otherwise bind differently.
    private static func part(_ expression: NSExpression, within outer: InfixFunction, isRight: Bool) -> PrintedText {
        if case .set = expression.tree { return "(\(expression))" }
        guard case .function(let name, let arguments) = expression.tree, arguments.count == 2,
            let inner = InfixFunction.named(name)
        else { return PrintedText(expression) }
        let bindsTighter = inner.precedence > outer.precedence
        let keepsSide = inner.precedence == outer.precedence && isRight == outer.isRightAssociative
        return bindsTighter || keepsSide ? PrintedText(expression) : "(\(expression))"
    }

    /// The text of something that is followed by a dot, a bracket or a set operator.
    private static func operandText(_ expression: NSExpression) -> PrintedText {
        switch expression.tree {
        case .function(let name, _) where InfixFunction.named(name) != nil: "(\(expression))"
        case .set: "(\(expression))"
        case .constant(let value) where Value(value).isNumber: "(\(expression))"
        default: PrintedText(expression)
        }
    }

    /// A key path with `#` before the keys that are words of the language.
    private static func escaped(_ path: String, afterDot: Bool = false) -> String {
        path.split(separator: ".", omittingEmptySubsequences: false).enumerated()
            .map { index, key in ReservedWord.contains(key) && (index == 0 && !afterDot) ? "#\(key)" : String(key) }
            .joined(separator: ".")
    }
}

extension ExpressionPrinter {
    static func text(ofConstant value: Any?) -> String {
        switch Value(value) {
        case .null: value is NSNull ? "<null>" : "nil"
        case .number(let number): number.description
        case .text(let text): quoted(text)
        case .date(let date): "CAST(\(String(format: "%.6f", date.timeIntervalSinceReferenceDate)), \"NSDate\")"
        case .list(let elements): "{\(elements.map(text(ofConstant:)).joined(separator: ", "))}"
        // Sets have no order of their own; a printed one has, so that texts can be compared.
        case .set(let elements): "{\(elements.map(text(ofConstant:)).sorted().joined(separator: ", "))}"
        case .uuid(let uuid): uuid.uuidString
        case .url(let url): url.absoluteString
        case .data(let data): "<\(data.map { String(format: "%02x", $0) }.joined())>"
        case .object(let object): String(describing: object)
        }
    }
}
