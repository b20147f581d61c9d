import Foundation
import Predicates

/// What is asked of a store's history, as a value.
package struct HistoryQuery {
    /// From where on. Transactions are numbered in the order of their commits.
    package enum Start {
        case beginning
        /// What comes behind a transaction.
        case after(number: Int64)
        case later(than: Date)
    }

    /// What a predicate is about.
    package enum Subject { case transactions, changes }

    package var start = Start.beginning
    package var predicate: PredicateTree?
    package var subject = Subject.transactions
    /// Whether changes are wanted, and not just their transactions. They come all the same where they are needed to evaluate a remainder.
    package var wantsChanges = true
    /// After about how many changes enough has been read; nil for no limit. Transactions are read as wholes, one at least.
    package var changeLimit: Int?

    package init() {}
}

/// Which transactions of a history are deleted: those before it.
package enum HistoryBound {
    case number(Int64)
    case date(Date)
    /// All there are.
    case end
}

/// A part of a store's history: transactions by ascending number, and their changes.
package struct HistoryRecords {
    package struct Transaction {
        package let number: Int64
        /// Seconds since 2001.
        package let timestamp: Double
        package let author: String?
        package let contextName: String?
        package let bundleID: String?
        package let processID: String?
        /// Where its changes are among all of them.
        package var changes = 0..<0
    }

    package struct Change {
        package let id: Int64
        package let key: Int64
        /// The changed object's entity, by its index in the model.
        package let entity: Int32
        package let kind: Kind
        /// Which of the sets of properties, or of the tombstones, goes with it; -1 for none.
        package let detail: Int32
    }

    /// As the column has it.
    package enum Kind: Int64 { case insert, update, delete }

    package var transactions = ContiguousArray<Transaction>()
    package var changes = ContiguousArray<Change>()
    /// What updates have changed: few different sets go with many updates.
    package var properties: [Set<NSPropertyDescription>] = []
    /// What is kept of deleted objects: values by the names of their attributes.
    package var tombstones: [[String: Any]] = []
    /// What of the query's predicate the store could not say.
    package var remainder: PredicateTree?
    /// Whether there is more, because of a limit.
    package var isCut = false
}
