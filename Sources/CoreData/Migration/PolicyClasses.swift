import Foundation

/// The classes that names in mapping models stand for.
enum PolicyClasses {
    private static let classes = Lock<[String: NSEntityMigrationPolicy.Type]>([:])

    fileprivate static func register(_ policyClass: NSEntityMigrationPolicy.Type) {
        classes.withLock { classes in
            for name in [String(reflecting: policyClass), String(describing: policyClass)] { classes[name] = policyClass }
        }
    }

    /// The registered class of that name, else the one that the runtime finds; for a name without a module, the one in a module that is known.
    ///
    /// - Parameter model: its classes tell modules.
    static func policyClass(named name: String, with model: NSManagedObjectModel) -> NSEntityMigrationPolicy.Type? {
        if let known = classes.withLock({ $0[name] }) ?? runtimeClass(named: name) { return known }
        if name.contains(".") { return nil }
        return ClassRegistrations.modules(with: model).lazy.compactMap { runtimeClass(named: "\($0).\(name)") }.first
    }

    private static func runtimeClass(named name: String) -> NSEntityMigrationPolicy.Type? {
        (NSClassFromString(name) ?? NSManagedObjectModel.registeredClass(named: name)) as? NSEntityMigrationPolicy.Type
    }
}

/// The name of a policy's class, as `entityMigrationPolicyClassName` takes it.
///
/// Preferred over Foundation's function of this name, which on Linux traps on a class that is not at the top level.
public func NSStringFromClass(_ policyClass: NSEntityMigrationPolicy.Type) -> String { String(reflecting: policyClass) }

extension NSEntityMigrationPolicy {
    /// Makes this class known under its `NSStringFromClass` name, and under its plain name for mapping models that name no module.
    ///
    /// Needed only for a class that is nested in another type or in a function. Not in Apple's Core Data, whose Objective-C runtime knows every
    /// class.
    public class func register() { PolicyClasses.register(self) }
}
