import Foundation

/// Keys that every object has, whatever its model says.
private enum BuiltInKey: String {
    case objectID, entity, managedObjectContext, faultingState, hasChanges, hasPersistentChangedValues
    case isInserted, isUpdated, isDeleted, isFault
    // Key-value coding finds `isDeleted` under the plain name too.
    case inserted, updated, deleted, fault
    case description, debugDescription, hash
    case itself = "self"

    func value(of object: NSManagedObject) -> Any? {
        switch self {
        case .objectID: object.objectID
        case .entity: object.entity
        case .managedObjectContext: object.managedObjectContext
        case .faultingState: NSNumber(value: object.faultingState)
        case .hasChanges: NSNumber(value: object.hasChanges)
        case .hasPersistentChangedValues: NSNumber(value: object.hasPersistentChangedValues)
        case .isInserted, .inserted: NSNumber(value: object.isInserted)
        case .isUpdated, .updated: NSNumber(value: object.isUpdated)
        case .isDeleted, .deleted: NSNumber(value: object.isDeleted)
        case .isFault, .fault: NSNumber(value: object.isFault)
        case .itself: object
        case .description: object.description
        case .debugDescription: object.debugDescription
        case .hash: NSNumber(value: object.hash)
        }
    }
}

/// Key-value coding beyond the model.
extension NSManagedObject {
    final func unmodelledValue(forKey key: String) -> Any? {
        if let known = BuiltInKey(rawValue: key) { return known.value(of: self) }
        checkReading()
        if let stored = swiftProperty(named: key) { return stored.value }
        return value(forUndefinedKey: key)
    }

    /// Whether somebody can say the value of a key that is not in the model.
    final func hasUnmodelledValue(forKey key: String) -> Bool {
        BuiltInKey(rawValue: key) != nil || swiftProperty(named: key) != nil
            || OverrideProbe.overridesValueForUndefinedKey(type(of: self))
    }

    private struct Stored {
        /// Nil for an optional that has none.
        let value: Any?
    }

    /// A stored property of a subclass; there is no way to ask for a computed one by name.
    private func swiftProperty(named key: String) -> Stored? {
        var mirror: Mirror? = Mirror(reflecting: self)
        while let level = mirror, level.subjectType != NSManagedObject.self {
            if let found = level.children.first(where: { $0.label == key }) { return Stored(value: unwrapped(found.value)) }
            mirror = level.superclassMirror
        }
        return nil
    }

    final func refuseKey(_ key: String) -> Never {
        misuse(
            """
            \(scope.entity.name ?? "?") is not key value coding-compliant for the key "\(key)": the entity has no such property, and the class \
            \(type(of: self)) no such stored one.\(scope.entity.hint(for: key)) For a name of another kind override value(forUndefinedKey:) or setValue(_:forUndefinedKey:).
            """
        )
    }
}
