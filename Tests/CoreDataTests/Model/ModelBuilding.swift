import Foundation

@testable import CoreData

/// Short forms for building models in tests.
extension NSManagedObjectModel {
    convenience init(_ entities: NSEntityDescription...) {
        self.init()
        self.entities = entities
    }

    /// The model, frozen as by a coordinator.
    func frozen() -> NSManagedObjectModel {
        freeze()
        return self
    }
}

extension NSEntityDescription {
    convenience init(_ name: String, _ properties: NSPropertyDescription..., subentities: [NSEntityDescription] = []) {
        self.init()
        self.name = name
        self.properties = properties
        self.subentities = subentities
    }

    /// Adds a relationship; without a target yet it gets the entity itself as destination.
    @discardableResult
    func relate(
        _ name: String,
        to destination: NSEntityDescription,
        many: Bool = false,
        ordered: Bool = false,
        inverse: NSRelationshipDescription? = nil
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = many ? 0 : 1
        relationship.isOrdered = ordered
        properties.append(relationship)
        if let inverse {
            relationship.inverseRelationship = inverse
            inverse.inverseRelationship = relationship
        }
        return relationship
    }
}

func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType = .string) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.type = type
    return attribute
}
