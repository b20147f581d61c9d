import CoreData

/// Groups of members. Each group has the same number of them, and one object counts the groups: so whatever is saved by halves is found out.
enum GroupModel {
    static let size = 5

    static func make() -> NSManagedObjectModel {
        let (group, member, total) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (group.name, member.name, total.name) = ("Group", "Member", "Total")
        for entity in [group, member, total] { entity.properties = [number()] }
        let (members, home) = (NSRelationshipDescription(), NSRelationshipDescription())
        (members.name, members.destinationEntity, members.inverseRelationship) = ("members", member, home)
        (home.name, home.destinationEntity, home.inverseRelationship, home.maxCount) = ("group", group, members, 1)
        group.properties.append(members)
        member.properties.append(home)
        let model = NSManagedObjectModel()
        model.entities = [group, member, total]
        return model
    }

    /// The next version: every table changes.
    static func next() -> NSManagedObjectModel {
        let model = make()
        let added = NSEntityDescription()
        added.name = "Album"
        let note = NSAttributeDescription()
        (note.name, note.attributeType, note.defaultValue, note.isOptional) = ("note", .stringAttributeType, "none", false)
        for entity in model.entities where entity.name != "Group" {
            if entity.name == "Member" { entity.properties.append(note) }
            if entity.name == "Total" { (entity.name, entity.renamingIdentifier) = ("Sum", "Total") }
        }
        let group = model.entities[0]
        group.relationshipsByName["members"]?.isOrdered = true
        model.entities += [added]
        return model
    }

    private static func number() -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType) = ("number", .integer64AttributeType)
        return attribute
    }

    static func groups() -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: "Group") }

    /// Inserts a group and its members, and counts it. On the queue.
    static func insert(_ number: Int, into context: NSManagedObjectContext) throws {
        func new(_ name: String) -> NSManagedObject { NSEntityDescription.insertNewObject(forEntityName: name, into: context) }
        let group = new("Group")
        group.setValue(number, forKey: "number")
        for place in 0..<size {
            let member = new("Member")
            member.setValue(place, forKey: "number")
            member.setValue(group, forKey: "group")
        }
        let total = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Total")).first ?? new("Total")
        total.setValue(number + 1, forKey: "number")
    }
}
