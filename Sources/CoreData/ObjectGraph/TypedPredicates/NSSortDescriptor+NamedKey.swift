import Foundation
import Predicates

extension _NSSortDescriptorFactory where Self: NSSortDescriptor {
    /// Sorts by a key that the compiler checks, `Contact.Keys.age`, as `init(key:ascending:selector:)` sorts by its name.
    public init(_ key: some NamedKey, ascending: Bool = true, selector: Selector? = nil) {
        self.init(key: key.name, ascending: ascending, selector: selector)
    }
}
