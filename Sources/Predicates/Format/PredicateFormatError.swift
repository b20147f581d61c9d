import Foundation

/// A format, or the arguments given with it, that says nothing.
public struct PredicateFormatError: Error, Equatable, Sendable, CustomStringConvertible, LocalizedError, _NSErrorBridging {
    public let format: String
    /// Where the trouble is, counted in Unicode scalars from the start of the format.
    public let offset: Int
    /// What was expected there, and what was found.
    public let reason: String

    public init(format: String, offset: Int, reason: String) {
        self.format = format
        self.offset = offset
        self.reason = reason
    }

    public var description: String {
        "Unable to parse the format string \(ExpressionPrinter.quoted(format)) at offset \(offset): \(reason)"
    }

    public var errorDescription: String? { description }
}
