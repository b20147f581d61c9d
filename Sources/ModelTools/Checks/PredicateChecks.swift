import ModelCompiler
import ModelFormat

/// What is wrong with the predicates of a model's fetch requests, fetched properties and indexes.
struct PredicateChecks {
    private let family: EntityFamily

    init(_ family: EntityFamily) { self.family = family }

    /// Keys that are not there, and as errors predicates that cannot be read.
    func warnings(in model: Model) -> [ModelWarning] {
        model.entities.flatMap { entity in
            entity.fetchedProperties.flatMap { warnings(about: $0, of: entity) }
                + entity.indexes.flatMap { warnings(about: $0.partialPredicate, entity.name, entity.name) }
        } + model.fetchRequests.flatMap { warnings(about: $0.predicate, $0.entity, $0.name) }
    }

    private func warnings(about property: Model.FetchedProperty, of entity: Model.Entity) -> [ModelWarning] {
        let place = "\(entity.name).\(property.name)"
        return warnings(about: property.request.predicate, property.request.entity, place, ["FETCH_SOURCE": entity.name])
    }

    /// - Parameter variables: the entities of the objects that variables stand for.
    private func warnings(
        about predicate: Model.Predicate?,
        _ entity: String?,
        _ name: String,
        _ variables: [String: String] = [:]
    ) -> [ModelWarning] {
        guard let predicate else { return [] }
        do {
            var keys = KeyCheck(family: family, entity: entity, variables: variables)
            keys.visit(try predicate.parsed)
            return place(name, keys.problems)
        } catch {
            return place(name, ["has a predicate that cannot be read: \(error)"], areErrors: true)
        }
    }
}

extension Model.Predicate {
    fileprivate var parsed: Model.Predicate {
        get throws {
            guard case .format(let text) = self else { return self }
            return try ModelTextParser.predicates.predicate(text)
        }
    }
}

/// Looks in a predicate for keys that entities do not have.
private struct KeyCheck {
    let family: EntityFamily
    let entity: String?
    var variables: [String: String]
    private(set) var problems: [String] = []

    init(family: EntityFamily, entity: String?, variables: [String: String]) {
        (self.family, self.entity, self.variables) = (family, entity, variables)
    }

    mutating func visit(_ predicate: Model.Predicate) {
        switch predicate {
        case .comparison(let comparison):
            visit(comparison.left)
            visit(comparison.right)
        case .not(let part): visit(part)
        case .and(let parts), .or(let parts): parts.forEach { visit($0) }
        case .format, .constant: break
        }
    }

    private mutating func visit(_ expression: Model.Expression) {
        switch expression {
        case .keyPath(let operand, let path): follow(path, from: operand)
        case .function(_, let arguments), .aggregate(let arguments): arguments.forEach { visit($0) }
        case .call(let target, _, let arguments): ([target] + arguments).forEach { visit($0) }
        case .set(_, let left, let right): [left, right].forEach { visit($0) }
        case .conditional(let predicate, let yes, let no):
            visit(predicate)
            [yes, no].forEach { visit($0) }
        case .subquery(let collection, let variable, let predicate): visit(collection, variable, predicate)
        case .text, .constant, .evaluatedObject, .variable, .fetch, .anyKey: break
        }
    }

    private mutating func visit(_ collection: Model.Expression, _ variable: String, _ predicate: Model.Predicate) {
        let outer = variables
        variables[variable] = destination(of: collection)
        visit(predicate)
        variables = outer
    }

    /// The entity of the objects that an expression leads to; nil where that is not known.
    private mutating func destination(of expression: Model.Expression) -> String? {
        switch expression {
        case .evaluatedObject: return entity
        case .variable(let name): return variables[name]
        case .keyPath(let operand, let path): return follow(path, from: operand)
        default:
            visit(expression)
            return nil
        }
    }

    @discardableResult private mutating func follow(_ path: String, from operand: Model.Expression?) -> String? {
        var place = operand.map { destination(of: $0) } ?? entity
        for key in path.split(separator: ".").map(String.init) {
            guard let entity = place, !key.hasPrefix("@"), !Self.keysOfAll.contains(key) else { return nil }
            guard family.has(key, entity) else {
                note(key, entity)
                return nil
            }
            place = family.destination(of: key, entity)
        }
        return place
    }

    private mutating func note(_ key: String, _ entity: String) {
        let near = nearest(to: key, among: family.propertyNames(of: entity)).map { ": is \($0) meant?" } ?? ""
        let text = "has a predicate with the key \(key), which \(entity) has not\(near)"
        if !problems.contains(text) { problems.append(text) }
    }

    /// What predicates may ask of every object.
    private static let keysOfAll: Set<String> = ["SELF", "self", "objectID", "entity"]
}

extension EntityFamily {
    /// Whether an entity, or one that inherits from it, has a property of that name; of an entity that is not there the reader of models tells.
    fileprivate func has(_ key: String, _ entity: String) -> Bool {
        guard entities[entity] != nil else { return true }
        return propertyNames(of: entity).contains(key)
            || entities.values.contains { $0.propertyNames.contains(key) && lineage(of: $0.name).contains { $0.name == entity } }
    }

    /// The entity of the objects that a property has; nil for an attribute.
    fileprivate func destination(of key: String, _ entity: String) -> String? {
        relationship(key, of: entity)?.destination
            ?? lineage(of: entity).lazy.flatMap(\.fetchedProperties).first { $0.name == key }?.request.entity
    }
}
