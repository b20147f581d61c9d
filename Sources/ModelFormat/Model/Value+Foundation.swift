import Foundation

extension Model.Value {
    /// A text, number, truth value, date, UUID, URL or data, of Swift's types or Foundation's; nil for any other value.
    package init?(scalar value: Any) {
        switch value {
        // NB: a cast turns the number 1 into a Bool, so numbers that are objects go by what they were made from.
        case let decimal as NSDecimalNumber where type(of: value) is AnyClass: self = .decimal(decimal.decimalValue)
        case let number as NSNumber where type(of: value) is AnyClass: self = Self.scalar(number)
        case let flag as Bool: self = .bool(flag)
        case let number as any BinaryInteger: self = Int64(exactly: number).map(Self.integer) ?? .real(Double(number))
        case let number as any BinaryFloatingPoint: self = .real(Double(number))
        case let number as Decimal: self = .decimal(number)
        case let text as String: self = .string(text)
        case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
        case let data as Data: self = .data(data)
        case let uuid as UUID: self = .uuid(uuid)
        case let url as URL: self = .uri(url.absoluteString)
        default: return nil
        }
    }

    private static func scalar(_ number: NSNumber) -> Self {
        if type(of: number) == type(of: NSNumber(value: true)) { return .bool(number.boolValue) }
        return "df".utf8.contains(UInt8(bitPattern: number.objCType.pointee)) ? .real(number.doubleValue) : .integer(number.int64Value)
    }
}
