import Foundation
import Predicates
import class Predicates.NSExpression

extension KeyPathNaming {
    /// The name of a property, or nil where the class does not say it.
    static func name(of keyPath: AnyKeyPath) -> String? { KeyPathNames.names(of: Self.self)[keyPath] }

    /// - Precondition: the class says the name.
    fileprivate static func knownName(of keyPath: AnyKeyPath, for use: String) -> String {
        guard let name = name(of: keyPath) else {
            misuse("\(use)(\(keyPath)): no attribute or relationship of \(Self.self) is in its keyPathNames. Name it with a string.")
        }
        return name
    }
}

extension _NSSortDescriptorFactory where Self: NSSortDescriptor {
    /// Sorts by a property that the compiler checks, `\Contact.age`, as `init(key:ascending:selector:)` sorts by its name: in the store.
    ///
    /// - Precondition: the class says the name of the key path, as generated ones do for attributes and relationships.
    public init<Object: KeyPathNaming, Value>(_ keyPath: KeyPath<Object, Value>, ascending: Bool = true, selector: Selector? = nil) {
        self.init(key: Object.knownName(of: keyPath, for: "NSSortDescriptor"), ascending: ascending, selector: selector)
    }

    /// Sorts by a property: in the store where the class says the name of the key path; in memory, as a closure would, where it does not.
    ///
    /// Generic code, of which any managed object may be the root, finds the names too.
    public init<Object: NSManagedObject, Value>(keyPath: KeyPath<Object, Value>, ascending: Bool) {
        if let name = (Object.self as? any KeyPathNaming.Type)?.name(of: keyPath) {
            self.init(key: name, ascending: ascending, selector: nil)
        } else {
            self.init(sortingInMemoryBy: keyPath, ascending: ascending)
        }
    }

    /// Sorts as Foundation's value does: in the store where it names a property by a key path whose name the class says; in memory, after
    /// all rows that match were read, otherwise.
    public init<Object: NSObject>(_ descriptor: SortDescriptor<Object>) {
        let ascending = descriptor.order == .forward
        if let name = descriptor.keyPath.flatMap({ (Object.self as? any KeyPathNaming.Type)?.name(of: $0) }) {
            self.init(key: name, ascending: ascending, selector: nil)
        } else {
            self.init(key: nil, ascending: ascending) { left, right in
                guard let left = left as? Object, let right = right as? Object else {
                    misuse("\(descriptor) compares objects of \(Object.self), not \(type(of: left)) and \(type(of: right)).")
                }
                // NB: Foundation's value goes on in the order that it was made with, whatever its order is set to.
                return ascending ? descriptor.compare(left, right) : descriptor.compare(right, left)
            }
        }
    }
}

extension NSExpression {
    /// The value of a property that the compiler checks, `\Todo.estimate`.
    ///
    /// - Precondition: the class says the name of the key path, as generated ones do for attributes and relationships.
    public convenience init<Object: KeyPathNaming, Value>(forKeyPath keyPath: KeyPath<Object, Value>) {
        self.init(forKeyPath: Object.knownName(of: keyPath, for: "NSExpression"))
    }
}

/// What classes have said of their key paths: a class is asked once, as it makes its table anew each time.
private enum KeyPathNames {
    // Key paths to properties capture nothing, and nobody changes a table.
    private struct Table: @unchecked Sendable {
        let names: [AnyKeyPath: String]
    }

    private static let known = Lock<[ObjectIdentifier: Table]>([:])

    static func names(of type: any KeyPathNaming.Type) -> [AnyKeyPath: String] {
        let identity = ObjectIdentifier(type)
        if let table = known.withLock({ $0[identity] }) { return table.names }
        let table = Table(names: type.keyPathNames)
        known.withLock { $0[identity] = table }
        return table.names
    }
}
