import CoreData

/// The model that the guides speak of, as a file of Xcode's would say it.
enum ContactModel {
    static func make() -> NSManagedObjectModel {
        let contact = entity(
            "Contact",
            Contact.self,
            [attribute("name", .string), attribute("email", .string), attribute("age", .integer16), attribute("created", .date)]
        )
        let team = entity("Team", Team.self, [attribute("name", .string)])
        let (members, home) = (NSRelationshipDescription(), NSRelationshipDescription())
        (members.name, members.destinationEntity, members.deleteRule) = ("members", contact, .nullifyDeleteRule)
        (home.name, home.destinationEntity, home.maxCount, home.deleteRule) = ("team", team, 1, .nullifyDeleteRule)
        (members.inverseRelationship, home.inverseRelationship) = (home, members)
        team.properties.append(members)
        contact.properties.append(home)
        contact.uniquenessConstraints = [["email"]]
        let model = NSManagedObjectModel()
        model.entities = [contact, team]
        return model
    }

    private static func entity(_ name: String, _ type: NSManagedObject.Type, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        (entity.name, entity.managedObjectClassName, entity.properties) = (name, NSStringFromClass(type), properties)
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.type) = (name, type)
        return attribute
    }
}

final class Team: NSManagedObject {
    enum Keys {
        static let name = Attribute<String?>("name")
        static let members = ToMany<Contact>("members")
    }
    var name: String? {
        get { self[Keys.name] }
        set { self[Keys.name] = newValue }
    }
    var members: Set<Contact> {
        get { self[Keys.members] }
        set { self[Keys.members] = newValue }
    }
}
