import Foundation
import ModelFormat

extension Model {
    /// The model as it comes back from a compiled file: in the order of names, and without what only the source says.
    ///
    /// Texts stay texts; `parsed` is what they become.
    func compiledForm(_ parsed: (Predicate) -> Predicate = { $0 }) -> Model {
        var model = Model()
        model.entities = entities.map { $0.compiledForm(parsed) }.sorted { $0.name < $1.name }
        model.composites = composites.map { composite in
            var composite = composite
            composite.attributes = composite.attributes.map { $0.compiledForm }
            composite.extras = Extras()
            return composite
        }
        model.configurations = configurations.map { configuration in
            var configuration = configuration
            (configuration.isUsedWithCloudKit, configuration.extras) = (nil, Extras())
            return configuration
        }
        model.fetchRequests = fetchRequests.map { $0.compiledForm(parsed) }
        model.versionIdentifiers = versionIdentifiers
        return model
    }
}

extension Model.Entity {
    fileprivate func compiledForm(_ parsed: (Model.Predicate) -> Model.Predicate) -> Model.Entity {
        var entity = self
        entity.className = plainClassName
        (entity.codeGeneration, entity.isSyncable, entity.isSpotlightIndexed, entity.spotlightDisplayName) = (.manual, nil, nil, nil)
        entity.attributes = attributes.map(\.compiledForm).sorted { $0.name < $1.name }
        entity.relationships = relationships.map(\.compiledForm).sorted { $0.name < $1.name }
        entity.fetchedProperties = fetchedProperties.map { property in
            var property = property
            (property.isSyncable, property.request) = (nil, property.request.compiledForm(parsed))
            return property
        }
        for place in indexes.indices {
            entity.indexes[place].partialPredicate = indexes[place].partialPredicate.map(parsed)
            for (number, element) in indexes[place].elements.enumerated() where element.property == nil {
                entity.indexes[place].elements[number].property = "expression\(number + 1)"
            }
        }
        entity.extras = Model.Extras()
        return entity
    }
}

extension Model.Attribute {
    fileprivate var compiledForm: Model.Attribute {
        var attribute = self
        (attribute.usesScalarValueType, attribute.isSyncable) = (nil, nil)
        (attribute.isSpotlightIndexed, attribute.isStoredInTruthFile, attribute.dateTexts) = (nil, nil, [:])
        attribute.defaultValue = defaultValue.flatMap { $0.suited(to: type) }
        attribute.renamingIdentifier = renamingIdentifier == name ? nil : renamingIdentifier
        if case .text("parts.@count")? = derivation { attribute.derivation = .function("count:", [.keyPath(nil, "parts")]) }
        attribute.extras = Model.Extras()
        return attribute
    }
}

extension Model.Relationship {
    fileprivate var compiledForm: Model.Relationship {
        var relationship = self
        (relationship.isSyncable, relationship.isSpotlightIndexed, relationship.isStoredInTruthFile) = (nil, nil, nil)
        (relationship.inverseEntity, relationship.extras) = (nil, Model.Extras())
        return relationship
    }
}

extension Model.FetchRequest {
    fileprivate func compiledForm(_ parsed: (Model.Predicate) -> Model.Predicate) -> Model.FetchRequest {
        var request = self
        request.predicate = predicate.map(parsed)
        return request
    }
}

/// A value as lines of text, so that a failing comparison shows which of them differ.
func lines(_ value: Any) -> [String] {
    var text = ""
    dump(value, to: &text)
    // Dictionaries have no order.
    return text.split(separator: "\n").map(String.init).sorted()
}
