import Foundation

/// The results of a fetch, one after the other, in bounded memory: rows are read so many at a time, and what the reader has let go of is gone.
///
/// ```swift
/// for song in try context.objects(of: request) { total += song.duration }
/// ```
///
/// Which objects, and in which order, is known from the beginning; the values are as of the moment when an object's turn comes. One whose row is
/// gone by then is an inaccessible fault.
///
/// > Concurrency: On the queue of the context, as its objects.
public struct FetchedObjects<Result>: Sequence {
    let context: NSManagedObjectContext
    let entity: NSEntityDescription
    let results: Results
    let batchSize: Int
    let paths: PrefetchPaths

    enum Results {
        case references([RowReference])
        case objects([NSManagedObject])
    }

    /// How many there are.
    public var count: Int {
        switch results {
        case .references(let references): references.count
        case .objects(let objects): objects.count
        }
    }
    public var underestimatedCount: Int { count }

    public func makeIterator() -> Iterator { Iterator(self) }

    public struct Iterator: IteratorProtocol {
        private let objects: FetchedObjects
        private var position = 0
        /// Those that were read and not asked for yet, the next one last.
        private var waiting: [Result] = []

        init(_ objects: FetchedObjects) { self.objects = objects }

        public mutating func next() -> Result? {
            if waiting.isEmpty { read() }
            return waiting.popLast()
        }

        private mutating func read() {
            let end = Swift.min(position + objects.batchSize, objects.count)
            if position < end { waiting = objects[position..<end].reversed() }
            position = end
        }
    }

    private subscript(range: Range<Int>) -> [Result] {
        switch results {
        case .references(let references):
            context.checkReading()
            context.catchUp()
            var found: [NSManagedObject] = []
            context.appendUnread(references[range], paths, to: &found)
            return context.cast(found, entity)
        case .objects(let objects): return context.cast(Array(objects[range]), entity)
        }
    }
}

extension NSManagedObjectContext {
    /// The results of a fetch to go through once: `fetchBatchSize` rows at a time, or 100.
    ///
    /// Where unsaved changes of the context, or of one above, count, all objects are made at once.
    /// - Throws: as `fetch(_:)`.
    /// - Precondition: the request's results are objects.
    public func objects<Result>(of request: NSFetchRequest<Result>) throws -> FetchedObjects<Result> {
        precondition(request.resultType == .managedObjectResultType, "objects(of:) needs a request for managed objects.")
        return try reading(request) { entity in
            FetchedObjects(
                context: self,
                entity: entity,
                results: try listResults(of: request, entity),
                batchSize: request.fetchBatchSize > 0 ? request.fetchBatchSize : 100,
                paths: try request.prefetchPaths(entity)
            )
        }
    }

    private func listResults<Result>(
        of request: NSFetchRequest<Result>,
        _ entity: NSEntityDescription
    ) throws -> FetchedObjects<Result>.Results {
        if try overlay(request, query(request, entity)) == nil, let references = try parentSource.references(query(request, entity)) {
            return .references(references)
        }
        return .objects(try fetchObjects(request, entity))
    }
}
