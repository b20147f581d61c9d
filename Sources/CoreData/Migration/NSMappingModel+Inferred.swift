import Predicates
import class Predicates.NSExpression

extension NSMappingModel {
    /// Whether the mapping is what would be inferred, whoever has made it.
    func isInferred(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> Bool {
        guard let inferred = try? NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination) else {
            return false
        }
        let (own, others) = (entityMappings ?? [], inferred.entityMappings ?? [])
        return own.count == others.count && zip(own, others).allSatisfy { $0.says($1) }
    }
}

extension NSEntityMapping {
    fileprivate func says(_ other: NSEntityMapping) -> Bool {
        mappingType == other.mappingType && sourceEntityName == other.sourceEntityName
            && destinationEntityName == other.destinationEntityName
            && entityMigrationPolicyClassName == nil && sourceExpression == nil
            && Self.same(attributeMappings, other.attributeMappings) && Self.same(relationshipMappings, other.relationshipMappings)
    }

    private static func same(_ left: [NSPropertyMapping]?, _ right: [NSPropertyMapping]?) -> Bool {
        (left ?? []).count == (right ?? []).count
            && zip(left ?? [], right ?? []).allSatisfy { $0.name == $1.name && $0.valueExpression == $1.valueExpression }
    }
}
