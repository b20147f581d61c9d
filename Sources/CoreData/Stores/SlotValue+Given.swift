import Foundation

extension SlotValue {
    /// The value that a store's class gives for an attribute; nil for one of another type, and for a number that the attribute cannot hold.
    init?(given value: Any, for attribute: NSAttributeDescription) {
        let stored = SlotValue(value, for: attribute)
        if stored == .null { return nil }
        if case .float(let number) = stored, !number.isFinite, Self.isFinite(value) { return nil }
        if let range = Self.range(of: attribute.attributeType) {
            guard let number = Self.whole(value), range.contains(number) else { return nil }
        }
        self = stored
    }

    private static func isFinite(_ number: Any) -> Bool { ((number as? NSNumber)?.doubleValue ?? number as? Double)?.isFinite == true }

    private static func range(of type: NSAttributeType) -> ClosedRange<Int64>? {
        switch type {
        case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
        case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
        case .integer64AttributeType: Int64.min...Int64.max
        default: nil
        }
    }

    /// Nil for a fraction, and for what no 64 bits hold.
    private static func whole(_ value: Any) -> Int64? {
        guard case .number(let number)? = ReferenceObject(value) else { return nil }
        return number
    }
}
