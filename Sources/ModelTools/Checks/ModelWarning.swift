import ModelCompiler
import ModelFormat

/// Something in a model that is probably not meant, or that no program can use.
public struct ModelWarning: Sendable, Equatable, Encodable {
    /// The names of the entity and the property, with a dot between them.
    public let place: String
    /// A sentence without its subject and full stop: `has no inverse`.
    public let text: String
    /// Whether the model contradicts itself, so that no program can use it: a build fails.
    public let isError: Bool

    // What `model check --json` prints, which refuses a model with an error before.
    private enum CodingKeys: CodingKey { case place, text }

    public init(place: String, text: String, isError: Bool = false) {
        self.place = place
        self.text = text
        self.isError = isError
    }

    public var description: String { "\(place) \(text)" }
}

/// What a model editor would warn about or refuse, in the order of the model; what its predicates ask comes last.
public func warnings(in model: Model) -> [ModelWarning] {
    let family = EntityFamily(model)
    return model.entities.flatMap { entity -> [ModelWarning] in
        var found = family.warnings(about: entity)
        for attribute in entity.attributes { found += place("\(entity.name).\(attribute.name)", attribute.warnings) }
        for relationship in entity.relationships {
            found += family.errors(about: relationship, of: entity)
            found += place("\(entity.name).\(relationship.name)", family.warnings(about: relationship, of: entity))
        }
        return found + (model.isUsedWithCloudKit ? cloudWarnings(about: entity) : [])
    } + PredicateChecks(family).warnings(in: model)
}

func place(_ place: String, _ texts: [String], areErrors: Bool = false) -> [ModelWarning] {
    texts.map { ModelWarning(place: place, text: $0, isError: areErrors) }
}
