import Foundation

/// Lends Foundation's collections key-value coding, which Objective-C brings on a Mac.
public protocol _KeyValueCollection: NSObject, Sequence {}

extension NSArray: _KeyValueCollection {}
extension NSSet: _KeyValueCollection {}
extension NSOrderedSet: _KeyValueCollection {}

extension _KeyValueCollection {
    /// The values of a key of all elements, as a collection of the same kind: an array has `NSNull` where there is none, a set leaves it out. Of
    /// `@count` the number of elements.
    public func value(forKey key: String) -> Any {
        (key.hasPrefix("@") ? value(forKeyPath: key) : KeyPathWalk.read(key, from: copy())) ?? NSNull()
    }

    /// The same along a path, which may end in `@count`, `@sum.pages` and the like.
    ///
    /// ```swift
    /// let pages = (books as NSArray).value(forKeyPath: "@sum.pages") as? Int
    /// ```
    // NB: of a copy, because Foundation makes an empty `Set` of the live set of a relationship.
    public func value(forKeyPath keyPath: String) -> Any? { KeyPathWalk.value(of: keyPath, in: copy()) }

    /// Sets a property of all elements, which are managed objects.
    public func setValue(_ value: Any?, forKey key: String) {
        for case let object as NSManagedObject in self { object.setValue(value, forKey: key) }
    }
}
