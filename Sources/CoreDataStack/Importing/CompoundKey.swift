import CoreData

/// The values of two attributes, which together tell objects apart: the source of an invoice and its number.
///
/// ```swift
/// let key = CompoundKey2("shop", 4711)
/// ```
///
/// A part is optional where its attribute is. A key with a nil is no object's, as with a uniqueness constraint.
public struct CompoundKey2<First: ManagedValue & Hashable, Second: ManagedValue & Hashable>: Hashable {
    public var first: First
    public var second: Second

    public init(_ first: First, _ second: Second) { (self.first, self.second) = (first, second) }
}

/// The values of three attributes, as `CompoundKey2` has those of two.
public struct CompoundKey3<First: ManagedValue & Hashable, Second: ManagedValue & Hashable, Third: ManagedValue & Hashable>: Hashable {
    public var first: First
    public var second: Second
    public var third: Third

    public init(_ first: First, _ second: Second, _ third: Third) { (self.first, self.second, self.third) = (first, second, third) }
}

extension CompoundKey2: Sendable where First: Sendable, Second: Sendable {}
extension CompoundKey3: Sendable where First: Sendable, Second: Sendable, Third: Sendable {}

extension CompoundKey2: CustomStringConvertible {
    /// The values in parentheses.
    public var description: String { partsDescription }
}

extension CompoundKey3: CustomStringConvertible {
    /// The values in parentheses.
    public var description: String { partsDescription }
}

/// What a look-up needs of a compound key.
protocol KeyOfParts: Hashable {
    /// In the order of the attributes.
    var parts: [any ManagedValue] { get }
}

extension CompoundKey2: KeyOfParts {
    var parts: [any ManagedValue] { [first, second] }
}

extension CompoundKey3: KeyOfParts {
    var parts: [any ManagedValue] { [first, second, third] }
}

extension KeyOfParts {
    fileprivate var partsDescription: String { "(\(parts.map { $0.asAny.map { "\($0)" } ?? "nil" }.joined(separator: ", ")))" }
}
