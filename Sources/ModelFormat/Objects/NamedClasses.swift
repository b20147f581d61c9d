import Foundation

/// Classes under names that the runtime does not know: those that Objective-C has for them.
package enum NamedClasses {
    private static let lock = NSLock()
    // Unsafe: read and written under the lock only. NB: a `Mutex` is unknown to the thread sanitizer on Linux.
    nonisolated(unsafe) private static var classes: [String: @Sendable () -> AnyClass] = [:]

    package static func register(_ name: String, _ made: @escaping @Sendable () -> AnyClass) { lock.withLock { classes[name] = made } }

    // As with models, what makes a class is called outside of the lock.
    package static func named(_ name: String) -> AnyClass? { lock.withLock { classes[name] }?() }

    /// What `NSClassFromString` gives. NB: that stops the program for a name that it takes for a mangled one.
    static func ofRuntime(_ name: String) -> AnyClass? {
        let isName = !name.isEmpty && name.unicodeScalars.allSatisfy { $0 == "_" || $0 == "." || $0.properties.isAlphabetic || $0.isDigit }
        return isName ? NSClassFromString(name) : nil
    }

    /// The names that a class was registered under.
    package static func names(of named: AnyClass) -> [String] {
        lock.withLock { Array(classes) }.filter { $0.value() == named }.map(\.key).sorted()
    }
}

extension PropertyListNode {
    /// The description of a class in an archive, under the name that Objective-C has for the class; anything else as it is.
    ///
    /// NB: `NSKeyedArchiver` on Linux writes the runtime's name whatever `setClassName(_:for:)` was told.
    func namedAsRegistered() -> PropertyListNode {
        guard case .dictionary(var entries) = self, case .string(let name)? = entries["$classname"] else { return self }
        entries["$classname"] = .string(Self.registered(name))
        if case .array(let lineage)? = entries["$classes"] {
            entries["$classes"] = .array(
                lineage.map { if case .string(let name) = $0 { .string(Self.registered(name)) } else { $0 } }
            )
        }
        return .dictionary(entries)
    }

    private static func registered(_ name: String) -> String {
        NamedClasses.ofRuntime(name).flatMap { NamedClasses.names(of: $0).first } ?? name
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
