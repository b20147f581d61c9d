import Predicates
import SQLiteDriver
import class Predicates.NSComparisonPredicate

extension PredicateSQL {
    /// CONTAINS, BEGINSWITH, ENDSWITH, LIKE and MATCHES, and IN where it means a text in a text.
    mutating func writeTextMatch(_ comparison: NSComparisonPredicate, text subject: SQLOperand, pattern: SQLOperand) throws {
        guard subject.kind == .text, pattern.kind == .text else { return text.append("NULL") }
        let folding = SQLFunctions.folding(of: comparison.options)
        switch comparison.predicateOperatorType {
        case .beginsWith where folding == .literal:
            if try writePrefixRange(subject, pattern) { return }
            writeMatch("begins", folding, subject, pattern)
        case .beginsWith: writeMatch("begins", folding, subject, pattern)
        case .endsWith: writeMatch("ends", folding, subject, pattern)
        case .like: writeMatch("like", folding, subject, pattern)
        case .matches:
            try check(pattern, comparison.options)
            writeMatch("matches", folding, subject, pattern)
        default:
            if folding == .literal { writeContains(subject, pattern) } else { writeMatch("contains", folding, subject, pattern) }
        }
    }

    private mutating func writeMatch(_ kind: String, _ folding: TextFolding, _ subject: SQLOperand, _ pattern: SQLOperand) {
        text.append("\(SQLFunctions.match)('\(kind)', '\(SQLFunctions.letters(of: folding))', ")
        text.append(pattern.text)
        text.append(", ")
        text.append(subject.text)
        text.append(")")
    }

    private mutating func writeContains(_ subject: SQLOperand, _ pattern: SQLOperand) {
        text.append("\(SQLFunctions.position)(")
        text.append(subject.text)
        text.append(", ")
        text.append(pattern.text)
        text.append(") > 0")
    }

    /// The texts that begin with a constant are those from it up to its successor, which an index can find.
    ///
    /// False when there is no such range, and nothing is written.
    private mutating func writePrefixRange(_ subject: SQLOperand, _ pattern: SQLOperand) throws -> Bool {
        guard pattern.isConstant, case .text(let prefix)? = pattern.text.parameters.first, let end = TextRange.end(ofPrefix: prefix) else {
            return false
        }
        text.append("(")
        text.append(subject.text)
        text.append(" >= ")
        text.append(pattern.text)
        text.append(" AND ")
        text.append(subject.text)
        text.append(" < ")
        text.append(parameter: .text(end))
        text.append(")")
        return true
    }

    /// A function cannot say what is wrong with a pattern, so it is tried here; one that comes from a column is left to memory.
    private func check(_ pattern: SQLOperand, _ options: NSComparisonPredicate.Options) throws {
        guard pattern.isConstant, case .text(let expression)? = pattern.text.parameters.first else { throw BeyondSQL() }
        do {
            _ = try RegularExpressionMatcher(pattern: expression, options: options)
        } catch {
            throw CocoaError.coreData(.coreData, "The predicate cannot be evaluated: \(error).")
        }
    }
}

enum TextRange {
    /// The first text, in the order of UTF-8 bytes, after all that begin with `prefix`; nil when there is none.
    static func end(ofPrefix prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            guard let next = successor(of: last) else { continue }
            scalars.append(next)
            var end = String.UnicodeScalarView()
            end.append(contentsOf: scalars)
            return String(end)
        }
        return nil
    }

    /// NB: the surrogates from U+D800 to U+DFFF are no scalars.
    private static func successor(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        Unicode.Scalar(scalar.value == 0xD7FF ? 0xE000 : scalar.value + 1)
    }
}
