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
        case .managedObjectResultType: try readObjectsAside()
        case .dictionaryResultType: try readDictionariesAside()
        default: fetchOnQueue()
        }
    }

    private func readDictionariesAside() throws {
        let entity = try context.entity(of: request, ResultType.self)
        let (query, source) = (try DictionaryQuery(request, context.query(request, entity)), context.parentSource)
        readAside({ try source.dictionaries(query) }) { $0 }
    }

    private func readObjectsAside() throws {
        let entity = try context.entity(of: request, ResultType.self)
        _ = try request.prefetchPaths(entity)
        let query = context.query(request, entity)
        let (source, changeCount) = (context.parentSource, context.registry.changesAbove?.count ?? 0)
        readAside({ try source.fetch(query, self.note) }) { try self.objects($0, query, changeCount) }
    }

    /// Reads on another thread, and makes results of what was read on the context's queue.
    private func readAside<Found>(_ read: @escaping () throws -> Found, _ results: @escaping (Found) throws -> [any NSFetchRequestResult]) {
        // What these hold belongs to this fetch alone, but for a source, which may be asked from any thread.
        nonisolated(unsafe) let (sentRead, sentResults) = (read, results)
        DispatchQueue.global().async { [self] in
            // As above: it goes to the context's queue, and nobody has it here any more.
            nonisolated(unsafe) let found = Result { try sentRead() }
            context.perform { [self] in
                end {
                    try checkCancellation()
                    return try sentResults(found.get())
                }
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
