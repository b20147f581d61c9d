import Foundation

/// Something whose values can be read by key: what predicates and sort descriptors see of an object.
public protocol KeyValueSource {
    /// The value of a key; nil where there is none.
    ///
    /// - Throws: when there is no such key. What is thrown reaches whoever evaluates through a throwing form.
    func predicateValue(forKey key: String) throws -> Any?

    /// Whether a key path is known to lead to a collection, be it of nothing. False where nobody knows, as by default.
    func leadsToCollection(_ keys: ArraySlice<String>) -> Bool
}

extension KeyValueSource {
    public func leadsToCollection(_ keys: ArraySlice<String>) -> Bool { false }
}

/// An absent key is nil. Foundation hands out dictionaries with keys of type `AnyHashable`, so all types of key are let in.
extension Dictionary: KeyValueSource {
    public func predicateValue(forKey key: String) -> Any? { (key as? Key).flatMap { self[$0] } }
}

/// An absent key is nil.
extension NSDictionary: KeyValueSource {
    public func predicateValue(forKey key: String) -> Any? { object(forKey: key) }
}

/// Why a predicate or expression has no answer.
public enum PredicateEvaluationError: Error, Equatable, Sendable, CustomStringConvertible, LocalizedError, _NSErrorBridging {
    case undefinedKey(String, type: String)
    case undefinedVariable(String)
    case unknownFunction(String)
    case invalidPattern(String, reason: String)
    case unsupported(String)

    public var description: String {
        switch self {
        case .undefinedKey(let key, let type): "\(type) has no value for the key \"\(key)\""
        case .undefinedVariable(let name): "the variable $\(name) has no value; pass it in the substitution variables"
        case .unknownFunction(let name): "there is no function \"\(name)\""
        case .invalidPattern(let pattern, let reason): "\"\(pattern)\" is not a regular expression: \(reason)"
        case .unsupported(let what): what
        }
    }

    public var errorDescription: String? { description }
}

/// Takes optionals out of an `Any`, whose wrapping hides that there is nothing in them.
func flattened(_ value: Any?) -> Any? {
    var value = value
    while let wrapped = value, !isPlain(type(of: wrapped)), let optional = wrapped as? any WrappedValue { value = optional.wrappedValue }
    return value
}

/// Types that are met often and are no optionals; looking a conformance up takes a quarter of an evaluation.
private func isPlain(_ type: Any.Type) -> Bool {
    type == String.self || type == Int.self || type == Double.self || type == Bool.self || type == Date.self || type is AnyClass
}

private protocol WrappedValue {
    var wrappedValue: Any? { get }
}

extension Optional: WrappedValue {
    fileprivate var wrappedValue: Any? { map { $0 } }
}

/// Something that is compared by what it stands for: an object and its identifier are equal in a predicate.
public protocol StandIn {
    var standsFor: AnyHashable { get }
}
