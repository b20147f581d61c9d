import Foundation
import Logging

/// The classes that names of the model stand for.
enum ClassRegistrations {
    private static let classes = Lock<[String: NSManagedObject.Type]>([:])

    static func register(_ objectClass: NSManagedObject.Type) {
        classes.withLock { classes in
            for name in names(of: objectClass) { classes[name] = objectClass }
        }
    }

    /// What models can call a class: its full name, the plain one of models that name no module, and what Objective-C has for it, before which
    /// compiled models have the module, too.
    static func names(of objectClass: NSManagedObject.Type) -> [String] {
        let (name, others) = (NSStringFromClass(objectClass), NSManagedObjectModel.registeredNames(of: objectClass))
        let qualified = module(of: name).map { module in others.map { "\(module).\($0)" } } ?? []
        return [name, String(describing: objectClass)] + others + qualified
    }

    /// The registered class of that name, else the one that the runtime finds; for a name without a module, the one in a module that is known.
    ///
    /// - Parameter model: where the name is from. Its other classes tell modules too.
    static func objectClass(named name: String, in model: NSManagedObjectModel? = nil) -> NSManagedObject.Type? {
        if let known = classes.withLock({ $0[name] }) ?? runtimeClass(named: name) { return known }
        if name.contains(".") { return nil }
        return modules(with: model).lazy.compactMap { runtimeClass(named: "\($0).\(name)") }.first
    }

    /// The modules that a class may be in, the likelier first: those of the model's other classes, of registered models' and of registered
    /// classes, and the program's own.
    static func modules(with model: NSManagedObjectModel?) -> [String] {
        let models = (model.map { [$0] } ?? []) + NSManagedObjectModel.allRegistered
        let named = models.flatMap(\.entities).compactMap(\.managedObjectClassName) + classes.withLock { $0.keys.sorted() }
        var modules: [String] = []
        for module in named.compactMap(module) + [programModule] where !modules.contains(module) { modules.append(module) }
        return modules
    }

    private static func module(of className: String) -> String? {
        className.firstIndex(of: ".").map { String(className[..<$0]) }
    }

    /// A program's module has the name of its executable, as far as that is an identifier.
    private static let programModule = String(
        (Bundle.main.executableURL?.lastPathComponent ?? "").map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" }
    )

    private static func runtimeClass(named name: String) -> NSManagedObject.Type? {
        (NSClassFromString(name) ?? NSManagedObjectModel.registeredClass(named: name)) as? NSManagedObject.Type
    }

    private static let missed = Lock<Set<String>>([])

    /// Logs, once for each name, that there is no class of that name.
    static func noteMissing(_ name: String, of entity: NSEntityDescription) {
        guard missed.withLock({ $0.insert(name).inserted }) else { return }
        Logger(label: "CoreData").warning(
            """
            Class \(name) of entity \(entity.name ?? "?") was not found: its objects are of class NSManagedObject. Call register() on the class \
            before its model is used, or set managedObjectClassName to what NSStringFromClass gives.
            """
        )
    }
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
        if let found = ClassRegistrations.objectClass(named: name, in: entity.model) { return found }
        ClassRegistrations.noteMissing(name, of: entity)
        return NSManagedObject.self
    }
}
