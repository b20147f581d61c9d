import Foundation

/// A type that an attribute's accessor can have.
///
/// Scalars read 0 or false where the attribute is nil; use the optional form to tell the two apart.
public protocol ManagedValue {
    /// Reads the value from a row of `object`; `slot` is one of this type's kind.
    static func read(_ object: NSManagedObject, slot: Int) -> Self
    /// Reads the value of a slot that is not null; nil where what it holds is no value of this type.
    static func readIfAny(_ object: NSManagedObject, slot: Int) -> Self?
    /// Writes the value into a row of `object`.
    static func write(_ value: Self, to object: NSManagedObject, slot: Int)
    /// What stands for nil where the value goes by name.
    static func fromAny(_ value: Any?) -> Self
    /// Whether a value that goes by name is of this type, or a number as it is.
    static func takes(_ value: Any) -> Bool
    var asAny: Any? { get }
    /// The raw value of the slot kind that holds it without conversion.
    static var slotKind: UInt8 { get }
}

extension ManagedValue {
    @inlinable public static func readIfAny(_ object: NSManagedObject, slot: Int) -> Self? { read(object, slot: slot) }
    public static func takes(_ value: Any) -> Bool { value is Self }
}

/// A number or date: a scalar that lies in the row as it is.
public protocol ManagedScalar: ManagedValue {
    init()
}

extension ManagedScalar {
    @inlinable public static func read(_ object: NSManagedObject, slot: Int) -> Self { object.load(slot, as: Self.self) }
    public static func takes(_ value: Any) -> Bool { value is NSNumber }
}

extension Int16: ManagedScalar {
    @inlinable public static var slotKind: UInt8 { SlotKind.int16.rawValue }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(Int64(value), slot) }
    public static func fromAny(_ value: Any?) -> Self { (value as? NSNumber)?.int16Value ?? 0 }
    public var asAny: Any? { NSNumber(value: self) }
}

extension Int32: ManagedScalar {
    @inlinable public static var slotKind: UInt8 { SlotKind.int32.rawValue }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(Int64(value), slot) }
    public static func fromAny(_ value: Any?) -> Self { (value as? NSNumber)?.int32Value ?? 0 }
    public var asAny: Any? { NSNumber(value: self) }
}

extension Int64: ManagedScalar {
    @inlinable public static var slotKind: UInt8 { SlotKind.int64.rawValue }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(value, slot) }
    public static func fromAny(_ value: Any?) -> Self { (value as? NSNumber)?.int64Value ?? 0 }
    public var asAny: Any? { NSNumber(value: self) }
}

extension Int: ManagedScalar {
    @inlinable public static var slotKind: UInt8 { SlotKind.int64.rawValue }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(Int64(value), slot) }
    public static func fromAny(_ value: Any?) -> Self { (value as? NSNumber)?.intValue ?? 0 }
    public var asAny: Any? { NSNumber(value: self) }
}

extension Double: ManagedScalar {
    @inlinable public static var slotKind: UInt8 { SlotKind.double.rawValue }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(value, slot) }
    public static func fromAny(_ value: Any?) -> Self { (value as? NSNumber)?.doubleValue ?? 0 }
    public var asAny: Any? { NSNumber(value: self) }
}

extension Float: ManagedScalar {
    @inlinable public static var slotKind: UInt8 { SlotKind.float.rawValue }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(value, slot) }
    public static func fromAny(_ value: Any?) -> Self { (value as? NSNumber)?.floatValue ?? 0 }
    public var asAny: Any? { NSNumber(value: self) }
}

extension Bool: ManagedScalar {
    @inlinable public static var slotKind: UInt8 { SlotKind.boolean.rawValue }
    @inlinable public static func read(_ object: NSManagedObject, slot: Int) -> Self { object.load(slot, as: UInt8.self) != 0 }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(Int64(value ? 1 : 0), slot) }
    public static func fromAny(_ value: Any?) -> Self { (value as? NSNumber)?.boolValue ?? false }
    public var asAny: Any? { NSNumber(value: self) }
}

/// A date that is nil reads as the reference date; declare the attribute `Date?` where it can be nil.
extension Date: ManagedScalar {
    @inlinable public static var slotKind: UInt8 { SlotKind.date.rawValue }
    @inlinable public static func read(_ object: NSManagedObject, slot: Int) -> Self { object.load(slot, as: Self.self) }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) {
        object.write(value.timeIntervalSinceReferenceDate, slot)
    }
    public static func takes(_ value: Any) -> Bool { value is Date }
    public static func fromAny(_ value: Any?) -> Self { value as? Date ?? Date(timeIntervalSinceReferenceDate: 0) }
    public var asAny: Any? { self }
}

/// A UUID that is nil reads as all zeros; declare the attribute `UUID?` where it can be nil.
extension UUID: ManagedValue {
    @inlinable public static var slotKind: UInt8 { SlotKind.uuid.rawValue }
    @inlinable public static func read(_ object: NSManagedObject, slot: Int) -> Self { object.load(slot, as: Self.self) }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(value, slot) }
    public static func fromAny(_ value: Any?) -> Self { value as? UUID ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    public var asAny: Any? { self }
}

/// Text that is nil reads as empty; declare the attribute `String?` to tell the two apart.
extension String: ManagedValue {
    @inlinable public static var slotKind: UInt8 { SlotKind.string.rawValue }
    @inlinable public static func read(_ object: NSManagedObject, slot: Int) -> Self { object.string(slot) ?? "" }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(value, slot) }
    public static func fromAny(_ value: Any?) -> Self { value as? String ?? "" }
    public var asAny: Any? { self }
}

/// Data that is nil reads as empty; declare the attribute `Data?` to tell the two apart.
extension Data: ManagedValue {
    @inlinable public static var slotKind: UInt8 { SlotKind.binary.rawValue }
    @inlinable public static func read(_ object: NSManagedObject, slot: Int) -> Self { object.data(slot) ?? Data() }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(value, slot) }
    public static func fromAny(_ value: Any?) -> Self { value as? Data ?? Data() }
    public var asAny: Any? { self }
}

/// Kept in the store as SQLite can: whole numbers of 64 bits, else the nearest double.
extension Decimal: ManagedScalar {
    @inlinable public static var slotKind: UInt8 { SlotKind.decimal.rawValue }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(value, slot) }
    public static func fromAny(_ value: Any?) -> Self { (value as? NSNumber)?.decimalValue ?? 0 }
    public var asAny: Any? { self }
}

/// A URL that is nil, or whose text in the store is none, reads as `about:blank`; declare the attribute `URL?`, which is nil then.
extension URL: ManagedValue {
    @inlinable public static var slotKind: UInt8 { SlotKind.string.rawValue }
    public static func read(_ object: NSManagedObject, slot: Int) -> Self { readIfAny(object, slot: slot) ?? blank }
    @inlinable public static func readIfAny(_ object: NSManagedObject, slot: Int) -> Self? { object.string(slot).flatMap(URL.init) }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) { object.write(value.absoluteString, slot) }
    public static func fromAny(_ value: Any?) -> Self { value as? URL ?? blank }
    public var asAny: Any? { self }

    // A URL as the standard has it.
    private static var blank: URL { URL(string: "about:blank")! }
}

extension Optional: ManagedValue where Wrapped: ManagedValue {
    @inlinable public static var slotKind: UInt8 { Wrapped.slotKind }
    @inlinable public static func read(_ object: NSManagedObject, slot: Int) -> Self {
        object.isNil(slot) ? nil : Wrapped.readIfAny(object, slot: slot)
    }
    @inlinable public static func write(_ value: Self, to object: NSManagedObject, slot: Int) {
        if let value { Wrapped.write(value, to: object, slot: slot) } else { object.writeNull(slot) }
    }
    public static func takes(_ value: Any) -> Bool { Wrapped.takes(value) }
    public static func fromAny(_ value: Any?) -> Self { value.map { Wrapped.fromAny($0) } }
    public var asAny: Any? { flatMap(\.asAny) }
}
