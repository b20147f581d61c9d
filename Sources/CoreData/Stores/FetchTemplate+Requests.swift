import Logging
import ModelFormat

extension FetchTemplate {
    /// Keeps a copy of the request, with its entity by name: an entity whose property has it would keep itself.
    init<Result>(_ request: NSFetchRequest<Result>) {
        let copy = request.copied(as: (any NSFetchRequestResult).self)
        copy.releaseEntity()
        self = .request(copy)
    }

    /// A new request, with its entity in `model`; nil, and a line in the log, for what a file describes and nobody can carry out.
    func request<Result>(in model: NSManagedObjectModel?, _ name: @autoclosure () -> String) -> NSFetchRequest<Result>? {
        switch self {
        case .request(let request): return (request as? NSFetchRequest<any NSFetchRequestResult>)?.copied(as: Result.self, in: model)
        case .described(let request):
            do {
                return try model.map { try NSFetchRequest<Result>(request, in: $0) }
            } catch {
                Logger(label: "CoreData").error("\(name()) of a model file cannot be used: \(error)")
                return nil
            }
        }
    }
}

extension NSFetchRequest {
    /// A copy for another kind of result, with the entity that has its name in `model`.
    fileprivate func copied<Other>(as type: Other.Type, in model: NSManagedObjectModel?) -> NSFetchRequest<Other> {
        let copy = copied(as: type)
        if let entity = model?.entitiesByName[copy.entityName ?? ""] { copy.entity = entity }
        return copy
    }

    /// - Throws: `ModelFormatError` for what has no counterpart here.
    fileprivate convenience init(_ request: Model.FetchRequest, in model: NSManagedObjectModel) throws {
        self.init()
        entity = request.entity.flatMap { model.entitiesByName[$0] }
        if entity == nil { throw ModelFormatError(nil, "it is for entity \(request.entity ?? "?"), which is not in the model") }
        predicate = try request.predicate.map(NSPredicate.make)
        sortDescriptors = try request.sortDescriptors.isEmpty ? nil : request.sortDescriptors.map(NSSortDescriptor.make)
        (fetchLimit, fetchOffset, fetchBatchSize) = (request.fetchLimit, request.fetchOffset, request.fetchBatchSize)
        resultType = NSFetchRequestResultType(rawValue: UInt(clamping: request.resultType))
        relationshipKeyPathsForPrefetching = request.prefetchedKeyPaths.isEmpty ? nil : request.prefetchedKeyPaths
        take(request.options)
    }

    private func take(_ options: Model.FetchRequest.Options) {
        returnsDistinctResults = options.contains(.returnsDistinctResults)
        includesSubentities = options.contains(.includesSubentities)
        includesPropertyValues = options.contains(.includesPropertyValues)
        returnsObjectsAsFaults = options.contains(.returnsObjectsAsFaults)
        includesPendingChanges = options.contains(.includesPendingChanges)
    }
}

extension NSSortDescriptor {
    fileprivate static func make(_ descriptor: Model.SortDescriptor) throws -> NSSortDescriptor {
        let selector = descriptor.selector.map { Selector($0) }
        guard SortKind(selector) != nil else {
            throw ModelFormatError(nil, "it sorts by \(descriptor.selector ?? "?"), which cannot be called here")
        }
        return NSSortDescriptor(key: descriptor.key, ascending: descriptor.isAscending, selector: selector)
    }
}
