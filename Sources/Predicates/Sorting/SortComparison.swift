import Foundation

/// How a sort descriptor orders values.
public enum SortKind: Sendable {
    /// Numbers by value, texts by their UTF-8 bytes.
    case binary
    case caseInsensitive
    case localized
    case localizedCaseInsensitive
    /// As file managers sort: numbers in a text by their value.
    case localizedStandard
    /// By a closure: only in memory.
    case comparator

    /// Nil for a selector nobody knows.
    package init?(_ selector: Selector?) {
        switch selector?.name {
        case nil, "compare:": self = .binary
        case "caseInsensitiveCompare:": self = .caseInsensitive
        case "localizedCompare:": self = .localized
        case "localizedCaseInsensitiveCompare:": self = .localizedCaseInsensitive
        case "localizedStandardCompare:": self = .localizedStandard
        default: return nil
        }
    }
}

/// The orders that values are sorted in, in memory as in SQL.
public enum SortComparison {
    /// The order of two values, ascending: nil first, then numbers, texts, the rest; values of one kind by `kind`.
    public static func compare(_ left: Any?, _ right: Any?, kind: SortKind = .binary) -> ComparisonResult {
        let left = Value(left).sortable, right = Value(right).sortable
        if case .text(let a) = left, case .text(let b) = right { return compare(a, b, kind) }
        if let order = left.order(to: right) { return order }
        return ComparisonResult(Int32(left.rank - right.rank))
    }

    /// The order of two texts in UTF-8: negative, zero or positive. For collations.
    public static func compare(
        utf8 left: UnsafeBufferPointer<UInt8>,
        _ right: UnsafeBufferPointer<UInt8>,
        kind: SortKind
    ) -> Int32 {
        switch kind {
        case .binary, .comparator: TextOrder.compare(left, right)
        case .caseInsensitive: TextOrder.compare(left, right, folding: .caseInsensitive)
        case .localized, .localizedCaseInsensitive, .localizedStandard:
            Int32(compare(String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self), kind).rawValue)
        }
    }

    private static func compare(_ left: String, _ right: String, _ kind: SortKind) -> ComparisonResult {
        switch kind {
        case .binary, .comparator: ComparisonResult(TextOrder.compare(left, right, folding: .literal))
        case .caseInsensitive: ComparisonResult(TextOrder.compare(left, right, folding: .caseInsensitive))
        case .localized: left.localizedCompare(right)
        case .localizedCaseInsensitive: left.localizedCaseInsensitiveCompare(right)
        case .localizedStandard: left.localizedStandardCompare(right)
        }
    }
}

extension Value {
    /// The place of the kind among the others, as SQLite's storage classes are placed.
    fileprivate var rank: Int {
        switch self {
        case .null: 0
        // SQLite stores what is not a number as NULL.
        case .number(let number) where number.double.isNaN: 0
        // A date is stored as a number, a URL as a text, a UUID as bytes; yet they have no order among each other.
        case .number: 1
        case .date: 2
        case .text: 3
        case .url: 4
        case .data: 5
        case .uuid: 6
        case .list, .set, .object: 7
        }
    }
}
