/// The name of a method, for sort descriptors. Nothing can be called through it.
public struct Selector: ExpressibleByStringLiteral, Hashable, Sendable, CustomStringConvertible {
    public let name: String

    public init(_ name: String) { self.name = name }
    public init(stringLiteral name: String) { self.name = name }

    public var description: String { name }
}
