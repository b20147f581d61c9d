import Foundation

/// A change of many rows that takes no objects, as a value: what goes down to the stores instead of the request.
package struct BatchRequest {
    package enum Change {
        case delete(FetchQuery)
        case update(FetchQuery, [BatchAssignment])
        case insert(BatchRows)
    }

    /// The class of the request, for errors.
    let name: String
    package let change: Change
    /// Whether the keys of what is changed are wanted, and not their number alone.
    package var wantsKeys: Bool
    /// What memory has decided, by the numbers of the stores.
    package var decisions: [Int32: BatchDecision] = [:]
    /// By whom, for the history.
    var origin = ChangeOrigin()

    package var entity: NSEntityDescription {
        switch change {
        case .delete(let query), .update(let query, _): query.entity
        case .insert(let rows): rows.entity
        }
    }

    /// The rows that it is about; nil where it makes them.
    package var query: FetchQuery? {
        switch change {
        case .delete(let query), .update(let query, _): query
        case .insert: nil
        }
    }

    /// The stores to ask; nil for all that have the entity.
    var stores: Set<Int32>? {
        switch change {
        case .delete(let query), .update(let query, _): query.stores
        case .insert(let rows): rows.stores
        }
    }
}

/// What a batch request has changed in one store.
///
/// The keys are there where somebody wants them (`BatchRequest.wantsKeys`, or the store keeps a history): before the transaction ends, so that they
/// can be written down in it.
package struct BatchChanges {
    /// Rows of one entity.
    package struct Rows {
        /// The index in the model of the entity that the rows are of.
        package let entity: Int
        package var keys: [Int64]
        /// Of updated rows: what was written. A row that others have led to, and that was left by them, may be listed once for each relationship.
        package var properties: [String] = []
        /// Whether the request was not about these rows: they have lost or got a relationship by what it did to others.
        package var isRelated = false
    }

    package var inserted: [Rows] = []
    package var updated: [Rows] = []
    package var deleted: [Rows] = []
    /// How many rows the request has changed, without those that merely lost a relationship.
    package var count = 0
    /// The root entities, by index, of rows whose keys nobody has asked for.
    package var unlistedRoots: Set<Int> = []
}

/// What became of a batch request in one store.
package struct BatchReceipt {
    package let changes: BatchChanges
    /// Lets the store forget what it knew of the rows. Called once, after the commit.
    package let publish: () -> Void

    package init(changes: BatchChanges, publish: @escaping () -> Void) { (self.changes, self.publish) = (changes, publish) }
}

extension RowStore {
    package func execute(_ request: BatchRequest, _ next: () throws -> Void) throws -> BatchReceipt {
        throw CocoaError.coreData(
            .persistentStoreUnsupportedRequestType,
            "The store at \(url?.path ?? "?"), of type \(type), cannot carry out an \(request.name): change objects instead, and save.",
            userInfo: [NSAffectedStoresErrorKey: [self]]
        )
    }
}
