import Foundation

/// Text in the making: pieces of it, some of which are still to be printed.
///
/// Printing goes piece by piece instead of calling itself, so that what is nested deep needs no deep stack, and copies no text twice.
struct PrintedText: ExpressibleByStringInterpolation {
    enum Piece {
        case text(String)
        case expression(NSExpression)
        case predicate(NSPredicate)
    }

    fileprivate(set) var pieces: [Piece]

    init(_ text: String) { pieces = [.text(text)] }
    init(_ expression: NSExpression) { pieces = [.expression(expression)] }
    init(_ predicate: NSPredicate) { pieces = [.predicate(predicate)] }
    init(stringLiteral text: String) { self.init(text) }
    init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

    /// Several texts with a separator between them.
    init(_ parts: [PrintedText], separator: String) {
        pieces = []
        for (index, part) in parts.enumerated() {
            if index > 0 { pieces.append(.text(separator)) }
            pieces += part.pieces
        }
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        init(literalCapacity: Int, interpolationCount: Int) { pieces.reserveCapacity(2 * interpolationCount + 1) }

        mutating func appendLiteral(_ text: String) { if !text.isEmpty { pieces.append(.text(text)) } }
        mutating func appendInterpolation(_ text: String) { pieces.append(.text(text)) }
        mutating func appendInterpolation(_ text: PrintedText) { pieces += text.pieces }
        mutating func appendInterpolation(_ expression: NSExpression) { pieces.append(.expression(expression)) }
        mutating func appendInterpolation(_ predicate: NSPredicate) { pieces.append(.predicate(predicate)) }
    }

    /// The whole text.
    var string: String {
        var string = ""
        var waiting: [Piece] = pieces.reversed()
        while let piece = waiting.popLast() {
            switch piece {
            case .text(let text): string += text
            case .expression(let expression): waiting += ExpressionPrinter.text(of: expression).pieces.reversed()
            case .predicate(let predicate): waiting += predicate.printedText.pieces.reversed()
            }
        }
        return string
    }
}
