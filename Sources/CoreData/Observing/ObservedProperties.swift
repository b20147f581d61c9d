import Foundation
import Observation

/// An object's properties can be observed with `withObservationTracking` and `Observations`, as those of an `@Observable` class: through
/// `observed`. What is read without it costs nothing, and is not observed.
extension NSManagedObject: Observable {}

extension Observable where Self: NSManagedObject {
    /// The object's properties, for whoever wants to be told when one that it has read here may have another value.
    ///
    /// ```swift
    /// let titles = Observations { song.observed.title }
    /// ```
    ///
    /// Observers are told when the event in which the change happens ends, as `NSManagedObjectContextObjectsDidChange` is posted: at the end of
    /// a `perform` block or of the main queue's turn, by a save or a fetch. Whatever changes the value counts: a setter, key-value coding, an
    /// inverse, a merge, a rollback, a refresh, a reset. A property whose name the class does not say (`KeyPathNaming`), such as one that it
    /// computes, may change with any other.
    ///
    /// An addition to Apple's interface.
    ///
    /// > Concurrency: on the queue of the object's context, as the object; observers are told on it, too.
    public var observed: ObservedProperties<Self> { ObservedProperties(object: self) }
}

/// The properties of one object, each of which is observed by who reads it here.
@dynamicMemberLookup
public struct ObservedProperties<Object: NSManagedObject> {
    let object: Object

    /// Reads the property of the object, and has the observer that is being made told of its changes, if there is one.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value {
        object.observation.noteAccess(to: keyPath, of: object)
        return object[keyPath: keyPath]
    }
}
