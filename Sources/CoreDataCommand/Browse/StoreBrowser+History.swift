import CoreData
import Foundation

/// A page of a store's history, the latest first.
struct BrowserHistory: Encodable, Sendable {
    let total: Int
    let transactions: [StoredTransaction]
}

extension StoreBrowser {
    func history(_ parameters: BrowserParameters) throws -> BrowserHistory {
        guard try inspector.hasHistory() else { throw BrowserError(404, "The store has no history.") }
        return BrowserHistory(
            total: try inspector.transactionCount(),
            transactions: try inspector.transactions(of: model, offset: parameters.offset, limit: parameters.limit)
        )
    }
}
