import Foundation

/// A save, or a batch request, that some stores have written when another one refuses its part. That one has nothing of it, nor have those whose
/// commits were to follow.
// Sendable: thrown and caught by one thread.
struct IncompleteChange: Error, @unchecked Sendable {
    private var missing: [any RowStore]
    private let reason: any Error

    init(missing store: any RowStore, _ reason: any Error) { (missing, self.reason) = ([store], reason) }

    /// The same where the part of another store was taken back, too.
    func with(missing store: any RowStore) -> Self {
        var more = self
        more.missing.append(store)
        return more
    }

    /// `CocoaError` 134040, with the stores that have nothing.
    ///
    /// - Parameter what: was done in the others.
    func error(_ what: String) -> CocoaError {
        let places = missing.map { $0.url?.path ?? "?" }
        return .coreData(
            .persistentStoreIncompleteSave,
            """
            \(what) in other stores, but not in \(places.count == 1 ? "the one" : "those") at \(places.joined(separator: ", ")): \
            \(reason.localizedDescription)
            """,
            userInfo: [NSAffectedStoresErrorKey: missing, NSUnderlyingErrorKey: reason]
        )
    }
}
