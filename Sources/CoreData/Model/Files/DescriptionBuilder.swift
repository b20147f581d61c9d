import ModelFormat

/// Makes descriptions of what a model file says. The model must be free of problems.
struct DescriptionBuilder {
    private(set) var entities: [NSEntityDescription] = []
    private let byName: [String: NSEntityDescription]
    private let composites: [String: Model.Composite]

    init(_ model: Model) throws {
        composites = Dictionary(model.composites.map { ($0.name, $0) }) { first, _ in first }
        byName = Dictionary(model.entities.map { ($0.name, NSEntityDescription()) }) { first, _ in first }
        entities = model.entities.compactMap { byName[$0.name] }
        for (name, children) in Dictionary(grouping: model.entities.filter { $0.parent != nil }, by: { $0.parent ?? "" }) {
            byName[name]?.subentities = children.compactMap { byName[$0.name] }
        }
        for (description, entity) in zip(entities, model.entities) { try describe(entity, as: description) }
        let relationships = byName.mapValues(\.relationshipsByName)
        for (description, entity) in zip(entities, model.entities) {
            link(entity, relationships)
            description.indexes = try FetchIndexBuilder(entity, description).indexes()
        }
    }

    private func describe(_ entity: Model.Entity, as description: NSEntityDescription) throws {
        description.name = entity.name
        description.managedObjectClassName = entity.plainClassName
        description.isAbstract = entity.isAbstract
        description.versionHashModifier = entity.versionHashModifier
        description.renamingIdentifier = entity.renamingIdentifier
        description.userInfo = entity.userInfo.plain
        description.uniquenessConstraints = entity.uniquenessConstraints
        description.properties =
            try entity.attributes.map { try AttributeBuilder(composites).description(of: $0) }
            + entity.relationships.map(self.description) + entity.fetchedProperties.map(self.description)
    }

    private func description(of relationship: Model.Relationship) -> NSPropertyDescription {
        let description = NSRelationshipDescription()
        description.name = relationship.name
        description.isOptional = relationship.isOptional
        description.isTransient = relationship.isTransient
        description.isOrdered = relationship.isOrdered
        description.minCount = relationship.minCount
        description.maxCount = relationship.maxCount
        description.deleteRule = NSDeleteRule(rawValue: UInt(relationship.deleteRule.rawValue)) ?? .nullifyDeleteRule
        description.versionHashModifier = relationship.versionHashModifier
        description.renamingIdentifier = relationship.renamingIdentifier
        description.userInfo = relationship.userInfo.plain
        return description
    }

    private func description(of property: Model.FetchedProperty) -> NSPropertyDescription {
        let description = NSFetchedPropertyDescription()
        description.name = property.name
        description.isOptional = property.isOptional
        description.isTransient = true
        description.template = .described(property.request)
        description.versionHashModifier = property.versionHashModifier
        description.renamingIdentifier = property.renamingIdentifier
        description.userInfo = property.userInfo.plain
        return description
    }

    /// Gives relationships their destinations and inverses, which an entity may inherit.
    private func link(_ entity: Model.Entity, _ relationships: [String: [String: NSRelationshipDescription]]) {
        for relationship in entity.relationships {
            let description = relationships[entity.name]?[relationship.name]
            description?.destinationEntity = relationship.destination.flatMap { byName[$0] }
            description?.inverseRelationship = relationship.inverse.flatMap { relationships[relationship.destination ?? ""]?[$0] }
        }
    }
}

/// Makes descriptions of indexes, those of the old forms too: of an attribute that says it is indexed, and of several properties.
private struct FetchIndexBuilder {
    private let entity: Model.Entity
    private let properties: [String: NSPropertyDescription]

    init(_ entity: Model.Entity, _ description: NSEntityDescription) {
        self.entity = entity
        properties = description.propertiesByName
    }

    func indexes() throws -> [NSFetchIndexDescription] {
        let indexed = entity.attributes.filter(\.isIndexed).map { [$0.name] }
        // NB: compilers write the old form beside the new one.
        let known = Set(entity.indexes.map { $0.elements.map(\.property) })
        let old = (indexed + entity.compoundIndexes).filter { !known.contains($0) }
        // NB: real models list an index twice; a store has room for one of each name.
        var names: Set<String> = []
        return try (entity.indexes.map(index) + old.map(index)).filter { names.insert($0.name).inserted }
    }

    private func index(_ index: Model.FetchIndex) throws -> NSFetchIndexDescription {
        let description = NSFetchIndexDescription(name: index.name, elements: try index.elements.map(element))
        description.partialIndexPredicate = try index.partialPredicate.map(NSPredicate.make)
        return description
    }

    /// NB: an index of the old form has no name; the framework makes one of what it contains.
    private func index(_ names: [String]) throws -> NSFetchIndexDescription {
        let elements = try names.map { NSFetchIndexElementDescription(property: try property($0), collationType: .binary) }
        return NSFetchIndexDescription(name: names.joined(separator: "_"), elements: elements)
    }

    private func element(_ element: Model.FetchIndex.Element) throws -> NSFetchIndexElementDescription {
        let description = NSFetchIndexElementDescription(
            property: try element.expression.map { try expression($0, element) } ?? property(element.property ?? ""),
            collationType: element.collation == .rTree ? .rTree : .binary
        )
        description.isAscending = element.isAscending
        return description
    }

    private func expression(_ expression: Model.Expression, _ element: Model.FetchIndex.Element) throws -> NSPropertyDescription {
        let description = NSExpressionDescription()
        description.name = element.property ?? expression.format
        description.expression = try NSExpression.make(expression)
        description.expressionResultType = NSAttributeType(element.expressionType ?? .undefined)
        return description
    }

    /// A property, or what else an object can be sorted by: itself and its entity.
    private func property(_ name: String) throws -> NSPropertyDescription {
        if let property = properties[name] { return property }
        guard ["self", "objectID", "entity"].contains(name) else {
            throw ModelFormatError(nil, "an index of entity \(entity.name) names \(name), which is no property of it")
        }
        let description = NSExpressionDescription()
        description.name = name
        return description
    }
}
