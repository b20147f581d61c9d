/// Something that a store can do beside keeping rows. Who wants to know asks for the capability, never for the class of the store.
package enum StoreCapability: UInt, CaseIterable, Sendable {
    /// Predicates and orders become SQL.
    case sql
    /// Uniqueness constraints of the model are kept, also against rows that this process has not read.
    case constraints
    /// Several processes, and several coordinators of one, may write into it at the same time.
    case severalProcesses
    /// Requests that change many rows at once without reading them.
    case batch
    /// A history of changes.
    case history
    /// Reading as of an earlier moment.
    case generations
    /// A store of another version of the model is brought to this one when it is opened.
    case schemaMigration
    /// What is written before a commit can be taken back.
    case transactions
    /// All objects can be removed in one step, in place.
    case emptying
    /// Positions in ordered relationships are kept. A store that has none is told the whole order of what has changed.
    case positions
    /// A query is answered with references alone; a row is read when somebody needs it.
    case rowsOnDemand
    /// The store chooses what identifies a new object, and has to see its values.
    case ownReferences
    /// What was saved is there when the last coordinator has let go of the store.
    case durable
    /// Requests of a program's own classes, and batch requests, are carried out by the store's class, which knows what they mean.
    case ownRequests
}

/// What a store can do.
package struct StoreCapabilities: OptionSet, Sendable {
    package let rawValue: UInt
    package init(rawValue: UInt) { self.rawValue = rawValue }
    package init(_ capability: StoreCapability) { rawValue = 1 << capability.rawValue }

    package static let sql = Self(.sql)
    package static let constraints = Self(.constraints)
    package static let severalProcesses = Self(.severalProcesses)
    package static let batch = Self(.batch)
    package static let history = Self(.history)
    package static let generations = Self(.generations)
    package static let schemaMigration = Self(.schemaMigration)
    package static let transactions = Self(.transactions)
    package static let emptying = Self(.emptying)
    package static let positions = Self(.positions)
    package static let rowsOnDemand = Self(.rowsOnDemand)
    package static let ownReferences = Self(.ownReferences)
    package static let durable = Self(.durable)
    package static let ownRequests = Self(.ownRequests)
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
