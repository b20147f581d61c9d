import Foundation

/// Values by name: the edge where they become `Any`, numbers as `NSNumber`.
extension NSManagedObject {
    final func property(named key: String) -> EntityShape.Property {
        checkReading()
        guard let property = scope.shape.properties[key] else {
            fatalError(
                "Entity \(scope.entity.name ?? "?") is not key value coding-compliant for the key \"\(key)\": it has no such property."
            )
        }
        return property
    }

    @usableFromInline final func storedValue(forKey key: String) -> Any? {
        guard let property = scope.shape.properties[key] else { return unmodelledValue(forKey: key) }
        willAccessValue(forKey: key)
        defer { didAccessValue(forKey: key) }
        return currentValue(property, key)
    }

    private func currentValue(_ property: EntityShape.Property, _ key: String) -> Any? {
        switch property {
        case .attribute(let slot, let attribute): attributeValue(slot, attribute)
        case .toOne(let slot, _): target(slot)
        case .toMany(let index, let relationship):
            relationship.isOrdered ? realizedContents(index).collection : Self.collection(members(of: index), relationship)
        case .transient(let property): transientValue(property)
        case .fetched(let property): fetchedObjects(property)
        }
    }

    static func collection(_ members: [NSManagedObject], _ relationship: NSRelationshipDescription) -> Any {
        relationship.isOrdered ? NSOrderedSet(array: members) : Set(members)
    }

    @usableFromInline final func setStoredValue(_ value: Any?, forKey key: String) {
        checkQueue()
        guard scope.shape.properties[key] != nil else { return setValue(value, forUndefinedKey: key) }
        switch property(named: key) {
        case .attribute(let slot, let attribute): setAttribute(value, slot, attribute)
        case .toOne(let slot, let relationship): setTarget(object(from: value, relationship), slot)
        case .toMany(let index, let relationship): setMembers(objects(from: value, relationship), of: index)
        case .transient:
            // What awakeFromFetch puts there comes before.
            if state.contains(.fault) { fire() }
            noteChange()
            setTransient(value, key)
        case .fetched(let property): refuseValue(of: property)
        }
    }

    private func object(from value: Any?, _ relationship: NSRelationshipDescription) -> NSManagedObject? {
        guard let value, !(value is NSNull) else { return nil }
        guard let object = value as? NSManagedObject else {
            fatalError("Relationship \(scope.entity.name ?? "?").\(relationship.name) takes a managed object, not \(typeName(value)).")
        }
        return object
    }

    /// The set, where a value is one of Foundation's.
    // NB: on Linux a subclass of NSSet, as the live set of a relationship is, becomes an empty Set where it is cast to one.
    static func foundationSet(_ value: Any) -> NSSet? { type(of: value) is AnyClass ? value as? NSSet : nil }

    private func objects(from value: Any?, _ relationship: NSRelationshipDescription) -> [NSManagedObject] {
        if let set = value.flatMap(Self.foundationSet) { return set.allObjects.compactMap { object(from: $0, relationship) } }
        switch value {
        case nil, is NSNull: return []
        case let set as Set<NSManagedObject>: return Array(set)
        case let array as [NSManagedObject]: return array
        case let set as NSOrderedSet: return set.array.map { object(from: $0, relationship) }.compactMap { $0 }
        case let set as Set<AnyHashable>: return set.compactMap { object(from: $0.base, relationship) }
        default:
            fatalError(
                "Relationship \(scope.entity.name ?? "?").\(relationship.name) takes a set of managed objects, not \(typeName(value!))."
            )
        }
    }

    /// The value without access or change notification: nil on a fault, and for an attribute that is nil.
    ///
    /// A to-many relationship or fetched property that has not been read gives nil.
    public final func primitiveValue(forKey key: String) -> Any? {
        let property = property(named: key)
        return state.contains(.fault) && property.isStored && !holds(property) ? nil : knownValue(property, key)
    }

    /// The value without notification, of a fault too where a row is at hand.
    final func knownValue(_ property: EntityShape.Property, _ key: String) -> Any? {
        switch property {
        case .attribute(let slot, let attribute): isUnread(slot) ? nil : attributeValue(slot, attribute)
        case .toOne(let slot, _):
            isUnread(slot)
                ? nil : currentRow.reference(slot).flatMap(related) ?? uninsertedTarget(slot)
        case .toMany(let index, let relationship):
            existingContents(index)?.members.map { Self.collection($0.array, relationship) }
        case .transient(let property): transientValue(property)
        case .fetched: existingExtras?.fetched[key]
        }
    }

    /// Sets the value without notification: the object is not marked as changed and no inverse is updated.
    ///
    /// A new value is saved only when the object is saved for another reason, as in `awakeFromInsert()` and `willSave()`.
    public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
        checkQueue()
        if state.contains(.fault) { fire() }
        if case .transient = property(named: key) { return setTransient(value, key) }
        withoutNotice { setPrimitive(value, key) }
    }

    private func setPrimitive(_ value: Any?, _ key: String) {
        switch property(named: key) {
        case .attribute(let slot, let attribute): setAttribute(value, slot, attribute)
        case .toOne(let slot, let relationship): writeTarget(object(from: value, relationship), slot)
        case .toMany(let index, let relationship):
            let contents = realizedContents(index)
            let coming = MemberList(objects(from: value, relationship))
            contents.members?.array.filter { !coming.contains($0) }.forEach { contents.remove($0) }
            coming.forEach { contents.add($0) }
            if relationship.isOrdered, contents.members?.array.elementsEqual(coming.array, by: ===) == false {
                contents.reorder(coming.array)
            }
        case .transient: setTransient(value, key)
        case .fetched(let property): refuseValue(of: property)
        }
    }

    /// The value of a property by name, as `value(forKey:)`; set as `setValue(_:forKey:)`.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The values of several properties; nil ones as `NSNull`.
    public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    }

    /// Sets several properties; `NSNull` stands for nil.
    public final func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }
}
