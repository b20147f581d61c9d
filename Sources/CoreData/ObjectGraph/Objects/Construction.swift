import CShims
import Foundation

/// What `init(_:)` of a managed object is handed when the framework makes the instance.
public struct ManagedObjectConstruction {
    let entity: NSEntityDescription
    /// Where the object is inserted; nil for one that a row stands behind.
    var context: NSManagedObjectContext?
}

/// The fields of the object that is initialised next on this thread.
///
/// NB: a subclass inherits `init(entity:insertInto:)` and need not declare another initialiser, so there is no parameter to pass these
/// through; a thread-local slot is what remains. The initialiser takes them first thing. Unmanaged, because a fetch makes one object after
/// the other from it: whoever fills it keeps scope and owner alive meanwhile.
struct Construction {
    private let scope: Unmanaged<EntityScope>
    private let entity: ObjectIdentifier
    private let owner: Unmanaged<AnyObject>
    private let bytes: UnsafeMutableRawPointer
    private let key: Int64
    private let state: ObjectState

    @inline(__always) init(scope: EntityScope, owner: AnyObject, bytes: UnsafeMutableRawPointer, key: Int64, state: ObjectState) {
        self.scope = Unmanaged.passUnretained(scope)
        entity = ObjectIdentifier(scope.entity)
        self.owner = Unmanaged.passUnretained(owner)
        (self.bytes, self.key, self.state) = (bytes, key, state)
    }

    /// Makes an object of a scope: of the entity's class, on a row, in the state given. It is not listed yet.
    static func make(_ scope: EntityScope, _ row: Row, key: Int64, state: ObjectState) -> NSManagedObject {
        Construction(scope: scope, owner: row.owner, bytes: row.bytes, key: key, state: state).make(scope)
    }

    @inline(__always) func make(_ scope: EntityScope) -> NSManagedObject {
        withUnsafePointer(to: self) { pointer in
            cd_setConstruction(UnsafeMutableRawPointer(mutating: pointer))
            let object = scope.objectClass.init(scope.construction)
            if object.scopeReference.toOpaque() != self.scope.toOpaque() || object.key != key { reportWrongOrder(object) }
            return object
        }
    }

    @inline(never) private func reportWrongOrder(_ object: NSManagedObject) -> Never {
        misuse(
            """
            \(type(of: object)).init(entity:insertInto:) made another object of its entity before it called super. Call super first.
            """
        )
    }

    /// The fields for an object of `entity`, if the framework is making one.
    @inline(__always) static func take(for entity: NSEntityDescription) -> UnsafePointer<Construction>? {
        guard let pointer = cd_takeConstruction() else { return nil }
        let construction = UnsafePointer(pointer.assumingMemoryBound(to: Construction.self))
        if construction.pointee.entity == ObjectIdentifier(entity) { return construction }
        // Another entity's object, made by an override before it called super: the slot is not for it.
        cd_setConstruction(pointer)
        return nil
    }

    typealias Fields = (
        bytes: UnsafeMutableRawPointer, owner: AnyObject, scope: Unmanaged<EntityScope>, key: Int64, state: ObjectState
    )

    /// The fields, with references of their own.
    @inline(__always) var fields: Fields { (bytes, owner.takeUnretainedValue(), scope.retain(), key, state) }
}

extension NSManagedObject {
    /// Makes a new object one of its entity's class: fetches and relationships rely on that, and do not ask each object.
    @inline(__always) final func adoptClass() {
        let wanted = scopeReference._withUnsafeGuaranteedRef(\.objectClass)
        if type(of: self) != wanted { become(wanted) }
    }

    @inline(never) private func become(_ wanted: NSManagedObject.Type) {
        if isKind(of: wanted) { return }
        let name = scope.entity.name ?? "?"
        guard Self.isClass(wanted, below: type(of: self)) else {
            misuse("\(type(of: self))(entity:insertInto:) cannot make an object of entity \(name), whose class is \(wanted).")
        }
        guard OverrideProbe.instanceSize(of: wanted) == OverrideProbe.instanceSize(of: type(of: self)) else {
            misuse(
                """
                \(type(of: self))(entity:insertInto:) cannot make an object of entity \(name): its class, \(wanted), has stored properties of its \
                own. Write \(wanted)(entity:insertInto:), \(wanted)(context:) or NSEntityDescription.insertNewObject(forEntityName:into:).
                """
            )
        }
        // NB: an initialiser cannot answer with another object. An object begins with the address of its class' metadata, and one of `wanted` has
        // no field that this one has not.
        Unmanaged.passUnretained(self).toOpaque().storeBytes(of: OverrideProbe.metadata(wanted), as: UnsafeRawPointer.self)
    }

    private static func isClass(_ wanted: NSManagedObject.Type, below other: NSManagedObject.Type) -> Bool {
        sequence(first: wanted as AnyClass) { _getSuperclass($0) }.contains { $0 == other }
    }
}

extension EntityScope {
    /// The scope of an entity's objects that are in no context.
    static func detached(_ entity: NSEntityDescription) -> EntityScope {
        EntityScope(registry: nil, identity: nil, store: 0, shape: entity.shape)
    }
}
