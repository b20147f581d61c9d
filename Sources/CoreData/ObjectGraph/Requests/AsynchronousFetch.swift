import Foundation

/// An asynchronous fetch on its way from thread to thread.
// Sendable: whoever has it is the only one to use it, one after the other.
final class AsynchronousFetch<ResultType>: @unchecked Sendable {
    private let result: NSAsynchronousFetchResult<ResultType>
    private let request: NSFetchRequest<ResultType>
    private let context: NSManagedObjectContext
    private var rows: [RowRun] = []

    init(_ result: NSAsynchronousFetchResult<ResultType>, _ request: NSFetchRequest<ResultType>, _ context: NSManagedObjectContext) {
        (self.result, self.request, self.context) = (result, request, context)
    }

    func begin() throws {
        switch request.resultType {
        case .managedObjectResultType: try readAside()
        case .dictionaryResultType: try readDictionariesAside()
        default: fetchOnQueue()
        }
    }

    private func readDictionariesAside() throws {
        let entity = try context.entity(of: request, ResultType.self)
        let (query, source) = (try DictionaryQuery(request, context.query(request, entity)), context.parentSource)
        // The query belongs to this fetch alone, and a source may be asked from any thread.
        nonisolated(unsafe) let (sentQuery, sentSource) = (query, source)
        DispatchQueue.global().async { [self] in
            // As above: they go to the context's queue, and nobody has them here any more.
            nonisolated(unsafe) let found = Result { try sentSource.dictionaries(sentQuery) }
            context.perform { [self] in
                end {
                    try checkCancellation()
                    return try found.get()
                }
            }
        }
    }

    /// Reads the rows on another thread, and makes objects of them on the context's queue.
    private func readAside() throws {
        let entity = try context.entity(of: request, ResultType.self)
        _ = try request.prefetchPaths(entity)
        let query = context.query(request, entity)
        let (source, changeCount) = (context.parentSource, context.registry.changesAbove?.count ?? 0)
        // The query belongs to this fetch alone, and a source may be asked from any thread.
        nonisolated(unsafe) let (sentQuery, sentSource) = (query, source)
        DispatchQueue.global().async { [self] in
            // As above: it goes to the context's queue, and nobody has it here any more.
            nonisolated(unsafe) let residue = Result { try sentSource.fetch(sentQuery, note) }
            context.perform { [self] in
                end { try objects(residue.get(), sentQuery, changeCount) }
            }
        }
    }

    private func note(_ run: RowRun) throws {
        try checkCancellation()
        rows.append(run)
        result.progress?.completedUnitCount += Int64(run.range.count)
    }

    private func checkCancellation() throws {
        if result.progress?.isCancelled == true { throw CocoaError(.userCancelled) }
    }

    private func objects(_ residue: FetchResidue?, _ query: FetchQuery, _ changeCount: Int) throws -> [NSManagedObject] {
        try checkCancellation()
        context.catchUp()
        var collector = FetchCollector(context: context, refreshes: request.shouldRefreshRefetchedObjects, changeCount: changeCount)
        for run in rows { collector.collect(run) }
        let objects = try residue?.applied(to: collector.objects, query, windows: true) ?? collector.objects
        try context.prefetch(request.prefetchPaths(query.entity), of: objects)
        if !request.returnsObjectsAsFaults { for object in objects where object.isFault { object.fire() } }
        return objects
    }

    /// IDs and counts are fetched later, on the context's queue.
    private func fetchOnQueue() {
        context.perform { [self] in
            end {
                try checkCancellation()
                return try context.fetch(request).compactMap { $0 as? any NSFetchRequestResult }
            }
        }
    }

    private func end(_ body: () throws -> [any NSFetchRequestResult]) {
        do { result.found = try body() } catch { result.operationError = error }
        rows = []
        if let progress = result.progress, !progress.isCancelled { progress.completedUnitCount = progress.totalUnitCount }
        result.fetchRequest.completion?(result)
    }
}
