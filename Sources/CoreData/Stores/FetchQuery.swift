import Foundation
import Predicates

/// A fetch as a value: what goes down from a context, instead of the request that a user may change meanwhile.
struct FetchQuery {
    var entity: NSEntityDescription
    var includesSubentities = true
    var predicate: PredicateTree?
    var sortDescriptors: [NSSortDescriptor] = []
    var limit = 0
    var offset = 0
    /// Rows that do not count, whatever they hold: the context answers for them itself.
    var excludedRows: [RowReference] = []
    /// The numbers of the stores to ask; nil for all.
    var stores: Set<Int32>?

    /// The keys of the rows of one store that do not count.
    func excludedKeys(in store: Int32) -> [Int64] {
        excludedRows.compactMap { $0.key > 0 && $0.store == store ? $0.key : nil }
    }

    /// How many rows from the first on hold everything within limit and offset; 0 for all.
    var rowsUpToLimit: Int {
        let (sum, isOverflown) = limit.addingReportingOverflow(offset)
        return limit == 0 || isOverflown ? 0 : sum
    }
}

/// Rows that a fetch gives, in order: part of one batch, of one concrete entity.
struct RowRun {
    let batch: RowBatch
    let range: Range<Int>
    let entity: NSEntityDescription
    let store: Int32
    /// Rows that the cache knows already, to be used instead of those in the range; empty where there is none.
    let known: [Row?]
}

/// One row of a to-many relationship.
struct RelatedRow {
    /// The owner's key.
    let owner: Int64
    /// Nil where it is not at hand: an object that was never read.
    var row: Row?
    let reference: RowReference
    /// The position in an ordered relationship.
    let position: Int64?
}
