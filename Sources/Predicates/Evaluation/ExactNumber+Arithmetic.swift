import Foundation

/// Integers stay integers until they overflow, then become doubles, as in SQLite; a double makes the result a double.
extension ExactNumber {
    static func + (a: ExactNumber, b: ExactNumber) -> ExactNumber {
        combine(a, b, { $0.addingReportingOverflow($1) }, +, +)
    }

    static func - (a: ExactNumber, b: ExactNumber) -> ExactNumber {
        combine(a, b, { $0.subtractingReportingOverflow($1) }, -, -)
    }

    static func * (a: ExactNumber, b: ExactNumber) -> ExactNumber {
        combine(a, b, { $0.multipliedReportingOverflow(by: $1) }, *, *)
    }

    /// Integers divide without a remainder; nil for a division by zero.
    func divided(by other: ExactNumber) -> ExactNumber? {
        if other.double == 0 { return nil }
        return ExactNumber.combine(self, other, { $0.dividedReportingOverflow(by: $1) }, /, /)
    }

    /// Nil for a division by zero.
    func remainder(dividingBy other: ExactNumber) -> ExactNumber? {
        if other.double == 0 { return nil }
        if case .signed(let a) = self, case .signed(let b) = other {
            return .signed(a.remainderReportingOverflow(dividingBy: b).partialValue)
        }
        return .real(double.truncatingRemainder(dividingBy: other.double))
    }

    private static func combine(
        _ a: ExactNumber,
        _ b: ExactNumber,
        _ integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        _ decimals: (Decimal, Decimal) -> Decimal,
        _ doubles: (Double, Double) -> Double
    ) -> ExactNumber {
        switch (a, b) {
        case (.signed(let x), .signed(let y)):
            let (result, overflow) = integers(x, y)
            return overflow ? .real(doubles(Double(x), Double(y))) : .signed(result)
        case (.real, _), (_, .real): return .real(doubles(a.double, b.double))
        case (.decimal, _), (_, .decimal): return .decimal(decimals(a.decimal, b.decimal))
        default: return .real(doubles(a.double, b.double))
        }
    }
}
