import Foundation
import Predicates
import class Predicates.NSExpression

/// A fetch for dictionaries as a value: which columns, of which groups of rows.
package struct DictionaryQuery {
    package struct Column {
        /// The key in the dictionaries.
        let name: String
        var expression: NSExpression
        /// What an expression's value is to be; undefined for what it is by itself.
        var type: NSAttributeType = .undefinedAttributeType
    }

    /// The rows, and limit, offset and order of what is made of them.
    var rows: FetchQuery
    var columns: [Column]
    var groups: [Column] = []
    var having: PredicateTree?
    var isDistinct = false

    /// - Throws: `CocoaError` 134060 for what is no property of the entity, and for options that do not go together.
    init<Result>(_ request: NSFetchRequest<Result>, _ rows: FetchQuery) throws {
        let entity = rows.entity
        self.rows = rows
        self.columns = try (request.propertiesToFetch ?? Self.attributes(of: entity)).map { try Column($0, entity) }
        let columns = self.columns
        groups = try (request.propertiesToGroupBy ?? []).map { group in
            try columns.first { $0.name == (group as? any NamedKey)?.name ?? (group as? String) } ?? Column(group, entity)
        }
        let known = Set((columns + groups).map(\.name))
        // NB: a variable that is bound to nil would mean a question for nil.
        let keys = Dictionary(uniqueKeysWithValues: known.map { ($0, NSExpression(forKeyPath: $0)) })
        having = request.havingPredicate?.withSubstitutionVariables(keys).tree
        isDistinct = request.returnsDistinctResults
        if columns.isEmpty { throw Self.refusal(entity, "propertiesToFetch is empty") }
        if having != nil, groups.isEmpty { throw Self.refusal(entity, "a havingPredicate needs propertiesToGroupBy") }
        if let key = having?.comparedExpressions.flatMap(Self.keysOutsideOfAggregates).first(where: { !known.contains($0) }) {
            throw Self.refusal(entity, "the havingPredicate reads “\(key)”, which is neither a column nor grouped by")
        }
        let names = columns.map(\.name)
        if let name = names.first(where: { name in names.count(where: { $0 == name }) > 1 }) {
            throw Self.refusal(entity, "two columns are called “\(name)”")
        }
    }

    private static func attributes(of entity: NSEntityDescription) -> [Any] {
        entity.attributesByName.values.filter { !$0.isTransient }.sorted { $0.name < $1.name }
    }

    private static func keysOutsideOfAggregates(_ expression: NSExpression) -> [String] {
        switch expression.tree {
        case .keyPath(nil, let key): [key]
        case .function(let name, let arguments):
            PredicateSQL.aggregateFunctions[name] == nil ? arguments.flatMap(keysOutsideOfAggregates) : []
        case .aggregate(let elements): elements.flatMap(keysOutsideOfAggregates)
        default: []
        }
    }

    static func refusal(_ entity: NSEntityDescription, _ reason: String, hint: String = "") -> CocoaError {
        .coreData(.coreData, "A fetch of dictionaries of \(entity.name ?? "?") is refused: \(reason).\(hint)")
    }

    /// Options that only a fetch for dictionaries may have.
    ///
    /// - Throws: `CocoaError` 134060 where another one has them.
    static func requireNone<Result>(of request: NSFetchRequest<Result>, _ entity: NSEntityDescription) throws {
        let isGrouped = request.propertiesToGroupBy?.isEmpty == false || request.havingPredicate != nil
        if isGrouped { throw refusal(entity, "propertiesToGroupBy and havingPredicate need the resultType .dictionaryResultType") }
    }
}

extension DictionaryQuery.Column {
    /// A column as requests name it: a property, a path along to-one relationships, or an expression.
    fileprivate init(_ property: Any, _ entity: NSEntityDescription) throws {
        switch property {
        case let description as NSExpressionDescription:
            guard let expression = description.expression else {
                throw DictionaryQuery.refusal(entity, "the column “\(description.name)” has no expression")
            }
            self.init(name: description.name, expression: expression, type: description.expressionResultType)
        case let description as NSPropertyDescription: try self.init(key: description.name, entity)
        case let key as String: try self.init(key: key, entity)
        case let key as any NamedKey: try self.init(key: key.name, entity)
        default: throw DictionaryQuery.refusal(entity, "a column is \(Swift.type(of: property)), neither a name nor a description")
        }
    }

    private init(key: String, _ entity: NSEntityDescription) throws {
        try Self.requireColumn(key, entity)
        self.init(name: key, expression: NSExpression(forKeyPath: key))
    }

    private static func requireColumn(_ path: String, _ first: NSEntityDescription) throws {
        var (entity, keys) = (first, path.split(separator: ".").map(String.init)[...])
        while let key = keys.popFirst() {
            if key == "objectID" || key == "self" || key == "entity" { continue }
            guard let property = entity.propertiesByName[key] else {
                let place = key == path ? "" : " (in the key path “\(path)”)"
                let reason = "entity \(entity.name ?? "?") has no property “\(key)”\(place)"
                throw DictionaryQuery.refusal(first, reason, hint: entity.hint(for: key))
            }
            if property.isTransient || property is NSFetchedPropertyDescription {
                throw DictionaryQuery.refusal(first, "“\(path)” is not in the store")
            }
            guard let relationship = property as? NSRelationshipDescription else { return }
            if relationship.isToMany {
                if keys.first?.hasPrefix("@") == true { return }
                throw DictionaryQuery.refusal(first, "“\(path)” is to-many: use \(key).@count")
            }
            entity = relationship.destination
        }
    }
}

extension PredicateTree {
    /// Both sides of all comparisons.
    var comparedExpressions: [NSExpression] {
        switch self {
        case .and(let parts), .or(let parts): parts.flatMap(\.comparedExpressions)
        case .not(let part): part.comparedExpressions
        case .comparison(let comparison): [comparison.leftExpression, comparison.rightExpression]
        case .constant, .opaque: []
        }
    }
}
