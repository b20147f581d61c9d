import Foundation

extension NSManagedObject {
    /// Whether a policy has deleted it, or let go of it.
    final var isGone: Bool { state.contains(.deleted) || registeredContext == nil }

    /// Gives a property the value that it had in the source where the two are of one kind, or the key of what a to-one relationship leads to; false
    /// where it takes the value itself.
    final func copy(_ assignment: PropertyAssignment, from source: NSManagedObject) -> Bool {
        guard let before = assignment.copied as? NSAttributeDescription, let attribute = assignment.property as? NSAttributeDescription,
            attribute.hasValues(of: before),
            case .attribute(let slot, _)? = scope.shape.properties[attribute.name],
            case .attribute(let from, _)? = source.scope.shape.properties[before.name]
        else { return false }
        if source.isFault { source.fire() }
        guard !source.state.contains(.rowless) else { return false }
        write(source.currentRow.value(from), slot)
        return true
    }

    /// Sets the value of an expression.
    ///
    /// - Parameter leavesOut: whether objects to which the relationship cannot lead any more are left out, as in a migration without objects.
    /// - Throws: `CocoaError` 134170 for one that the property cannot have.
    final func setMigrated(_ value: Any?, _ property: NSPropertyDescription, leavesOut: Bool) throws {
        let value = value is NSNull ? nil : value
        switch property {
        case let attribute as NSAttributeDescription:
            try requireFitting(value, attribute)
            setValue(value, forKey: property.name)
        case let relationship as NSRelationshipDescription:
            let objects = try managedObjects(value)
            try setMigrated(leavesOut ? objects.filter { relationship.canLead(to: $0) } : objects, relationship)
        default: throw Self.misfit("\(property.name) is neither an attribute nor a relationship")
        }
    }

    private func requireFitting(_ value: Any?, _ attribute: NSAttributeDescription) throws {
        guard let value, !attribute.isTransient else { return }
        guard attribute.attributeType != .transformableAttributeType else {
            _ = try attribute.data(for: value)
            return
        }
        let stored = SlotValue(value, for: attribute)
        if case .integer = stored, !Self.isInteger(value) { throw Self.misfit("the value \(value) is too large for the attribute") }
        guard stored == .null else { return }
        throw Self.misfit(
            "the value is \(typeName(value)), and the attribute takes \((attribute.attributeValueClassName ?? "value of another type").withArticle)"
        )
    }

    /// Whether 64 bits hold a number, but for a fraction.
    private static func isInteger(_ value: Any) -> Bool {
        if case .number? = ReferenceObject(value) { return true }
        let double = (value as? NSNumber)?.doubleValue ?? (value as? Decimal).flatMap { Double($0.description) } ?? 0
        return abs(double) < 0x1p63
    }

    private func setMigrated(_ objects: [NSManagedObject], _ relationship: NSRelationshipDescription) throws {
        for object in objects {
            guard object.registeredContext === registeredContext else {
                throw Self.misfit("an object of the value is not of the destination")
            }
            guard relationship.canLead(to: object) else {
                let wanted = relationship.destinationEntity?.name ?? "?"
                throw Self.misfit("an object of the value is a \(object.entity.name ?? "?"), and the relationship leads to \(wanted)")
            }
        }
        guard relationship.isToMany else {
            if value(forKey: relationship.name) as? NSManagedObject !== objects.first { setValue(objects.first, forKey: relationship.name) }
            return
        }
        setValue(relationship.isOrdered ? NSOrderedSet(array: objects) : Set(objects), forKey: relationship.name)
    }

    private static func misfit(_ reason: String) -> CocoaError { .coreData(.entityMigrationPolicy, reason + ".") }
}

extension NSAttributeDescription {
    /// Whether a value of another attribute is one of this as it is.
    final func hasValues(of other: NSAttributeDescription) -> Bool {
        attributeType == other.attributeType && valueTransformerName == other.valueTransformerName
    }
}

extension NSRelationshipDescription {
    fileprivate func canLead(to object: NSManagedObject) -> Bool { destinationEntity.map { object.entity.isKindOf(entity: $0) } ?? false }
}

extension NSManagedObjectContext {
    /// Where the objects of one entity are, in the order of their keys.
    func references(of entity: NSEntityDescription) throws -> [RowReference] {
        let query = FetchQuery(entity: entity, includesSubentities: false)
        if let found = try parentSource.references(query) { return found.sorted { $0.key < $1.key } }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.includesSubentities = false
        return try fetch(request).map(\.rowReference).sorted { $0.key < $1.key }
    }

    /// The objects at these places that are there, with their rows: one statement for all that are not at hand, and one for each relationship that is
    /// to be read along.
    func objects(at references: ArraySlice<RowReference>, reading paths: [String] = []) throws -> [NSManagedObject] {
        let objects = references.map(object)
        try readRows(of: objects)
        // Others have related them, and nobody has read them yet.
        for object in objects where object.state.contains(.rowless) && object.state.contains(.updated) { try object.fireThrowing() }
        let found = objects.filter { !$0.state.contains(.rowless) && !$0.state.contains(.deleted) }
        if let entity = found.first?.entity { try prefetch(PrefetchPaths(paths, entity), of: found) }
        return found
    }
}
