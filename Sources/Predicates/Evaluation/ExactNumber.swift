import Foundation

/// A number of any type, compared without going through a type that cannot hold it.
enum ExactNumber {
    case signed(Int64)
    /// Only what `signed` cannot hold.
    case unsigned(UInt64)
    case real(Double)
    case decimal(Decimal)

    init(_ number: UInt64) {
        self = Int64(exactly: number).map(ExactNumber.signed) ?? .unsigned(number)
    }

    init(_ number: NSNumber) {
        if let decimal = number as? NSDecimalNumber {
            self = .decimal(decimal.decimalValue)
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .real(number.doubleValue)
        case UInt8(ascii: "Q"): self = ExactNumber(number.uint64Value)
        default: self = .signed(number.int64Value)
        }
    }

    /// Nil for what is no number.
    init?(native: Any) {
        switch native {
        case let flag as Bool: self = .signed(flag ? 1 : 0)
        case let number as any BinaryInteger:
            if let signed = Int64(exactly: number) {
                self = .signed(signed)
            } else {
                self = UInt64(exactly: number).map(ExactNumber.unsigned) ?? .real(Double(number))
            }
        case let number as Float: self = .real(Double(number))
        case let number as CGFloat: self = .real(Double(number))
        case let number as Decimal: self = .decimal(number)
        default: return nil
        }
    }

    /// The nearest double.
    var double: Double {
        switch self {
        case .signed(let number): Double(number)
        case .unsigned(let number): Double(number)
        case .real(let number): number
        // NB: Decimal's own conversion multiplies by powers of ten and is off by an ulp for some; reading its text is not.
        case .decimal(let number): Double(number.description) ?? .nan
        }
    }

    var decimal: Decimal {
        switch self {
        case .signed(let number): Decimal(number)
        case .unsigned(let number): Decimal(number)
        case .real(let number): Decimal(number)
        case .decimal(let number): number
        }
    }

    /// The integer, where the number is one that fits.
    var integer: Int64? {
        switch self {
        case .signed(let number): number
        case .unsigned: nil
        case .real(let number): Int64(exactly: number)
        case .decimal(let number): Int64(number.description)
        }
    }

    /// The value to hand out.
    var any: Any {
        switch self {
        case .signed(let number): Int(number)
        case .unsigned(let number): number
        case .real(let number): number
        case .decimal(let number): number
        }
    }

    /// As an NSNumber prints: whole doubles have no fraction.
    var description: String {
        switch self {
        case .signed(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .real(let number):
            if let whole = Int64(exactly: number), abs(number) < 1e15 { "\(whole)" } else { "\(number)" }
        }
    }
}

extension ExactNumber {
    /// Nil when one of the two is not a number.
    ///
    /// A decimal with a fraction and a double compare as doubles, as in SQLite, where both are stored as one: a decimal 0.1 is equal to 0.1.
    func compare(_ other: ExactNumber) -> ComparisonResult? {
        switch (self, other) {
        case (.signed(let a), .signed(let b)): order(a, b)
        case (.unsigned(let a), .unsigned(let b)): order(a, b)
        case (.signed, .unsigned): .orderedAscending
        case (.unsigned, .signed): .orderedDescending
        case (.real(let a), .real(let b)): a.isNaN || b.isNaN ? nil : order(a, b)
        case (.signed(let a), .real(let b)): compareExactly(a, b)
        case (.unsigned(let a), .real(let b)): compareExactly(a, b)
        case (.real, .signed), (.real, .unsigned): other.compare(self)?.reversed
        case (.decimal, .real) where integer != nil: ExactNumber.signed(integer ?? 0).compare(other)
        case (.real, .decimal) where other.integer != nil: compare(.signed(other.integer ?? 0))
        case (.decimal, .real), (.real, .decimal): ExactNumber.real(double).compare(.real(other.double))
        case (.decimal, _), (_, .decimal): decimal.isNaN || other.decimal.isNaN ? nil : order(decimal, other.decimal)
        }
    }
}

private func order<Number: Comparable>(_ a: Number, _ b: Number) -> ComparisonResult {
    a < b ? .orderedAscending : a == b ? .orderedSame : .orderedDescending
}

private func compareExactly(_ a: some FixedWidthInteger, _ b: Double) -> ComparisonResult? {
    if b.isNaN { return nil }
    if let whole = type(of: a).init(exactly: b.rounded(.down)) {
        if a != whole { return a < whole ? .orderedAscending : .orderedDescending }
        return b > b.rounded(.down) ? .orderedAscending : .orderedSame
    }
    return b > 0 ? .orderedAscending : .orderedDescending
}
