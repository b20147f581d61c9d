import CoreData

/// All that a model says, a line for each thing, to be compared.
func lines(_ model: NSManagedObjectModel) -> [String] {
    model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap(lines)
        + model.configurations.map { name in
            "configuration \(name): \((model.entities(forConfigurationName: name) ?? []).compactMap(\.name).sorted())"
        }
        + model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }.map { name, request in
            "fetch \(name): \(request.entityName ?? "") \(request.predicate.map { "\($0)" } ?? "") \(request.fetchLimit)"
        }
        + ["identifiers \(model.versionIdentifiers.map { "\($0)" }.sorted())"]
}

private func lines(_ entity: NSEntityDescription) -> [String] {
    let name = entity.name ?? ""
    let heading = """
        \(name): \(entity.superentity?.name ?? "") class \(entity.managedObjectClassName ?? "") abstract \(entity.isAbstract) \
        \(entity.renamingIdentifier ?? "") \(entity.versionHashModifier ?? "") \(sorted(entity.userInfo))
        """
    let properties = entity.properties.sorted { $0.name < $1.name }.map { "\(name).\($0.name): \(line($0))" }
    let indexes = entity.indexes.sorted { $0.name < $1.name }.map { index in
        let elements = index.elements.map {
            "\($0.propertyName ?? "\(String(describing: $0.property))") \($0.isAscending) \($0.collationType)"
        }
        return "\(name) index \(index.name): \(elements) where \(index.partialIndexPredicate.map { "\($0)" } ?? "")"
    }
    return [heading] + properties + indexes + ["\(name) unique \(entity.uniquenessConstraints)"]
}

private func line(_ property: NSPropertyDescription) -> String {
    let common = """
        optional \(property.isOptional) transient \(property.isTransient) \(property.renamingIdentifier ?? "") \
        \(property.versionHashModifier ?? "") \(sorted(property.userInfo)) \(property.validationPredicates.map { "\($0)" })
        """
    return "\(common) \(particulars(property))"
}

private func particulars(_ property: NSPropertyDescription) -> String {
    switch property {
    case let attribute as NSAttributeDescription:
        let elements = (attribute as? NSCompositeAttributeDescription)?.elements.map { "\($0.name) \(line($0))" } ?? []
        let derivation = (attribute as? NSDerivedAttributeDescription)?.derivationExpression.map { "\($0)" } ?? ""
        return """
            attribute \(attribute.attributeType) = \(attribute.defaultValue.map { "\($0)" } ?? "nil") \(attribute.attributeValueClassName ?? "") \
            \(attribute.valueTransformerName ?? "") external \(attribute.allowsExternalBinaryDataStorage) \
            history \(attribute.preservesValueInHistoryOnDeletion) encrypted \(attribute.allowsCloudEncryption) \(derivation) \(elements)
            """
    case let relationship as NSRelationshipDescription:
        return """
            relationship to \(relationship.destinationEntity?.name ?? "") inverse \(relationship.inverseRelationship?.name ?? "") \
            \(relationship.minCount)...\(relationship.maxCount) rule \(relationship.deleteRule) ordered \(relationship.isOrdered)
            """
    default: return "\(type(of: property))"
    }
}

private func sorted(_ info: [AnyHashable: Any]?) -> [String] { (info ?? [:]).map { "\($0.key)=\($0.value)" }.sorted() }
