import Foundation
import Observation

/// How a key is observed: Foundation's, which Linux does not have.
@available(*, unavailable, message: "No key-value observing on Linux: import Observation; Observations { song.observed.title } tells.")
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let new = Self(rawValue: 1)
    public static let old = Self(rawValue: 2)
    public static let initial = Self(rawValue: 4)
    public static let prior = Self(rawValue: 8)
}

/// Foundation's, which Linux does not have.
@available(*, unavailable, message: "No key-value observing on Linux: import Observation; Observations { song.observed.title } tells.")
public struct NSKeyValueObservedChange<Value> {
    public var newValue: Value? { absent() }
    public var oldValue: Value? { absent() }
}

/// Foundation's, which Linux does not have.
@available(*, unavailable, message: "No key-value observing on Linux: import Observation; Observations { song.observed.title } tells.")
public final class NSKeyValueObservation {
    init() { absent() }
    public func invalidate() { absent() }
}

// NB: a key path of `Self` cannot be written for NSManagedObject itself.
extension Observable where Self: NSManagedObject {
    @available(*, unavailable, message: "No key-value observing on Linux: import Observation; Observations { song.observed.title } tells.")
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation { absent() }
}

extension NSManagedObject {
    @available(*, unavailable, message: "There is no key-value observing on Linux: NSManagedObjectContextObjectsDidChange tells.")
    public func addObserver(
        _ observer: NSObject,
        forKeyPath keyPath: String,
        options: NSKeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer?
    ) { absent() }

    @available(*, unavailable, message: "There is no key-value observing on Linux: NSManagedObjectContextObjectsDidChange tells.")
    public func removeObserver(_ observer: NSObject, forKeyPath keyPath: String) { absent() }
}
