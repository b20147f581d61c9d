import Foundation

extension NSPredicate {
    /// The predicate as text in the format language, as Apple prints it; `BLOCKPREDICATE` for a block.
    ///
    /// Works for compounds that Foundation built too, whose own `predicateFormat` says nothing here.
    public var printedFormat: String { printedText.string }

    var printedText: PrintedText {
        switch shape {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): comparison.comparisonText
        case .compound(let compound): compound.compoundText
        case .opaque: PrintedText(type(of: self) == NSPredicate.self ? "BLOCKPREDICATE" : description)
        }
    }
}

extension NSComparisonPredicate {
    fileprivate var comparisonText: PrintedText {
        "\(comparisonPredicateModifier.keyword)\(leftExpression) \(predicateOperatorType.keyword)\(options.text) \(rightExpression)"
    }
}

extension NSCompoundPredicate {
    fileprivate var compoundText: PrintedText {
        switch compoundPredicateType {
        case .not: "NOT \(subpredicates[0].printedPart(within: .not))"
        case .and where subpredicates.isEmpty: "TRUEPREDICATE"
        case .or where subpredicates.isEmpty: "FALSEPREDICATE"
        case .and: PrintedText(subpredicates.map { $0.printedPart(within: .and) }, separator: " AND ")
        case .or: PrintedText(subpredicates.map { $0.printedPart(within: .or) }, separator: " OR ")
        }
    }
}

extension NSPredicate {
    /// The text as a part of a compound: in parentheses when it is a compound itself.
    fileprivate func printedPart(within type: NSCompoundPredicate.LogicalType) -> PrintedText {
        guard let compound = self as? NSCompoundPredicate else { return PrintedText(self) }
        let standsAlone = compound.compoundPredicateType == .not ? type != .not : compound.subpredicates.isEmpty
        return standsAlone ? PrintedText(self) : "(\(self))"
    }
}

extension NSComparisonPredicate.Modifier {
    fileprivate var keyword: String {
        switch self {
        case .direct: ""
        case .all: "ALL "
        case .any: "ANY "
        }
    }
}

extension NSComparisonPredicate.Operator {
    var keyword: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .customSelector: "CUSTOMSELECTOR"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }
}

extension NSComparisonPredicate.Options {
    fileprivate var text: String {
        let letters =
            (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
            + (contains(.normalized) ? "n" : "") + (contains(.localeSensitive) ? "l" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
