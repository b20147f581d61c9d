import Foundation
import Predicates
import class Predicates.NSComparisonPredicate

/// A condition of a fetch by which its objects with unsaved changes can be found in a table: an attribute or a to-one relationship is equal to a
/// constant, or to one of several, and nothing is read across relationships.
struct PendingProbe {
    let key: PendingIndex.Key
    let values: [UniqueValue]

    /// - Parameters:
    ///   - test: the whole predicate, where it is known that it reads stored attributes only.
    ///   - paths: else, what is read.
    init?(
        _ predicate: PredicateTree?,
        _ entity: NSEntityDescription,
        _ test: RowTest?,
        _ paths: ReadPaths?,
        _ context: NSManagedObjectContext
    ) {
        if let paths, !paths.paths.allSatisfy({ Self.isInRow($0, entity) }) { return nil }
        if let (name, value) = test?.equality {
            self.init(name, [value], entity)
            return
        }
        for case .comparison(let comparison) in predicate?.conjuncts ?? [] {
            guard let (name, values) = comparison.choice(of: entity, context) ?? comparison.partialChoice(of: entity, context) else {
                continue
            }
            self.init(name, values, entity, context.identityMap.forwardingTable.generation)
            return
        }
        return nil
    }

    private init(_ name: String, _ values: [UniqueValue], _ entity: NSEntityDescription, _ generation: Int? = nil) {
        let isReference = generation != nil && entity.relationshipsByName[name] != nil
        key = PendingIndex.Key(root: entity.rootEntity.index, property: name, generation: isReference ? generation : nil)
        self.values = values
    }

    /// Whether what is read is in the fetched object's row. The row says so too when the target of a relationship is deleted, where there is an
    /// inverse that leads back from it.
    private static func isInRow(_ path: [String], _ entity: NSEntityDescription) -> Bool {
        guard path.count == 1 else { return false }
        switch entity.propertiesByName[path[0]] {
        case is NSAttributeDescription: return true
        case let relationship as NSRelationshipDescription: return !relationship.isToMany && relationship.inverse != nil
        default: return false
        }
    }
}

extension RowTest {
    /// A value that one attribute must have.
    fileprivate var equality: (name: String, value: UniqueValue)? {
        switch self {
        case .comparison(let test):
            guard test.relation == .equal, let value = UniqueValue(test.constant) else { return nil }
            return (test.attribute.name, value)
        case .and(let parts): return parts.lazy.compactMap(\.equality).first
        default: return nil
        }
    }
}

extension PredicateTree {
    /// What has to hold all together.
    fileprivate var conjuncts: [PredicateTree] { if case .and(let parts) = self { parts } else { [self] } }
}

extension NSComparisonPredicate {
    /// The property that the comparison wants to have one of some values; nil where it says anything else.
    fileprivate func choice(of entity: NSEntityDescription, _ context: NSManagedObjectContext) -> (name: String, values: [UniqueValue])? {
        guard comparisonPredicateModifier == .direct, options.isEmpty, case .keyPath(nil, let name) = leftExpression.tree,
            case .constant(let constant) = rightExpression.tree
        else { return nil }
        return values(constants(constant), name, of: entity, context).map { (name, $0) }
    }

    /// Of several properties that are together to be one of some lists: the one that tells the most of these apart.
    fileprivate func partialChoice(
        of entity: NSEntityDescription,
        _ context: NSManagedObjectContext
    ) -> (name: String, values: [UniqueValue])? {
        guard comparisonPredicateModifier == .direct, options.isEmpty, predicateOperatorType == .in,
            case .aggregate(let parts) = leftExpression.tree, case .constant(let constant) = rightExpression.tree,
            case .list(let lists) = PredicateConstant(constant)
        else { return nil }
        let tuples = lists.compactMap { list in if case .list(let elements) = PredicateConstant(list) { elements } else { nil } }
            .filter { $0.count == parts.count }
        var best: (name: String, values: [UniqueValue])?
        for (index, part) in parts.enumerated() {
            guard case .keyPath(nil, let name) = part.tree,
                let found = values(tuples.map { PredicateConstant($0[index]) }, name, of: entity, context)
            else { continue }
            let distinct = Array(Set(found))
            if distinct.count > best?.values.count ?? 0 { best = (name, distinct) }
        }
        return best
    }

    private func values(
        _ constants: [PredicateConstant],
        _ name: String,
        of entity: NSEntityDescription,
        _ context: NSManagedObjectContext
    ) -> [UniqueValue]? {
        guard let property = entity.shape.properties[name], entity.propertiesByName[name]?.isTransient == false else { return nil }
        var values: [UniqueValue] = []
        for constant in constants {
            guard let value = UniqueValue(constant, of: property, context) else { return nil }
            values.append(value)
        }
        return values.isEmpty ? nil : values
    }

    private func constants(_ constant: Any?) -> [PredicateConstant] {
        switch (predicateOperatorType, PredicateConstant(constant)) {
        case (.equalTo, let constant): [constant]
        case (.in, .list(let list)): list.map(PredicateConstant.init)
        default: []
        }
    }
}

extension UniqueValue {
    /// Nil for what is equal to no value, and for what a table cannot find.
    fileprivate init?(_ constant: PredicateConstant, of property: EntityShape.Property, _ context: NSManagedObjectContext) {
        switch (property, constant) {
        case (.attribute(_, let attribute), .scalar(let scalar)):
            guard let value = AttributeTest.value(scalar, attribute.attributeType, .equal) else { return nil }
            self.init(value)
        case (.toOne, .row(let identity)):
            guard case .own(let reference) = context.identify(identity) else { return nil }
            self.init(.reference(context.forwarded(reference)))
        default: return nil
        }
    }
}
