/// What `_P` says of a property: its flags, and what it has not.
struct PropertyFlags {
    var isOptional = false
    var isReadOnly = false
    var isTransient = false
    var isOrdered = false
    var isEncrypted = false
    var hasValidations = false
    var hasUserInfo = false
    var hasVersionHashModifier = false

    var bits: Int64 {
        let flags: [(Bool, Int64)] = [
            (true, 0x1), (isOptional, 0x2), (isReadOnly, 0x4), (isTransient, 0x8), (!hasValidations, 0x30), (!hasUserInfo, 0x40),
            (!hasVersionHashModifier, 0x80), (isOrdered, 0x400), (isEncrypted, 0x800),
        ]
        return flags.reduce(0) { $1.0 ? $0 | $1.1 : $0 }
    }
}

extension ModelWriter {
    /// The keys that all kinds of property have; truth values are there only when they are true.
    private mutating func common(
        _ name: String,
        _ entity: PropertyListNode,
        _ flags: PropertyFlags,
        renamingIdentifier: String?,
        modifier: String?,
        userInfo: [String: Model.Value]
    ) throws -> [String: PropertyListNode] {
        var flags = flags
        (flags.hasUserInfo, flags.hasVersionHashModifier) = (!userInfo.isEmpty, modifier != nil)
        var keys = [
            "NSPropertyName": archive.string(name), "NSEntity": entity,
            "NSRenamingIdentifier": archive.string(renamingIdentifier ?? name), "_P": PropertyListNode.integer(flags.bits),
        ]
        let truths = [("NSIsOptional", flags.isOptional), ("NSIsTransient", flags.isTransient), ("NSIsReadOnly", flags.isReadOnly)]
        for (key, _) in truths.filter(\.1) { keys[key] = .bool(true) }
        if flags.hasUserInfo { keys["NSUserInfo"] = try self.userInfo(userInfo) }
        if modifier != nil { keys["NSVersionHashModifier"] = archive.string(modifier) }
        return keys
    }
}

/// Attributes.
extension ModelWriter {
    /// NB: a key of our own. Apple's compiler leaves the name out, and its reader passes over keys that it does not know.
    static let customClassKey = "CDCustomClassName"

    mutating func attribute(_ attribute: Model.Attribute, of entity: PropertyListNode) throws -> PropertyListNode {
        let validations = attribute.allValidations
        let flags = PropertyFlags(
            isOptional: attribute.isOptional,
            isReadOnly: attribute.derivation != nil,
            isTransient: attribute.isTransient,
            isEncrypted: attribute.allowsCloudEncryption,
            hasValidations: !validations.isEmpty
        )
        var keys = try common(
            attribute.name,
            entity,
            flags,
            renamingIdentifier: attribute.renamingIdentifier,
            modifier: attribute.versionHashModifier,
            userInfo: attribute.userInfo
        )
        keys.merge(try self.keys(of: attribute)) { $1 }
        if !validations.isEmpty { keys.merge(try self.keys(of: validations)) { $1 } }
        let lineage = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
        if attribute.derivation != nil { return archive.object(["NSDerivedAttributeDescription"] + lineage, keys) }
        if attribute.type == .composite { return archive.object(["NSCompositeAttributeDescription"] + lineage, keys) }
        return archive.object(lineage, keys)
    }

    private mutating func keys(of attribute: Model.Attribute) throws -> [String: PropertyListNode] {
        let external: Int64 = attribute.allowsExternalBinaryDataStorage ? 4 : 0
        let preserved: Int64 = attribute.preservesValueInHistoryOnDeletion ? 16 : 0
        var keys = [
            "NSAttributeType": .integer(Int64(attribute.type.rawValue)), "NSFlagsKey": .integer(external | preserved),
            "NSAttributeValueClassName": archive.string(attribute.valueClassName ?? attribute.type.valueClassName),
            "NSDefaultValue": try archive.value(attribute.defaultValue.flatMap { $0.suited(to: attribute.type) }),
            "NSValueTransformerName": archive.string(attribute.valueTransformerName),
        ]
        if attribute.isIndexed { keys["NSIsIndexed"] = .bool(true) }
        if let name = attribute.customClassName, !name.isEmpty { keys[ModelWriter.customClassKey] = archive.string(name) }
        if attribute.allowsCloudEncryption { keys["NSAllowsCloudEncryption"] = .bool(true) }
        if let derivation = attribute.derivation {
            keys["NSDerivationExpression"] = try predicates.expression(derivation, &archive)
            keys["NSFilteringPredicate"] = try predicates.predicate(attribute.derivationFilter, &archive)
        }
        if let composite = attribute.composite.flatMap({ composites[$0] }) {
            keys["NSCompositeName"] = archive.string(composite.name)
            keys["NSElements"] = archive.array(try composite.attributes.map { try self.attribute($0, of: KeyedArchive.null) })
        }
        return keys
    }

    private mutating func keys(of validations: [Model.Attribute.Validation]) throws -> [String: PropertyListNode] {
        [
            "NSValidationPredicates": archive.array(try validations.map { try predicates.predicate($0.predicate, &archive) }),
            "NSValidationWarnings": archive.array(validations.map { archive.string($0.warning) }),
        ]
    }
}

/// Relationships and fetched properties.
extension ModelWriter {
    mutating func relationship(_ relationship: Model.Relationship, of entity: String) throws -> PropertyListNode {
        var keys = try common(
            relationship.name,
            reference(entity),
            PropertyFlags(isOptional: relationship.isOptional, isTransient: relationship.isTransient, isOrdered: relationship.isOrdered),
            renamingIdentifier: relationship.renamingIdentifier,
            modifier: relationship.versionHashModifier,
            userInfo: relationship.userInfo
        )
        let more: [String: PropertyListNode] = [
            "NSDestinationEntity": reference(relationship.destination),
            "_NSDestinationEntityName": archive.string(relationship.destination), "NSInverseRelationship": inverse(of: relationship),
            "_NSInverseRelationshipName": archive.string(relationship.inverse),
            "NSDeleteRule": .integer(Int64(relationship.deleteRule.rawValue)), "NSMinCount": Self.count(relationship.minCount),
            "NSMaxCount": Self.count(relationship.maxCount),
        ]
        keys.merge(more) { $1 }
        if relationship.isOrdered { keys["NSIsOrdered"] = .bool(true) }
        if relationship.isIndexed { keys["NSIsIndexed"] = .bool(true) }
        let reserved = relationships[entity]?[relationship.name] ?? KeyedArchive.null
        archive.fill(reserved, ["NSRelationshipDescription", "NSPropertyDescription", "NSObject"], keys)
        return reserved
    }

    /// Counts have 32 bits: `Int.max` is −1.
    private static func count(_ count: Int) -> PropertyListNode { .integer(count > Int(Int32.max) ? -1 : Int64(max(count, -1))) }

    /// NB: the destination may inherit the inverse.
    private func inverse(of relationship: Model.Relationship) -> PropertyListNode {
        guard let name = relationship.inverse else { return KeyedArchive.null }
        var entity = relationship.destination
        while let current = entity {
            if let found = relationships[current]?[name] { return found }
            entity = parents[current]
        }
        return KeyedArchive.null
    }

    mutating func fetchedProperty(_ property: Model.FetchedProperty, of entity: String) throws -> PropertyListNode {
        var keys = try common(
            property.name,
            reference(entity),
            PropertyFlags(isOptional: property.isOptional, isReadOnly: true, isTransient: true),
            renamingIdentifier: property.renamingIdentifier,
            modifier: property.versionHashModifier,
            userInfo: property.userInfo
        )
        keys["NSFetchRequest"] = try fetchRequest(property.request)
        keys["_NSFetchRequestEntityName"] = archive.string(property.request.entity)
        return archive.object(["NSFetchedPropertyDescription", "NSPropertyDescription", "NSObject"], keys)
    }

    mutating func fetchRequest(_ request: Model.FetchRequest) throws -> PropertyListNode {
        let sorting = try request.sortDescriptors.map { try sortDescriptor($0) }
        let paths = request.prefetchedKeyPaths.map { archive.string($0) }
        let keys: [String: PropertyListNode] = [
            "NSEntity": reference(request.entity), "NSPredicate": try predicates.predicate(request.predicate, &archive),
            "NSSortDescriptors": sorting.isEmpty ? KeyedArchive.null : archive.array(sorting),
            "NSFetchLimit": .integer(Int64(request.fetchLimit)), "NSFetchOffset": .integer(Int64(request.fetchOffset)),
            "NSBatchSize": .integer(Int64(request.fetchBatchSize)), "NSResultType": .integer(Int64(request.resultType)),
            "NSFetchRequestFlags": .integer(Int64(request.options.rawValue)), "NSHasFetchRequestFlags": .bool(true),
            "NSValuesToFetch": KeyedArchive.null, "NSValuesToGroupBy": KeyedArchive.null, "NSHavingPredicate": KeyedArchive.null,
            "NSRelationshipKeyPathsForPrefetching": paths.isEmpty ? KeyedArchive.null : archive.array(paths),
        ]
        return archive.object(["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"], keys)
    }

    private mutating func sortDescriptor(_ descriptor: Model.SortDescriptor) throws -> PropertyListNode {
        archive.object(
            ["NSSortDescriptor", "NSObject"],
            [
                "NSKey": archive.string(descriptor.key), "NSAscending": .bool(descriptor.isAscending),
                "NSSelector": archive.string(descriptor.selector ?? "compare:"), "NSReverseNullOrder": .bool(false),
            ]
        )
    }
}
