import Foundation
import ModelFormat
import Predicates
import class Predicates.NSExpression

/// Descriptions as the plain values that model files are written of.
extension Model {
    /// Each entity with what it declares itself.
    ///
    /// Left out: fetch requests and fetched properties, validations, the elements of composites, and what has no form in a file, such as a
    /// predicate made of code or a default value of the program's own class.
    package init(_ model: NSManagedObjectModel) { self.init(model) { $0.declaredProperties } }

    /// As the store's copy has it: each entity with what it inherits, too. The model must be frozen.
    init(cached model: NSManagedObjectModel) { self.init(model, \.propertiesInNameOrder) }

    private init(_ model: NSManagedObjectModel, _ properties: (NSEntityDescription) -> [NSPropertyDescription]) {
        self.init()
        entities = model.entities.map { Entity($0, properties($0)) }
        configurations = model.configurations.map { name in
            var configuration = Configuration()
            configuration.name = name
            configuration.members = (model.entities(forConfigurationName: name) ?? []).compactMap(\.name)
            return configuration
        }
        versionIdentifiers = model.versionIdentifiers.compactMap { $0.base as? String }.sorted(by: binaryOrder)
    }
}

extension Model.Entity {
    fileprivate init(_ entity: NSEntityDescription, _ properties: [NSPropertyDescription]) {
        self.init()
        name = entity.name ?? ""
        className = entity.managedObjectClassName == "NSManagedObject" ? nil : entity.managedObjectClassName
        parent = entity.superentity?.name
        isAbstract = entity.isAbstract
        renamingIdentifier = entity.renamingIdentifier
        versionHashModifier = entity.versionHashModifier
        attributes = properties.compactMap { $0 as? NSAttributeDescription }.map(Model.Attribute.init)
        relationships = properties.compactMap { $0 as? NSRelationshipDescription }.map(Model.Relationship.init)
        indexes = entity.indexes.map(Model.FetchIndex.init)
        uniquenessConstraints = entity.constraintNames
        userInfo = .init(entity.userInfo)
    }
}

extension Model.Attribute {
    fileprivate init(_ attribute: NSAttributeDescription) {
        self.init()
        name = attribute.name
        type = Model.ValueType(attribute.attributeType)
        (isOptional, isTransient) = (attribute.isOptional, attribute.isTransient)
        defaultValue = attribute.defaultValue.flatMap(Model.Value.init(of:))
        (valueTransformerName, valueClassName) = (attribute.valueTransformerName, attribute.attributeValueClassName)
        allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
        preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
        allowsCloudEncryption = attribute.allowsCloudEncryption
        derivation = (attribute as? NSDerivedAttributeDescription)?.derivationExpression.flatMap { try? Model.Expression($0) }
        (renamingIdentifier, versionHashModifier) = (attribute.renamingIdentifier, attribute.versionHashModifier)
        userInfo = .init(attribute.userInfo)
    }
}

extension Model.Relationship {
    fileprivate init(_ relationship: NSRelationshipDescription) {
        self.init()
        name = relationship.name
        (isOptional, isTransient, isOrdered) = (relationship.isOptional, relationship.isTransient, relationship.isOrdered)
        (minCount, maxCount) = (relationship.minCount, relationship.maxCount)
        deleteRule = DeleteRule(rawValue: Int(relationship.deleteRule.rawValue)) ?? .nullify
        destination = relationship.destinationEntity?.name
        inverse = relationship.inverseRelationship?.name
        inverseEntity = relationship.inverseRelationship?.owner?.name
        (renamingIdentifier, versionHashModifier) = (relationship.renamingIdentifier, relationship.versionHashModifier)
        userInfo = .init(relationship.userInfo)
    }
}

extension Model.FetchIndex {
    fileprivate init(_ index: NSFetchIndexDescription) {
        self.init()
        name = index.name
        elements = index.elements.map(Element.init)
        partialPredicate = index.partialIndexPredicate.flatMap { try? Model.Predicate($0.tree) }
    }
}

extension Model.FetchIndex.Element {
    fileprivate init(_ element: NSFetchIndexElementDescription) {
        self.init()
        property = element.propertyName
        collation = element.collationType == .rTree ? .rTree : .binary
        isAscending = element.isAscending
        guard let computed = element.property as? NSExpressionDescription else { return }
        expression = computed.expression.flatMap { try? Model.Expression($0) }
        expressionType = Model.ValueType(computed.expressionResultType)
    }
}

extension Model.ValueType {
    fileprivate init(_ type: NSAttributeType) { self = Self(rawValue: Int(type.rawValue)) ?? .undefined }
}

extension [String: Model.Value] {
    fileprivate init(_ userInfo: [AnyHashable: Any]?) {
        self = (userInfo ?? [:]).reduce(into: [:]) { entries, entry in
            if let key = entry.key.base as? String { entries[key] = Model.Value(of: entry.value) }
        }
    }
}
