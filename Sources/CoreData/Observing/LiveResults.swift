import Foundation

extension NSManagedObjectContext {
    /// The results of a request, as they are and each time they have changed. An addition to Apple's interface.
    ///
    /// ```swift
    /// for try await snapshot in context.results(of: request) { show(snapshot.ids) }
    /// ```
    /// The first snapshot is what a fetch gives. Then each event of the context counts: its own changes, saved or not, what children save, and what is
    /// merged into it. What siblings, a parent or other coordinators of the process save into the same stores is merged by itself where
    /// `automaticallyMergesChangesFromParent` is set, that of other coordinators into the contexts above too; else it is seen when it is merged.
    ///
    /// Nothing is queued: whoever is slow gets the newest state next, and what is different from the one before. The sequence ends when the context is
    /// released, or the task is cancelled; it does not keep the context alive. A limit applies to the first snapshot, and to those after a `reset()`.
    ///
    /// > Concurrency: may be called, and iterated, from anywhere. Changing the request afterwards changes nothing.
    public func results<Result: NSManagedObject>(of request: NSFetchRequest<Result>) -> LiveResults {
        LiveResults(LiveRequest(self, request.copied(as: Result.self)))
    }
}

/// What a request gives, again and again: see `NSManagedObjectContext.results(of:)`.
public struct LiveResults: AsyncSequence, Sendable {
    public typealias Element = Snapshot
    private let request: LiveRequest

    init(_ request: LiveRequest) { self.request = request }

    /// The results at one moment, and what is different from the snapshot before.
    public struct Snapshot: Sendable {
        /// The IDs of all results in order.
        public let ids: [NSManagedObjectID]
        /// Those that are new; in the first snapshot, all.
        public let inserted: [NSManagedObjectID]
        /// Those that are results no more.
        public let removed: [NSManagedObjectID]
        /// Those that were there and stand elsewhere among the others because they have changed.
        public let moved: [NSManagedObjectID]
        /// Those that were there and have changed, or were refreshed; the moved ones too.
        public let changed: [NSManagedObjectID]
    }

    /// Each iteration is one of its own, and begins with a fetch.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(feed: LiveFeed(request)) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let feed: LiveFeed

        /// The newest state, once it is another than the one given before; nil when the context is gone, or the task was cancelled.
        ///
        /// - Throws: a fetch's error; the next call fetches again.
        public mutating func next() async throws -> Snapshot? { try await feed.next() }
    }
}

/// A request and whom to ask.
// Sendable: the request is a copy that nobody changes; the context may be used from anywhere as far as it is here.
final class LiveRequest: @unchecked Sendable {
    weak var context: NSManagedObjectContext?
    let makeTracker: (NSManagedObjectContext) throws -> ResultsTracker

    init<Result>(_ context: NSManagedObjectContext, _ request: NSFetchRequest<Result>) {
        self.context = context
        makeTracker = { try ResultsTracker(request, $0, sectionKeyPath: nil) }
    }
}
