import ModelFormat

extension NSManagedObjectModel {
    /// The model as the contents of a `.mom`, without what `ModelCache` leaves out. Afterwards the model cannot be changed.
    package var archive: [UInt8] {
        freeze()
        return ModelArchive.bytes(of: self)
    }
}

/// Archives a model as Apple's Core Data does, with the same classes and keys.
struct ModelArchive {
    static func bytes(of model: NSManagedObjectModel) -> [UInt8] {
        var archive = ModelArchive(model)
        return archive.bytes()
    }

    private let model: NSManagedObjectModel
    private var archive = KeyedArchive()
    private let root: PropertyListNode
    private var entities: [ObjectIdentifier: PropertyListNode] = [:]
    /// NB: each entity has archived properties of its own, also for what it inherits.
    private var properties: [ObjectIdentifier: [String: PropertyListNode]] = [:]

    private init(_ model: NSManagedObjectModel) {
        self.model = model
        root = archive.reserve()
        for entity in model.entitiesInIndexOrder {
            entities[ObjectIdentifier(entity)] = archive.reserve()
            var references: [String: PropertyListNode] = [:]
            for property in entity.propertiesInNameOrder where Self.isArchived(property) { references[property.name] = archive.reserve() }
            properties[ObjectIdentifier(entity)] = references
        }
    }

    private static func isArchived(_ property: NSPropertyDescription) -> Bool { !(property is NSFetchedPropertyDescription) }

    private mutating func bytes() -> [UInt8] {
        for entity in model.entitiesInIndexOrder { fill(entity) }
        var keys = [
            "NSEntities": entitiesByName(), "NSFetchRequestTemplates": KeyedArchive.null,
            "NSVersionIdentifiers": archive.set(versionIdentifiers.map { archive.string($0) }),
        ]
        if !model.configurations.isEmpty { keys["NSConfigurations"] = configurations() }
        archive.fill(root, ["NSManagedObjectModel", "NSObject"], keys)
        return archive.bytes(root: root)
    }

    private var versionIdentifiers: [String] { model.versionIdentifiers.compactMap { $0.base as? String }.sorted(by: binaryOrder) }

    private mutating func configurations() -> PropertyListNode {
        let entries = model.configurations.map { name in
            (key: archive.string(name), value: archive.set((model.entities(forConfigurationName: name) ?? []).map(reference)))
        }
        return archive.dictionary(entries, mutable: true)
    }

    private func reference(_ entity: NSEntityDescription?) -> PropertyListNode {
        entity.flatMap { entities[ObjectIdentifier($0)] } ?? KeyedArchive.null
    }

    private func reference(_ property: NSPropertyDescription?) -> PropertyListNode {
        property.flatMap { properties[ObjectIdentifier($0.entity)]?[$0.name] } ?? KeyedArchive.null
    }

    /// A dictionary whose keys are in a table of their own.
    private mutating func entitiesByName() -> PropertyListNode {
        let sorted = model.entities.sorted { binaryOrder($0.name ?? "", $1.name ?? "") }
        let mapping = archive.object(
            ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
            [
                "keys": archive.array(sorted.map { archive.string($0.name) }), "length": .integer(Int64(sorted.count)),
                "version": .integer(1),
            ]
        )
        return archive.object(
            ["NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject"],
            [
                "searchMapping": mapping, "values": archive.array(sorted.map(reference)),
                "emptyToken": archive.string("__empty_slot_token_4c24_98dc_ac1e_b773__"), "version": .integer(1),
            ]
        )
    }
}

extension ModelArchive {
    private mutating func fill(_ entity: NSEntityDescription) {
        let className = entity.managedObjectClassName == "NSManagedObject" ? nil : entity.managedObjectClassName
        let archived = entity.propertiesInNameOrder.filter(Self.isArchived)
        let references = properties[ObjectIdentifier(entity)] ?? [:]
        var keys = [
            "NSEntityName": archive.string(entity.name), "NSClassNameForEntity": archive.string(className),
            "NSSuperentity": reference(entity.superentity), "NSManagedObjectModel": root,
            "NSRenamingIdentifier": archive.string(entity.renamingIdentifier),
            "NSVersionHashModifier": archive.string(entity.versionHashModifier), "NSUserInfo": userInfo(entity.userInfo),
            "NSSubentities": archive.dictionary(
                entity.subentities.map { (archive.string($0.name), reference($0)) },
                mutable: true
            ),
            "NSProperties": archive.dictionary(
                archived.map { (archive.string($0.name), references[$0.name] ?? KeyedArchive.null) },
                mutable: true
            ),
        ]
        if entity.isAbstract { keys["NSIsAbstract"] = .bool(true) }
        if !entity.constraintNames.isEmpty {
            let tuples = entity.constraintNames.map { names in archive.array(names.map { archive.string($0) }, mutable: true) }
            keys["NSUniqueTuples"] = archive.array(tuples, mutable: true)
        }
        if !entity.indexes.isEmpty { keys["NSFetchIndexDescriptions"] = indexes(of: entity) }
        archive.fill(reference(entity), ["NSEntityDescription", "NSObject"], keys)
        for property in archived { fill(references[property.name] ?? KeyedArchive.null, property, of: entity) }
    }

    private mutating func indexes(of entity: NSEntityDescription) -> PropertyListNode {
        let indexes = entity.indexes.map { index in
            let reserved = archive.reserve()
            let elements = index.elements.map { element in
                archive.object(
                    ["NSFetchIndexElementDescription", "NSObject"],
                    [
                        "NSPropertyName": archive.string(element.propertyName), "NSAscending": .bool(element.isAscending),
                        "NSFetchIndexElementType": .integer(Int64(element.collationType.rawValue)), "NSFetchIndexDescription": reserved,
                    ]
                )
            }
            archive.fill(
                reserved,
                ["NSFetchIndexDescription", "NSObject"],
                [
                    "NSIndexName": archive.string(index.name), "NSIndexElements": archive.array(elements, mutable: true),
                    "NSPartialIndexPredicate": KeyedArchive.null, "NSEntity": reference(entity),
                ]
            )
            return reserved
        }
        return archive.array(indexes, mutable: true)
    }

    private mutating func fill(_ reserved: PropertyListNode, _ property: NSPropertyDescription, of entity: NSEntityDescription) {
        var keys = [
            "NSPropertyName": archive.string(property.name), "NSEntity": reference(entity),
            "NSRenamingIdentifier": archive.string(property.renamingIdentifier), "_P": .integer(flags(of: property)),
        ]
        if property.isOptional { keys["NSIsOptional"] = .bool(true) }
        if property.isTransient { keys["NSIsTransient"] = .bool(true) }
        if property is NSDerivedAttributeDescription { keys["NSIsReadOnly"] = .bool(true) }
        if let userInfo = property.userInfo, !userInfo.isEmpty { keys["NSUserInfo"] = self.userInfo(userInfo) }
        if let modifier = property.versionHashModifier { keys["NSVersionHashModifier"] = archive.string(modifier) }
        switch property {
        case let attribute as NSAttributeDescription:
            archive.fill(reserved, Self.lineage(of: attribute), keys.merging(self.keys(of: attribute)) { $1 })
        case let relationship as NSRelationshipDescription:
            archive.fill(
                reserved,
                ["NSRelationshipDescription", "NSPropertyDescription", "NSObject"],
                keys.merging(self.keys(of: relationship)) { $1 }
            )
        default: archive.fill(reserved, ["NSPropertyDescription", "NSObject"], keys)
        }
    }

    private static func lineage(of attribute: NSAttributeDescription) -> [String] {
        let isDerived = attribute is NSDerivedAttributeDescription
        return (isDerived ? ["NSDerivedAttributeDescription"] : []) + ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
    }

    /// The bit field `_P`: what is set, and what is absent.
    private func flags(of property: NSPropertyDescription) -> Int64 {
        let noPredicates: Int64 = 0x10
        let noWarnings: Int64 = 0x20
        var flags = 0x1 | noPredicates | noWarnings
        if property.isOptional { flags |= 0x2 }
        if property is NSDerivedAttributeDescription { flags |= 0x4 }
        if property.isTransient { flags |= 0x8 }
        if property.userInfo?.isEmpty ?? true { flags |= 0x40 }
        if property.versionHashModifier == nil { flags |= 0x80 }
        if (property as? NSRelationshipDescription)?.isOrdered == true { flags |= 0x400 }
        return flags
    }

    private mutating func keys(of attribute: NSAttributeDescription) -> [String: PropertyListNode] {
        let external: Int64 = attribute.allowsExternalBinaryDataStorage ? 4 : 0
        let preserved: Int64 = attribute.preservesValueInHistoryOnDeletion ? 16 : 0
        var keys = [
            "NSAttributeType": .integer(Int64(attribute.attributeType.rawValue)),
            "NSAttributeValueClassName": archive.string(attribute.attributeValueClassName),
            "NSDefaultValue": value(attribute.defaultValue), "NSValueTransformerName": archive.string(attribute.valueTransformerName),
            "NSFlagsKey": .integer(external | preserved),
        ]
        if attribute.allowsCloudEncryption { keys["NSAllowsCloudEncryption"] = .bool(true) }
        return keys
    }

    private mutating func keys(of relationship: NSRelationshipDescription) -> [String: PropertyListNode] {
        var keys: [String: PropertyListNode] = [
            "NSDestinationEntity": reference(relationship.destination),
            "_NSDestinationEntityName": archive.string(relationship.destination.name),
            "NSInverseRelationship": reference(relationship.inverse),
            "_NSInverseRelationshipName": archive.string(relationship.inverse?.name),
            "NSDeleteRule": .integer(Int64(relationship.deleteRule.rawValue)), "NSMinCount": .integer(Self.count(relationship.minCount)),
            "NSMaxCount": .integer(Self.count(relationship.maxCount)),
        ]
        if relationship.isOrdered { keys["NSIsOrdered"] = .bool(true) }
        return keys
    }

    /// Counts have 32 bits in the archive: `Int.max` is −1.
    private static func count(_ count: Int) -> Int64 { Int64(Int32(truncatingIfNeeded: count)) }

    private mutating func userInfo(_ userInfo: [AnyHashable: Any]?) -> PropertyListNode {
        let texts = (userInfo ?? [:]).compactMap { key, value in
            (key.base as? String).flatMap { key in (value as? String).map { (key: key, value: $0) } }
        }
        return archive.dictionary(
            texts.sorted { binaryOrder($0.key, $1.key) }.map { (archive.string($0.key), archive.string($0.value)) }
        )
    }

    /// Nil for a value of another kind.
    private mutating func value(_ value: Any?) -> PropertyListNode {
        // NB: a cast turns the number 1 into a Bool, so numbers that are objects go by what they were made from.
        if let value, type(of: value) is NSNumber.Type, let number = value as? NSNumber { return archive.plain(Self.node(number)) }
        switch value {
        case let text as String: return archive.string(text)
        case let truth as Bool: return archive.plain(.bool(truth))
        case let number as any BinaryInteger: return archive.plain(.integer(Int64(truncatingIfNeeded: number)))
        case let number as Double: return archive.plain(.real(number))
        case let number as Float: return archive.plain(.real(Double(number)))
        case let date as Date: return archive.object(["NSDate", "NSObject"], ["NS.time": .real(date.timeIntervalSinceReferenceDate)])
        case let data as Data: return archive.plain(.data(Array(data)))
        case let uuid as UUID:
            return archive.object(["NSUUID", "NSObject"], ["NS.uuidbytes": .data(withUnsafeBytes(of: uuid.uuid, Array.init))])
        default: return KeyedArchive.null
        }
    }

    private static func node(_ number: NSNumber) -> PropertyListNode {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "c"), UInt8(ascii: "B"): .bool(number.boolValue)
        case UInt8(ascii: "f"), UInt8(ascii: "d"): .real(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }
}
