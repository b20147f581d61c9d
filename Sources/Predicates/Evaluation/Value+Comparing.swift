import CShims
import Foundation

extension Value {
    /// Equal in kind and value; numbers of any type by their exact value, texts byte by byte after folding.
    func isEqual(to other: Value, folding: TextFolding = .literal) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.text(let a), .text(let b)): TextOrder.compare(a, b, folding: folding) == 0
        case (.list(let a), .list(let b)): a.count == b.count && zip(a, b).allSatisfy { Value($0).isEqual(to: Value($1), folding: folding) }
        case (.set(let a), .set(let b)): a.count == b.count && Set(a.map { DistinctValue($0) }) == Set(b.map { DistinctValue($0) })
        case (.object(let a), .object(let b)): sameObject(a, b)
        default: order(to: other) == .orderedSame
        }
    }

    /// Which comes first; nil for a pair that has no order, such as a text and a number.
    func order(to other: Value, folding: TextFolding = .literal) -> ComparisonResult? {
        switch (self, other) {
        case (.number(let a), .number(let b)): a.compare(b)
        case (.text(let a), .text(let b)): ComparisonResult(TextOrder.compare(a, b, folding: folding))
        // NB: a date of no number is in no order; Foundation takes it for equal to every other.
        case (.date(let a), .date(let b)): ExactNumber(a).compare(ExactNumber(b))
        case (.uuid(let a), .uuid(let b)): ComparisonResult(compareBytes(a.bytes, b.bytes))
        case (.data(let a), .data(let b)): ComparisonResult(compareBytes(a, b))
        case (.url(let a), .url(let b)): ComparisonResult(TextOrder.compare(a.absoluteString, b.absoluteString, folding: .literal))
        default: nil
        }
    }
}

extension ExactNumber {
    fileprivate init(_ date: Date) { self = .real(date.timeIntervalSinceReferenceDate) }
}

extension ComparisonResult {
    /// From the sign of a C comparison.
    init(_ sign: Int32) {
        self = sign < 0 ? .orderedAscending : sign > 0 ? .orderedDescending : .orderedSame
    }

    var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}

private func sameObject(_ a: Any, _ b: Any) -> Bool {
    if let a = a as? any StandIn, let b = b as? any StandIn { return a.standsFor == b.standsFor }
    // NB: as an NSObject, a dictionary would be equal to no Swift dictionary.
    if let a = a as? [AnyHashable: Any], let b = b as? [AnyHashable: Any] { return (a as NSDictionary).isEqual(b as NSDictionary) }
    if let a = a as? NSObject { return a.isEqual(b) }
    if type(of: a) is AnyClass, type(of: b) is AnyClass, (a as AnyObject) === (b as AnyObject) { return true }
    if let a = a as? AnyHashable, let b = b as? AnyHashable { return a == b }
    return false
}

private func compareBytes(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int32 {
    if a.elementsEqual(b) { return 0 }
    return a.lexicographicallyPrecedes(b) ? -1 : 1
}

extension UUID {
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}
