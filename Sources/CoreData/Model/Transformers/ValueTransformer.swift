import Foundation

/// Turns values of one type into values of another, and perhaps back: Foundation's class, which Linux does not have.
///
/// A transformable attribute names one, whose `transformedValue(_:)` makes `Data` of a value and whose `reverseTransformedValue(_:)` makes
/// the value again. A subclass of `NSSecureUnarchiveFromDataTransformer` works the other way round, as with Apple.
///
/// Called on the queue of whichever context reads or sets a value, and from several at once: keep no state, or guard it.
open class ValueTransformer: NSObject {
    /// The class of the values that `transformedValue(_:)` gives.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether `reverseTransformedValue(_:)` may be called. A transformable attribute needs it.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The value that stands for another; nil where there is none. By default, the same.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value for which another stands; nil where there is none.
    ///
    /// - Precondition: `allowsReverseTransformation()`.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        precondition(Self.allowsReverseTransformation(), "\(Self.self) does not transform in reverse: see allowsReverseTransformation().")
        return transformedValue(value)
    }

    /// Makes a transformer known under a name; nil takes the name back.
    public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        registered.withLock { $0[name] = transformer.map(Registered.init) }
    }

    /// The names under which transformers are known.
    public class func valueTransformerNames() -> [NSValueTransformerName] { registered.withLock { Array($0.keys) } }

    /// The transformer of a name; for the name of a subclass (`Module.Class`, or one of ours), one that is made now and kept.
    static func named(_ name: NSValueTransformerName) -> ValueTransformer? {
        if let known = registered.withLock({ $0[name]?.transformer }) { return known }
        let found: AnyClass? =
            NSClassFromString(name.rawValue) ?? NSManagedObjectModel.registeredClass(named: name.rawValue)
            ?? NSClassFromString("CoreData.\(name.rawValue)")
        guard let made = (found as? ValueTransformer.Type)?.init() else { return nil }
        setValueTransformer(made, forName: name)
        return made
    }

    public required override init() { super.init() }

    // What the contract above asks of transformers.
    private struct Registered: @unchecked Sendable {
        let transformer: ValueTransformer
    }

    private static let registered = Lock<[NSValueTransformerName: Registered]>(
        NSValueTransformerName.builtIn.mapValues(Registered.init)
    )
}

/// Lends `ValueTransformer` an initialiser that answers with a transformer that exists.
public protocol _ValueTransformerFactory {}

extension ValueTransformer: _ValueTransformerFactory {}

extension _ValueTransformerFactory where Self: ValueTransformer {
    /// The transformer that is known under a name; nil where there is none.
    public init?(forName name: NSValueTransformerName) {
        guard let transformer = ValueTransformer.named(name) as? Self else { return nil }
        self = transformer
    }
}
