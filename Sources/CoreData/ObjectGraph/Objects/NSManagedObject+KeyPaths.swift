import Foundation
import Predicates

/// Objects as predicates and sort descriptors see them.
extension NSManagedObject: KeyValueSource {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "self", "SELF": return self
        case "objectID": return objectID
        case "entity": return scope.entity
        default: break
        }
        guard scope.entity.propertiesByName[key] != nil || hasUnmodelledValue(forKey: key) else {
            throw CocoaError.coreData(
                .coreData,
                "Entity \(scope.entity.name ?? "?") has no property “\(key)”, which a predicate or sort descriptor names.\(scope.entity.hint(for: key))"
            )
        }
        return value(forKey: key)
    }

    /// Whether a to-many relationship is met along the keys.
    public func leadsToCollection(_ keys: ArraySlice<String>) -> Bool {
        var entity = scope.entity
        for key in keys {
            guard let relationship = entity.propertiesByName[key] as? NSRelationshipDescription else { return false }
            if relationship.isToMany { return true }
            entity = relationship.destination
        }
        return false
    }

    /// The value at the end of a path of properties. What a to-many on the way gives is a collection of its kind: a set for a set, an ordered
    /// set for an ordered one, each value once and without nil; `@count` and the like work on them.
    ///
    /// - Precondition: the path leads along properties of the entities.
    public final func value(forKeyPath keyPath: String) -> Any? {
        KeyPathWalk.value(of: keyPath, in: self)
    }

    /// Sets the property at the end of a path of relationships, of every object that the path leads to. Nothing happens where one of the
    /// relationships is nil, or empty.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.firstIndex(of: ".") else { return setValue(value, forKey: keyPath) }
        let rest = String(keyPath[keyPath.index(after: dot)...])
        switch self.value(forKey: String(keyPath[..<dot])) {
        case let next as NSManagedObject: next.setValue(value, forKeyPath: rest)
        case let members as Set<NSManagedObject>: members.forEach { $0.setValue(value, forKeyPath: rest) }
        case let members as NSOrderedSet: for case let member as NSManagedObject in members { member.setValue(value, forKeyPath: rest) }
        case let objects as [NSManagedObject]: objects.forEach { $0.setValue(value, forKeyPath: rest) }
        default: break
        }
    }
}

extension NSManagedObject: RowIdentifying {
    var identity: RowIdentity { scope.foreignID?.identity ?? RowIdentity(rowReference, in: scope.ids(temporary: key < 0)) }
}
