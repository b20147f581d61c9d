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
        fetchTemplates[name] = fetchRequestTemplate.map(FetchTemplate.init)
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
        fetchTemplates[name]?.request(in: self, "the fetch request template \(name)")
    }
}
