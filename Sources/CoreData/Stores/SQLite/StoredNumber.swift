import CSQLite
import Foundation

/// A decimal number as SQLite keeps it in a column of type DECIMAL.
enum StoredNumber {
    case integer(Int64)
    case real(Double)

    /// NB: Decimal's own conversion to a double is off by an ulp for some numbers; reading its text is not.
    init(_ number: Decimal) {
        let text = number.description
        self = Int64(text).map(Self.integer) ?? .real(Double(text) ?? .nan)
    }

    /// The number in a column; text and data that are none count as 0, as everywhere in SQLite.
    init(_ value: OpaquePointer?) {
        self =
            sqlite3_value_numeric_type(value) == SQLITE_INTEGER ? .integer(sqlite3_value_int64(value)) : .real(sqlite3_value_double(value))
    }

    /// The decimal with the fewest digits that is kept like this: 10.11 comes back as 10.11.
    var decimal: Decimal {
        switch self {
        case .integer(let number): Decimal(number)
        case .real(let number): Self.nearest(number)
        }
    }

    /// A double that is beyond all decimals, as rounding makes of the greatest one, is the greatest.
    private static func nearest(_ number: Double) -> Decimal {
        let decimal = Decimal(string: number.description) ?? .nan
        guard decimal.isNaN, !number.isNaN else { return decimal }
        return number < 0 ? -Decimal.greatestFiniteMagnitude : .greatestFiniteMagnitude
    }
}
