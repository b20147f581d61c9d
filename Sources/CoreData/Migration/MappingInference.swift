import Foundation
import Predicates
import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

/// Writes down as a mapping model what follows from two versions.
struct MappingInference {
    let transition: ModelTransition

    func entityMappings() -> [NSEntityMapping] {
        let gone = transition.source.entitiesInIndexOrder.filter { transition.successor(of: $0) == nil }
        return transition.destination.entitiesInIndexOrder.map(mapping) + gone.map(removal)
    }

    private func mapping(_ entity: NSEntityDescription) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        (mapping.destinationEntityName, mapping.destinationEntityVersionHash) = (entity.name, entity.versionHash)
        guard let origin = transition.origin(of: entity) else {
            mapping.mappingType = .addEntityMappingType
            mapping.name = "IEM_Add_\(entity.name ?? "")"
            return mapping
        }
        mapping.name = name(of: entity, origin)
        mapping.mappingType = isCopy(entity, origin) ? .copyEntityMappingType : .transformEntityMappingType
        (mapping.sourceEntityName, mapping.sourceEntityVersionHash) = (origin.name, origin.versionHash)
        mapping.attributeMappings = entity.propertiesInNameOrder.compactMap { $0 as? NSAttributeDescription }.filter { !$0.isTransient }
            .map { propertyMapping($0, expression($0, in: entity)) }
        mapping.relationshipMappings = entity.propertiesInNameOrder.compactMap { $0 as? NSRelationshipDescription }.filter {
            !$0.isTransient
        }
        .map { relationship in propertyMapping(relationship, expression(relationship, in: entity)) }
        return mapping
    }

    private func removal(_ entity: NSEntityDescription) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.mappingType = .removeEntityMappingType
        mapping.name = "IEM_Remove_\(entity.name ?? "")"
        (mapping.sourceEntityName, mapping.sourceEntityVersionHash) = (entity.name, entity.versionHash)
        return mapping
    }

    private func isCopy(_ entity: NSEntityDescription, _ origin: NSEntityDescription) -> Bool {
        entity.name == origin.name && entity.versionHash == origin.versionHash
    }

    private func name(of entity: NSEntityDescription, _ origin: NSEntityDescription) -> String {
        "IEM_\(isCopy(entity, origin) ? "Copy" : "Transform")_\(entity.name ?? "")"
    }

    private func propertyMapping(_ property: NSPropertyDescription, _ expression: NSExpression?) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = property.name
        mapping.valueExpression = expression
        return mapping
    }

    /// What was optional, and is mandatory now, has its default where there was nothing.
    private func expression(_ attribute: NSAttributeDescription, in entity: NSEntityDescription) -> NSExpression? {
        guard let before = transition.origin(of: attribute, in: entity) else { return nil }
        let value = NSExpression.source(before.name)
        guard before.isOptional, !attribute.isOptional, let standard = attribute.defaultValue else { return value }
        let isMissing = NSComparisonPredicate(
            leftExpression: value,
            rightExpression: NSExpression(forConstantValue: nil),
            modifier: .direct,
            type: .equalTo
        )
        return NSExpression(forConditional: isMissing, trueExpression: NSExpression(forConstantValue: standard), falseExpression: value)
    }

    /// What the objects have become that the source object leads to.
    private func expression(_ relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> NSExpression? {
        transition.origin(of: relationship, in: entity).map { .destinationInstances(ofSourceRelationship: $0.name) }
    }
}
