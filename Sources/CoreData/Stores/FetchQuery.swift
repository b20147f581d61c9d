import Foundation
import Predicates

/// A fetch as a value: what goes down from a context, instead of the request that a user may change meanwhile.
package struct FetchQuery {
    package var entity: NSEntityDescription
    package var includesSubentities = true
    package var predicate: PredicateTree?
    package var sortDescriptors: [NSSortDescriptor] = []
    package var limit = 0
    package var offset = 0
    /// Rows that do not count, whatever they hold: the context answers for them itself.
    package var excludedRows: [RowReference] = []
    /// The numbers of the stores to ask; nil for all.
    package var stores: Set<Int32>?
    /// The stored properties whose values are asked for; nil for all. A store may give more.
    var properties: Set<String>?
    /// Ends the reading when it is cancelled, with `CocoaError.userCancelled`.
    package var progress: Progress?

    /// What a reader asks from time to time; nil where nobody can cancel.
    package var isCancelled: (() -> Bool)? { progress.map { progress in { progress.isCancelled } } }

    /// The keys of the rows of one store that do not count.
    package func excludedKeys(in store: Int32) -> [Int64] {
        excludedRows.compactMap { $0.key > 0 && $0.store == store ? $0.key : nil }
    }

    /// How many rows from the first on hold everything within limit and offset; 0 for all.
    package var rowsUpToLimit: Int {
        let (sum, isOverflown) = limit.addingReportingOverflow(offset)
        return limit == 0 || isOverflown ? 0 : sum
    }
}

/// Rows that a fetch gives, in order: part of one batch, of one concrete entity.
package struct RowRun {
    package let batch: RowBatch
    package let range: Range<Int>
    package let entity: NSEntityDescription
    package let store: Int32
    /// Rows that the cache knows already, to be used instead of those in the range; empty where there is none.
    package let known: [Row?]
    /// The slots of which the rows in the range have values; nil for all.
    var heldSlots: SlotMask?

    package init(batch: RowBatch, range: Range<Int>, entity: NSEntityDescription, store: Int32, known: [Row?]) {
        (self.batch, self.range, self.entity, self.store, self.known) = (batch, range, entity, store, known)
    }
}

/// One row of a to-many relationship.
package struct RelatedRow {
    /// The owner's key.
    package let owner: Int64
    /// Nil where it is not at hand: an object that was never read.
    package var row: Row?
    package let reference: RowReference
    /// The position in an ordered relationship.
    package let position: Int64?

    package init(owner: Int64, row: Row?, reference: RowReference, position: Int64?) {
        (self.owner, self.row, self.reference, self.position) = (owner, row, reference, position)
    }
}

/// What a fetch leaves to be done in memory.
package struct FetchResidue {
    /// What the stores could not say, by their numbers: one may join what another has not.
    package var predicates: [Int32: PredicateTree] = [:]
    package var sorts = false
    /// The rows of each store are in order, one store's after the other's.
    package var merges = false
    /// Limit and offset have not been applied.
    package var windows = false

    package init(predicates: [Int32: PredicateTree] = [:], sorts: Bool = false, merges: Bool = false, windows: Bool = false) {
        (self.predicates, self.sorts, self.merges, self.windows) = (predicates, sorts, merges, windows)
    }
}
