import Foundation

/// Values as rows hold them and as users of attributes see them.
extension SlotValue {
    /// The value of an attribute as its row holds it; `.null` for one that does not fit.
    init(_ value: Any, for attribute: NSAttributeDescription) {
        switch (attribute.attributeType, value) {
        case (.integer16AttributeType, _), (.integer32AttributeType, _), (.integer64AttributeType, _):
            self = SlotValue.integer(from: value)
        case (.booleanAttributeType, let flag as Bool): self = .boolean(flag)
        case (.booleanAttributeType, let number as NSNumber): self = .boolean(number.boolValue)
        case (.floatAttributeType, let number as Float): self = .float(number)
        case (.floatAttributeType, let number as Double): self = .float(Float(number))
        case (.floatAttributeType, let number as NSNumber): self = .float(number.floatValue)
        case (.floatAttributeType, let number as Int): self = .float(Float(number))
        case (.doubleAttributeType, let number as Double): self = .double(number)
        case (.doubleAttributeType, let number as Float): self = .double(Double(number))
        case (.doubleAttributeType, let number as NSNumber): self = .double(number.doubleValue)
        case (.doubleAttributeType, let number as Int): self = .double(Double(number))
        case (.decimalAttributeType, _): self = SlotValue.decimal(from: value)
        case (.dateAttributeType, let date as Date): self = .date(date)
        case (.stringAttributeType, let text as String): self = .string(text)
        // NB: on a Mac it becomes an NSString on its way, as a String does.
        case (.stringAttributeType, let text as Substring): self = .string(String(text))
        case (.binaryDataAttributeType, let data as Data): self = .binary(data)
        case (.UUIDAttributeType, let uuid as UUID): self = .uuid(uuid)
        case (.URIAttributeType, let url as URL): self = .string(url.absoluteString)
        case (.transformableAttributeType, _): self = (try? attribute.data(for: value)).map(SlotValue.binary) ?? .null
        default: self = .null
        }
    }

    private static func integer(from value: Any) -> SlotValue {
        switch value {
        case let number as NSNumber: .integer(clamped(number))
        case let number as any BinaryInteger: .integer(Int64(clamping: number))
        default: .null
        }
    }

    /// The number without its fraction, or the greatest or least one there is.
    ///
    /// NB: Foundation's own conversion makes the least number of one that is too large.
    private static func clamped(_ number: NSNumber) -> Int64 {
        switch number.doubleValue {
        case 0x1p63...: number as? Int64 ?? .max
        case ..<(-0x1p63): .min
        default: number.int64Value
        }
    }

    /// NB: a double becomes the decimal with the fewest digits that is nearest to it; Foundation's own conversion adds digits.
    private static func decimal(from value: Any) -> SlotValue {
        switch value {
        case let number as Decimal: .decimal(number)
        case let number as NSNumber: .decimal(Decimal(string: number.stringValue) ?? .nan)
        case let number as any BinaryInteger: .decimal(Decimal(string: "\(number)") ?? .nan)
        case let number as any BinaryFloatingPoint: .decimal(Decimal(string: Double(number).description) ?? .nan)
        default: .null
        }
    }

    /// The value as users of an attribute see it.
    ///
    /// - Throws: why a transformable attribute's data stand for no value.
    func value(for attribute: NSAttributeDescription) throws -> Any? {
        switch (attribute.attributeType, self) {
        case (.URIAttributeType, .string(let text)): URL(string: text)
        case (.transformableAttributeType, .binary(let data)): try attribute.value(for: data)
        default: asAny
        }
    }

    /// The value as the row holds it, numbers as `NSNumber`.
    private var asAny: Any? {
        switch self {
        case .null: nil
        case .integer(let number): NSNumber(value: number)
        case .boolean(let flag): NSNumber(value: flag)
        case .float(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        // NB: not as the NSDecimalNumber to which it can be cast: on Linux that one overflows the stack when asked for its hash.
        case .decimal(let number): number
        case .date(let date): date
        case .uuid(let uuid): uuid
        case .string(let text): text
        case .binary(let data): data
        case .reference(let reference): reference
        }
    }
}
