import Predicates

/// What predicates and sort descriptors can ask of an object's entity, as in `entity.name == "Song"`.
extension NSEntityDescription: KeyValueSource {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "name": return name
        case "managedObjectClassName": return managedObjectClassName
        case "isAbstract", "abstract": return isAbstract
        case "superentity": return superentity
        case "userInfo": return userInfo
        case "renamingIdentifier": return renamingIdentifier
        case "versionHash": return versionHash
        case "self", "SELF": return self
        default: throw PredicateEvaluationError.undefinedKey(key, type: "NSEntityDescription")
        }
    }
}

extension NSEntityDescription: SortStandIn {
    public var sortValue: Any? { name }
}
