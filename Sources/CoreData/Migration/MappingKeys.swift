import Predicates

/// What expressions can ask of `$entityMapping`, as `$entityMapping.name`.
extension NSEntityMapping: KeyValueSource {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "name": name
        case "mappingType": mappingType.rawValue
        case "sourceEntityName": sourceEntityName
        case "destinationEntityName": destinationEntityName
        case "entityMigrationPolicyClassName": entityMigrationPolicyClassName
        case "userInfo": userInfo
        default: throw PredicateEvaluationError.undefinedKey(key, type: "NSEntityMapping")
        }
    }
}

/// What expressions can ask of `$propertyMapping`.
extension NSPropertyMapping: KeyValueSource {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "name": name
        case "userInfo": userInfo
        default: throw PredicateEvaluationError.undefinedKey(key, type: "NSPropertyMapping")
        }
    }
}

/// What expressions can ask of `$manager`, as `$manager.userInfo.language`.
extension NSMigrationManager: KeyValueSource {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "userInfo": userInfo
        case "sourceModel": sourceModel
        case "destinationModel": destinationModel
        case "currentEntityMapping": currentEntityMapping
        case "migrationProgress": migrationProgress
        default: throw PredicateEvaluationError.undefinedKey(key, type: "NSMigrationManager")
        }
    }
}
