import Foundation

/// The classes that names of the model stand for.
enum ClassRegistrations {
    private static let classes = Lock<[String: NSManagedObject.Type]>([:])

    static func register(_ objectClass: NSManagedObject.Type) {
        classes.withLock { classes in
            for name in names(of: objectClass) { classes[name] = objectClass }
        }
    }

    /// What models can call a class: its full name, and the plain one of models that name no module.
    static func names(of objectClass: NSManagedObject.Type) -> [String] {
        [NSStringFromClass(objectClass), String(describing: objectClass)]
    }

    /// The registered class of that name, else the one that the runtime finds; for a name without a module, the one of a registered model.
    static func objectClass(named name: String) -> NSManagedObject.Type? {
        if let known = classes.withLock({ $0[name] }) ?? runtimeClass(named: name) { return known }
        let full = NSManagedObjectModel.allRegistered.lazy.flatMap(\.entities).compactMap(\.managedObjectClassName)
        return full.first { $0.hasSuffix("." + name) }.flatMap(runtimeClass)
    }

    private static func runtimeClass(named name: String) -> NSManagedObject.Type? { NSClassFromString(name) as? NSManagedObject.Type }
}

/// The name of a managed object class, as `managedObjectClassName` takes it: module and class, and what a nested class is nested in.
///
/// Preferred over Foundation's function of this name, which on Linux traps on a class that is not at the top level.
public func NSStringFromClass(_ objectClass: NSManagedObject.Type) -> String { String(reflecting: objectClass) }

extension NSManagedObject {
    /// Makes this class known under its `NSStringFromClass` name, and under its plain name for models that name no module.
    ///
    /// Needed only where the runtime cannot find a class by the name that the model has: for a plain name, and for a class nested in another
    /// type or in a function. Generated classes need it not. Not in Apple's Core Data, whose Objective-C runtime knows every class.
    public class func register() { ClassRegistrations.register(self) }

    /// The class of an entity's objects: what `managedObjectClassName` names, or `NSManagedObject`.
    static func objectClass(for entity: NSEntityDescription) -> NSManagedObject.Type {
        guard let name = entity.managedObjectClassName, name != "NSManagedObject" else { return NSManagedObject.self }
        return ClassRegistrations.objectClass(named: name) ?? NSManagedObject.self
    }
}
