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
        guard scope.entity.propertiesByName[key] != nil else {
            throw CocoaError.coreData(
                .coreData,
                "Entity \(scope.entity.name ?? "?") has no property \"\(key)\", which a predicate or sort descriptor names."
            )
        }
        return value(forKey: key)
    }

    /// The value at the end of a path of properties; a to-many on the way gives all values, and `@count` and the like work on them.
    ///
    /// - Precondition: the path leads along properties of the entities.
    public final func value(forKeyPath keyPath: String) -> Any? {
        NSExpression(forKeyPath: keyPath).expressionValue(with: self, context: nil)
    }

    /// Sets the property at the end of a path of to-one relationships. Nothing happens where one of them is nil.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.firstIndex(of: ".") else { return setValue(value, forKey: keyPath) }
        let next = self.value(forKey: String(keyPath[..<dot])) as? NSManagedObject
        next?.setValue(value, forKeyPath: String(keyPath[keyPath.index(after: dot)...]))
    }
}

extension NSManagedObject: RowIdentifying {
    var identity: RowIdentity { scope.foreignID?.identity ?? RowIdentity(rowReference, in: scope.ids(temporary: key < 0)) }
}
