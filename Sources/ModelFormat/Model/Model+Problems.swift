extension Model {
    /// Something that cannot be right in a model, and where.
    public struct Problem: Sendable, Equatable {
        /// The names that lead there: of an entity, then of a property.
        public let path: [String]
        /// A sentence without a full stop.
        public let sentence: String
    }

    /// Names that come twice, names of what is not there, and what contains itself. Reading a file refuses a model that has any.
    ///
    /// A relationship without a destination or an inverse is none: models are like that while they are being written.
    public func problems() -> [Problem] {
        let checks = ProblemFinder(self)
        return checks.names() + entities.flatMap(checks.problems) + checks.references() + checks.circles()
    }
}

/// Looks for problems in a model whose names it has looked up once.
private struct ProblemFinder {
    let model: Model
    let entities: [String: Model.Entity]
    let composites: [String: Model.Composite]
    /// The names of the relationships that an entity declares.
    let relationships: [String: Set<String>]

    init(_ model: Model) {
        self.model = model
        entities = Dictionary(model.entities.map { ($0.name, $0) }) { first, _ in first }
        composites = Dictionary(model.composites.map { ($0.name, $0) }) { first, _ in first }
        relationships = entities.mapValues { Set($0.relationships.map(\.name)) }
    }

    func names() -> [Model.Problem] {
        repeated(model.entities.map(\.name), [], "entities") + repeated(model.composites.map(\.name), [], "composites")
            + repeated(model.configurations.map(\.name), [], "configurations")
            + repeated(model.fetchRequests.map(\.name), [], "fetch requests")
            + model.composites.flatMap { repeated($0.attributes.map(\.name), [$0.name], "attributes of composite \($0.name)") }
    }

    private func repeated(_ names: [String], _ path: [String], _ what: String) -> [Model.Problem] {
        var seen: Set<String> = []
        return names.filter { !seen.insert($0).inserted }.map { Model.Problem(path: path + [$0], sentence: "two \(what) are named \($0)") }
    }

    func problems(of entity: Model.Entity) -> [Model.Problem] {
        let own = entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name)
        return repeated(own, [entity.name], "properties of entity \(entity.name)")
            + missing(entity.parent, [entity.name], "the parent of entity \(entity.name)")
            + entity.attributes.flatMap { problems(of: $0, [entity.name]) }
            + entity.relationships.flatMap { problems(of: $0, entity) }
            + entity.fetchedProperties.flatMap {
                missing($0.request.entity, [entity.name, $0.name], "the entity that \(entity.name).\($0.name) fetches")
            }
    }

    private func missing(_ name: String?, _ path: [String], _ what: String) -> [Model.Problem] {
        guard let name, entities[name] == nil else { return [] }
        return [Model.Problem(path: path, sentence: "\(what) is \(name), which is not in the model")]
    }

    private func problems(of attribute: Model.Attribute, _ path: [String]) -> [Model.Problem] {
        guard let name = attribute.composite, composites[name] == nil else { return [] }
        let place = path + [attribute.name]
        return [Model.Problem(path: place, sentence: "\(place.joined(separator: ".")) is of composite \(name), which is not in the model")]
    }

    private func problems(of relationship: Model.Relationship, _ entity: Model.Entity) -> [Model.Problem] {
        let (path, name) = ([entity.name, relationship.name], "\(entity.name).\(relationship.name)")
        let destination = missing(relationship.destination, path, "the destination of \(name)")
        guard destination.isEmpty, let inverse = relationship.inverse, let target = relationship.destination else { return destination }
        if lineage(of: target).contains(where: { relationships[$0.name]?.contains(inverse) == true }) { return [] }
        return [Model.Problem(path: path, sentence: "the inverse of \(name) is \(inverse), which is no relationship of \(target)")]
    }

    /// An entity and what it inherits from, up to the greatest depth.
    private func lineage(of name: String) -> [Model.Entity] {
        var (found, next): ([Model.Entity], String?) = ([], name)
        while let name = next, let entity = entities[name], found.count < Self.deepestTree {
            found.append(entity)
            next = entity.parent
        }
        return found
    }

    func references() -> [Model.Problem] {
        var found: [Model.Problem] = []
        for composite in model.composites { found += composite.attributes.flatMap { problems(of: $0, [composite.name]) } }
        for configuration in model.configurations {
            let what = "a member of configuration \(configuration.name)"
            found += configuration.members.flatMap { missing($0, [configuration.name], what) }
        }
        for request in model.fetchRequests {
            found += missing(request.entity, [request.name], "the entity of fetch request \(request.name)")
        }
        return found
    }

    func circles() -> [Model.Problem] {
        let circular = model.entities.filter { lineage(of: $0.name).last?.parent.flatMap { entities[$0] } != nil }
        return circular.map {
            Model.Problem(
                path: [$0.name],
                sentence: "entity \($0.name) inherits from itself, or over more than \(Self.deepestTree) levels"
            )
        } + oversizedComposites()
    }

    private func oversizedComposites() -> [Model.Problem] {
        var sizes: [String: Int] = [:]
        guard let name = model.composites.map(\.name).first(where: { size(ofComposite: $0, depth: 0, &sizes) == nil }) else { return [] }
        return [Model.Problem(path: [name], sentence: "composite \(name) contains itself, or too much")]
    }

    /// The number of attributes in a composite of a composite and so on; nil if that does not end, or too late.
    private func size(ofComposite name: String, depth: Int, _ sizes: inout [String: Int]) -> Int? {
        if let known = sizes[name] { return known }
        guard depth < Self.deepestComposite else { return nil }
        var sum = 0
        for attribute in composites[name]?.attributes ?? [] {
            guard let part = attribute.composite.map({ size(ofComposite: $0, depth: depth + 1, &sizes) }) ?? 0 else { return nil }
            sum += part + 1
            if sum > Self.largestComposite { return nil }
        }
        sizes[name] = sum
        return sum
    }

    private static let deepestTree = 256
    private static let deepestComposite = 64
    private static let largestComposite = 10_000
}
