import ModelCompiler

typealias VersionHash = ModelCompiler.VersionHash

/// Version hashes of descriptions.
extension VersionHash {
    static func base(of property: NSPropertyDescription) -> [UInt8] {
        base(
            name: property.name,
            isOptional: property.isOptional,
            isTransient: property.isTransient,
            modifier: property.versionHashModifier
        )
    }

    static func attribute(_ attribute: NSAttributeDescription) -> [UInt8] {
        self.attribute(
            base(of: attribute),
            type: Int(attribute.attributeType.rawValue),
            isExternal: attribute.allowsExternalBinaryDataStorage,
            isPreserved: attribute.preservesValueInHistoryOnDeletion
        )
    }

    static func relationship(_ relationship: NSRelationshipDescription) -> [UInt8] {
        let inverse = relationship.inverseRelationship
        return self.relationship(
            base(of: relationship),
            destination: relationship.destinationEntity?.name ?? "",
            inverse: inverse === relationship ? "" : inverse?.name ?? "",
            counts: (relationship.minCount, relationship.maxCount),
            isOrdered: relationship.isOrdered
        )
    }

    static func entity(_ entity: NSEntityDescription, superentityHash: [UInt8]?) -> [UInt8] {
        self.entity(
            entity.name ?? "",
            isAbstract: entity.isAbstract,
            parent: superentityHash,
            properties: entity.properties.filter(isCovered).sorted(by: binaryNameOrder).map(\.hashBytes),
            modifier: entity.versionHashModifier,
            constraints: entity.constraintNames
        )
    }

    private static func isCovered(_ property: NSPropertyDescription) -> Bool {
        !property.isTransient && !(property is NSFetchedPropertyDescription)
    }
}

/// By the bytes of the UTF-8 form: the order of hashes, columns and history bits.
func binaryOrder(_ left: String, _ right: String) -> Bool { VersionHash.precedes(left, right) }

func binaryNameOrder(_ left: NSPropertyDescription, _ right: NSPropertyDescription) -> Bool { binaryOrder(left.name, right.name) }
