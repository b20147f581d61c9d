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
/// through; a thread-local slot is what remains. The initialiser takes them first thing.
struct Construction {
    let scope: EntityScope
    let row: Row
    let key: Int64
    let state: ObjectState

    /// Makes the object: of the entity's class, in the state given. It is not listed in the registry yet.
    func make() -> NSManagedObject {
        withUnsafePointer(to: self) { pointer in
            cd_setConstruction(UnsafeMutableRawPointer(mutating: pointer))
            let object = scope.objectClass.init(ManagedObjectConstruction(entity: scope.entity))
            precondition(
                object.scope === scope && object.key == key,
                "\(type(of: object)).init(entity:insertInto:) made another \(scope.entity.name ?? "") before it called super. Call super first."
            )
            return object
        }
    }

    @inline(__always) static func take(for entity: NSEntityDescription) -> Construction? {
        guard let pointer = cd_takeConstruction() else { return nil }
        let construction = pointer.assumingMemoryBound(to: Construction.self).pointee
        guard construction.scope.entity === entity else {
            // Another entity's object, made by an override before it called super: the slot is not for it.
            cd_setConstruction(pointer)
            return nil
        }
        return construction
    }
}

extension EntityScope {
    /// The scope of an entity's objects that are in no context.
    static func detached(_ entity: NSEntityDescription) -> EntityScope {
        EntityScope(registry: nil, identity: nil, store: 0, shape: entity.shape)
    }
}
