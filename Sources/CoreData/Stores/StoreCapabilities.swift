/// What a store can do beside keeping rows. Who wants to know asks for the capability, never for the class of the store.
package struct StoreCapabilities: OptionSet, Sendable {
    package let rawValue: UInt
    package init(rawValue: UInt) { self.rawValue = rawValue }

    /// Predicates and orders become SQL.
    package static let sql = Self(rawValue: 1)
    /// Uniqueness constraints of the model are kept, also against rows that this process has not read.
    package static let constraints = Self(rawValue: 1 << 1)
    /// Several processes, and several coordinators of one, may write into it at the same time.
    package static let severalProcesses = Self(rawValue: 1 << 2)
    /// Requests that change many rows at once without reading them.
    package static let batch = Self(rawValue: 1 << 3)
    /// A history of changes.
    package static let history = Self(rawValue: 1 << 4)
    /// Reading as of an earlier moment.
    package static let generations = Self(rawValue: 1 << 5)
    /// Taking the tables from one version of the model to another.
    package static let schemaMigration = Self(rawValue: 1 << 6)
    /// What is written before a commit can be taken back.
    package static let transactions = Self(rawValue: 1 << 7)
    /// All objects can be removed in one step, in place.
    package static let emptying = Self(rawValue: 1 << 8)
    /// The order of ordered relationships is kept.
    package static let order = Self(rawValue: 1 << 9)
    /// A query is answered with references alone; a row is read when somebody needs it.
    package static let rowsOnDemand = Self(rawValue: 1 << 10)
    /// The store chooses what identifies a new object, and has to see its values.
    package static let ownReferences = Self(rawValue: 1 << 11)
    /// What was saved is there when the last coordinator has let go of the store.
    package static let durable = Self(rawValue: 1 << 12)
}

/// What tells a store's data from that of others. The order is the one in which stores are written: each is waited for while those before it are
/// held, and those that cannot take back what they have written come last.
package enum StoreLocation: Hashable, Comparable, Sendable {
    case database(DatabaseIdentity)
    /// A file that is written as a whole, by its path.
    case document(String)
    /// Whatever the store makes of its URL.
    case foreign(String)
}
