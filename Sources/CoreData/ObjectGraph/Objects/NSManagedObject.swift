import CShims
import Foundation

/// An object of the graph: one row of a store, faulted in when it is first used, tracked when it is changed.
///
/// Subclasses declare their properties over typed accessors (`Attribute`, `ToOne`, `ToMany`, `OrderedToMany`) and need no initialiser:
///
/// ```swift
/// final class Song: NSManagedObject {
///     private static let titleKey = Attribute<String?>("title")
///     var title: String? {
///         get { self[Song.titleKey] }
///         set { self[Song.titleKey] = newValue }
///     }
/// }
/// ```
///
/// > Concurrency: An object belongs to its context and is used on that context's queue only. It may be released on any thread.
open class NSManagedObject: NSObject {
    // NB: 56 bytes with the object header, which malloc serves from a 64-byte chunk; one more field would cost 16.
    // NB: @exclusivity(unchecked): an open class' public storage is otherwise checked dynamically at each access. Objects are confined to
    // their context's queue, and no access below spans a call to user code.
    @exclusivity(unchecked) @usableFromInline final var row: UnsafeMutableRawPointer
    // NB: where these are visible, as in tests, a subclass' property of one of their names and types would be taken for them.
    @exclusivity(unchecked) @usableFromInline final var rowKeeper: AnyObject
    /// Retained by hand: an accessor reads through it without counting references.
    @exclusivity(unchecked) @usableFromInline final var scopeReference: Unmanaged<EntityScope>
    /// The primary key; negative while it is temporary.
    @exclusivity(unchecked) final var key: Int64
    @exclusivity(unchecked) @usableFromInline final var state: ObjectState
    /// Slots changed in the last event that changed the object: bits 0 to 30, and bit 31 when the extras have more.
    @exclusivity(unchecked) final var changedBits: UInt32 = 0

    /// Creates an object of `entity` with the entity's default values and inserts it into `context`.
    ///
    /// With a context the object is among its `insertedObjects` at once, has a temporary ID, and gets `awakeFromInsert()`. Without one it
    /// can be filled and inserted later with `insert(_:)`.
    ///
    /// The object is of the entity's class, also where a superclass was asked for, such as `NSManagedObject`. Then no initialiser of that class
    /// runs but this one.
    /// - Precondition: `entity` is not abstract; its class is this class or a superclass of it, or a subclass without stored properties of
    ///   its own.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        if let construction = Construction.take(for: entity) {
            (row, rowKeeper, scopeReference, key, state) = construction.pointee.fields
            super.init()
            return
        }
        if let context {
            scopeReference = context.scopeForInsertion(of: entity).retain()
            let own = scopeReference._withUnsafeGuaranteedRef { $0.defaults._withUnsafeGuaranteedRef { $0.copy(keepsBase: false) } }
            (row, rowKeeper) = (own.bytes, own)
            (key, state) = (context.identityMap.nextTemporaryKey(), [.ownRow, .registered])
            super.init()
            adoptClass()
            context.enter(self)
        } else {
            entity.prepareForUse()
            let own = entity.shape.defaults.copy(keepsBase: false)
            (row, rowKeeper, scopeReference) = (own.bytes, own, Unmanaged.passRetained(EntityScope.detached(entity)))
            (key, state) = (IdentityMap.temporaryKeyOfUninserted(), [.ownRow, .detached])
            super.init()
            adoptClass()
        }
    }

    /// The object's entity, store and context, which it shares with others.
    final var scope: EntityScope {
        @inline(__always) get { scopeReference.takeUnretainedValue() }
        set {
            let old = scopeReference
            scopeReference = Unmanaged.passRetained(newValue)
            old.release()
        }
    }

    /// Calls `body` with the scope, which the object keeps, without counting references.
    @inline(__always) final func withScope<Result>(_ body: (EntityScope) throws -> Result) rethrows -> Result {
        try scopeReference._withUnsafeGuaranteedRef(body)
    }

    /// Which scope it is, for a comparison that counts no references.
    @inline(__always) final var scopeIdentity: ObjectIdentifier { withScope { ObjectIdentifier($0) } }

    /// Creates an object of this class' entity, with its default values, and inserts it.
    ///
    /// - Precondition: exactly one entity of the model of the context's coordinator has this class, and it is not abstract.
    // NB: required, so that generic code can write `Object(context: context)`; subclasses inherit it.
    public required convenience init(context moc: NSManagedObjectContext) {
        self.init(entity: moc.entity(for: Self.self), insertInto: moc)
    }

    /// Makes the instances that a fetch or a fault needs. Not for callers: an object is made with `init(context:)`.
    public required convenience init(_ construction: ManagedObjectConstruction) {
        self.init(entity: construction.entity, insertInto: construction.context)
    }

    deinit {
        if state.contains(.registered) { scopeReference._withUnsafeGuaranteedRef { $0.identity?.remove(self) } }
        scopeReference.release()
        if state.contains(.extras) { releaseExtras() }
    }

    // The hooks stand here because on Linux a method of an extension cannot be overridden.

    /// The object was just inserted: the place for values that a default cannot say. Called once in its life.
    open func awakeFromInsert() {}
    /// The object's values were just read, after being a fault. Changes made here are not tracked.
    open func awakeFromFetch() {}
    /// The object's values were set back or replaced as a whole.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
    /// The object is about to be deleted; its relationships are still whole.
    open func prepareForDeletion() {}
    /// The context is about to save this object. A change made here is saved too, and makes the context ask again.
    open func willSave() {}
    /// The context has saved this object.
    open func didSave() {}
    /// The object is about to drop its values.
    open func willTurnIntoFault() {}
    /// The object has dropped its values.
    open func didTurnIntoFault() {}

    /// Checks one value against the model, before it is saved. Override to add rules: call super, then throw `CocoaError` or change `value`.
    ///
    /// - Throws: a `CocoaError` with a validation code that names object, key and value.
    open func validateValue(_ value: inout Any?, forKey key: String) throws { try validateAgainstModel(value, forKey: key) }
    /// Checks a new object before it is saved. Call super first.
    open func validateForInsert() throws { try validateProperties() }
    /// Checks a changed object before it is saved. Call super first.
    open func validateForUpdate() throws { try validateProperties() }
    /// Checks an object that is about to be deleted. Call super first.
    open func validateForDelete() throws { try validateDeletion() }

    /// The value of a property by name: numbers as `NSNumber`, a to-many as a set of objects. Fires a fault.
    ///
    /// Also of what every object has, such as `objectID` and `isDeleted`, and of stored properties of the class.
    /// - Precondition: there is such a key, or `value(forUndefinedKey:)` knows it.
    open func value(forKey key: String) -> Any? { storedValue(forKey: key) }
    /// Sets a property by name, with everything its typed accessor does.
    ///
    /// - Precondition: the entity has a property of that name, and the value is of its type.
    open func setValue(_ value: Any?, forKey key: String) { setStoredValue(value, forKey: key) }
    /// The value of a key that nothing has. Override for names that the class makes up, such as those of its computed properties.
    ///
    /// - Precondition: an override knows the key; the base class knows none.
    open func value(forUndefinedKey key: String) -> Any? { refuseKey(key) }
    /// Sets the value of a key that the model does not have. Override as `value(forUndefinedKey:)`.
    ///
    /// - Precondition: as there.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { refuseKey(key) }
    /// Whether `willChangeValue(forKey:)` with a key that the model does not have leaves the object unchanged.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    // NB: stands here, and is open, for those who override it: of an extension's the compiler says no more than that it is in one.
    @available(*, unavailable, message: "No key-value observing on Linux: put the override between #if canImport(ObjectiveC) and #endif.")
    open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { absent() }
    @available(*, unavailable, message: "No key-value observing on Linux: put the override between #if canImport(ObjectiveC) and #endif.")
    open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { absent() }
    @available(*, unavailable, message: "No key-value observing on Linux: put the override between #if canImport(ObjectiveC) and #endif.")
    open func observeValue(
        forKeyPath keyPath: String?,
        of object: Any?,
        change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) { absent() }
    @available(*, unavailable, message: "setValue(nil, forKey:) sets nil, which a number reads as zero: override setValue(_:forKey:).")
    open func setNilValueForKey(_ key: String) { absent() }

    /// Objects are equal when they are the same object.
    public final override func isEqual(_ object: Any?) -> Bool {
        // NB: sets ask this at each collision of hashes, and making an object of the argument costs more than the rest. An object in an `Any`
        // is its address in the first word; only where that is this object's is the argument looked at.
        let address = withUnsafeBytes(of: object) { $0.load(as: UInt.self) }
        guard address == UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) else { return false }
        return (object as AnyObject?) === self
    }
    public final override var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4 }

    open override var description: String { debugText }
}

/// Explicitly not Sendable, as Apple's: pass `objectID` to another queue and look the object up there.
@available(*, unavailable)
extension NSManagedObject: @unchecked Sendable {}
