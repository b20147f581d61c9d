import Foundation

/// The classes that names of the model stand for.
enum ClassRegistrations {
    private static let classes = Lock<[String: NSManagedObject.Type]>([:])

    static func register(_ objectClass: NSManagedObject.Type) {
        let name = NSStringFromClass(objectClass)
        classes.withLock { $0[name] = objectClass }
    }

    /// The registered class of that name, else the one that the runtime finds.
    static func objectClass(named name: String) -> NSManagedObject.Type? {
        classes.withLock { $0[name] } ?? NSClassFromString(name) as? NSManagedObject.Type
    }
}

/// The name of a managed object class, as `managedObjectClassName` takes it: module and class, and what a nested class is nested in.
///
/// Preferred over Foundation's function of this name, which on Linux traps on a class that is not at the top level.
public func NSStringFromClass(_ objectClass: NSManagedObject.Type) -> String { String(reflecting: objectClass) }

extension NSManagedObject {
    /// Makes this class known under its `NSStringFromClass` name.
    ///
    /// Needed only where the runtime cannot find a class by name: for one nested in another type or in a function. Not in Apple's Core Data,
    /// whose Objective-C runtime knows every class.
    public class func register() { ClassRegistrations.register(self) }

    /// The class of an entity's objects: what `managedObjectClassName` names, or `NSManagedObject`.
    static func objectClass(for entity: NSEntityDescription) -> NSManagedObject.Type {
        guard let name = entity.managedObjectClassName, name != "NSManagedObject" else { return NSManagedObject.self }
        return ClassRegistrations.objectClass(named: name) ?? NSManagedObject.self
    }
}
