import Foundation
import Predicates

/// What becomes of the objects of one entity mapping. The class as it is evaluates the mapping's expressions; a subclass, whose name the mapping
/// has, overrides what it does otherwise.
///
/// A migration makes one policy for each mapping, and asks it in three passes: `begin`, `createDestinationInstances` for each source object and
/// `endInstanceCreation`, mapping after mapping; then `createRelationships` for each object that was associated and `endRelationshipCreation`;
/// then `performCustomValidation`, and at last `end`. Whatever a hook throws ends the migration: no destination is left.
///
/// All objects are of class `NSManagedObject`, as on Apple's platforms: classes of the models may not fit both versions. Objects are saved, without
/// being validated, and let go of every few hundred: keep what you need of them as values, or ask the manager's associations.
open class NSEntityMigrationPolicy: NSObject, FunctionReceiver {
    // NB: required, so that a class is enough to make an instance.
    public required override init() { super.init() }

    /// Before the first object of the mapping. The base class does nothing.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes what becomes of one source object, usually one object, and associates the two. What is not made is left out.
    ///
    /// The base class inserts an object of the destination entity, gives it its attributes by the mapping's expressions, and associates it.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject,
        in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try manager.underWay.createInstance(forSource: sInstance, mapping)
    }

    /// All objects of the mapping are there. The base class does nothing.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Sets the relationships of one destination object; the objects of all mappings are there.
    ///
    /// The base class evaluates the mapping's expressions.
    open func createRelationships(
        forDestination dInstance: NSManagedObject,
        in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try manager.underWay.createRelationships(of: dInstance, mapping)
    }

    /// All relationships of the mapping's objects are set. The base class does nothing.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Throws where the destination is not what it should be; what the model asks for is checked afterwards. The base class does nothing.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Everything is done, and valid. The base class does nothing.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// The value of `FUNCTION($entityPolicy, "name:", …)` in an expression of the mapping.
    ///
    /// An addition to Apple's interface: there the function is a method, found by its selector. Here a policy has to override this, and switch over
    /// the name.
    ///
    /// - Throws: in the base class, always: there is no such function.
    open func value(forFunction name: String, arguments: [Any?]) throws -> Any? {
        throw CocoaError.coreData(
            .entityMigrationPolicy,
            "\(type(of: self)) has no function \"\(name)\": override value(forFunction:arguments:), there are no selectors here."
        )
    }
}
