import Logging
import ModelFormat

/// Fetch requests that a model keeps under names.
extension NSManagedObjectModel {
    /// All templates. What is done to a request here does nothing to the model: each access makes new ones.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
        fetchTemplates.keys.reduce(into: [:]) { $0[$1] = fetchRequestTemplate(forName: $1) }
    }

    /// A copy of the template of that name, its predicate with variables; nil where there is none.
    public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? { template(name) }

    /// The template of that name with its variables replaced, for values `NSNull()` where nil is meant; nil where there is no such template.
    ///
    /// A variable without a value stays one, and a fetch with it fails.
    public func fetchRequestFromTemplate(
        withName name: String,
        substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        template(name, substituting: variables)
    }

    /// As Apple's form, for a request of the type that the caller names. An addition: generic classes cannot be cast into each other on Linux.
    ///
    /// ```swift
    /// let request: NSFetchRequest<Song>? = model.fetchRequestFromTemplate(withName: "named", substitutionVariables: ["NAME": "Gloria"])
    /// ```
    public func fetchRequestFromTemplate<Result>(
        withName name: String,
        substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<Result>? {
        template(name, substituting: variables)
    }

    /// Keeps a copy of a request under a name, in place of the one that had it; nil removes that.
    ///
    /// - Precondition: the model is in no use yet.
    public func setFetchRequestTemplate(_ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String) {
        fetchTemplates[name] = fetchRequestTemplate.map { .request($0.copied(as: (any NSFetchRequestResult).self)) }
    }

    /// As Apple's form, for a request of any type. A request without an entity is for the one whose class it gives.
    public func setFetchRequestTemplate<Result>(_ fetchRequestTemplate: NSFetchRequest<Result>, forName name: String) {
        let copy = fetchRequestTemplate.copied(as: (any NSFetchRequestResult).self)
        if copy.entityName == nil, let result = Result.self as? AnyClass {
            copy.entity = entities.first { $0.managedObjectClassName == String(reflecting: result) }
        }
        fetchTemplates[name] = .request(copy)
    }

    private func template<Result>(_ name: String, substituting variables: [String: Any]) -> NSFetchRequest<Result>? {
        let request: NSFetchRequest<Result>? = template(name)
        request?.predicate = request?.predicate?.withSubstitutionVariables(variables)
        return request
    }

    private func template<Result>(_ name: String) -> NSFetchRequest<Result>? {
        switch fetchTemplates[name] {
        case nil: nil
        case .described(let request): described(request, name)
        case .request(let request): (request as? NSFetchRequest<any NSFetchRequestResult>)?.copied(as: Result.self, in: self)
        }
    }

    private func described<Result>(_ request: Model.FetchRequest, _ name: String) -> NSFetchRequest<Result>? {
        do {
            return try NSFetchRequest<Result>(request, in: self)
        } catch {
            Logger(label: "CoreData").error("the fetch request template \(name) of a model file cannot be used: \(error)")
            return nil
        }
    }
}

extension NSFetchRequest {
    /// A copy for another kind of result, whose entity is of `model` if there is one of that name.
    fileprivate func copied<Other>(as type: Other.Type, in model: NSManagedObjectModel) -> NSFetchRequest<Other> {
        let copy = copied(as: type)
        if let entity = copy.entity, entity.model !== model {
            copy.entity = model.entitiesByName[entity.name ?? ""] ?? entity
        }
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
