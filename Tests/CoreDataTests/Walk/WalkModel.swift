import CoreData

/// A model with each delete rule, a subentity, an ordered, a many-to-many and a one-to-one relationship, and a transient:
///
/// ```
/// Owner ◁─ Chief            Owner 1 ──▸▸ * Item (cascade; inverse nullify)
/// Item * ◂◂──▸▸ * Label     Item 1 ──▸▸ ordered * Part (cascade; inverse nullify)
/// Owner 1 ◂──▸ 1 Desk       (nullify; inverse deny)
/// Owner ──▸ 0..1 boss ◂◂ * reports (nullify)
/// Label ──▸ 0..1 cover, an Item ◂◂ * covered (nullify; inverse no action)
/// ```
enum WalkModel {
    enum Kind: String, CaseIterable {
        case owner = "Owner"
        case chief = "Chief"
        case item = "Item"
        case part = "Part"
        case label = "Label"
        case desk = "Desk"

        /// Keys are unique in the tree of an entity.
        var root: Kind { self == .chief ? .owner : self }
    }

    /// A to-one relationship whose column says who belongs to whom.
    struct ToOne {
        let name: String
        let from: Kind
        let to: Kind
        let inverse: String
        let isInverseToMany: Bool
        /// Whether the delete of the target deletes what refers to it.
        var isCascade = false
        /// Whether a reference may outlive its target.
        var mayDangle = false
    }

    static let toOnes = [
        ToOne(name: "owner", from: .item, to: .owner, inverse: "items", isInverseToMany: true, isCascade: true),
        ToOne(name: "item", from: .part, to: .item, inverse: "parts", isInverseToMany: true, isCascade: true),
        ToOne(name: "boss", from: .owner, to: .owner, inverse: "reports", isInverseToMany: true),
        ToOne(name: "desk", from: .owner, to: .desk, inverse: "owner", isInverseToMany: false),
        ToOne(name: "owner", from: .desk, to: .owner, inverse: "desk", isInverseToMany: false),
        ToOne(name: "cover", from: .label, to: .item, inverse: "covered", isInverseToMany: true, mayDangle: true),
    ]

    static func toOnes(of kind: Kind) -> [ToOne] { toOnes.filter { $0.from == kind.root } }
    static func toOne(_ key: String, of kind: Kind) -> ToOne? { toOnes.first { $0.from == kind.root && $0.name == key } }

    /// Whether somebody else loses what such a relationship is set to.
    static func isOneToOne(_ key: String, of kind: Kind?) -> Bool { key == "desk" || (key == "owner" && kind == .desk) }

    static func make() -> NSManagedObjectModel {
        func entity(_ kind: Kind, _ more: [NSPropertyDescription] = []) -> NSEntityDescription {
            let plain =
                kind == .chief
                ? []
                : [
                    LibraryModel.attribute("serial", .integer64AttributeType), LibraryModel.attribute("number", .integer32AttributeType),
                    LibraryModel.attribute("text", .stringAttributeType), transient("note"),
                ]
            return LibraryModel.entity(kind.rawValue, NSManagedObject.self, plain + more)
        }
        let (owner, item, part, label, desk) = (entity(.owner), entity(.item), entity(.part), entity(.label), entity(.desk))
        let chief = entity(.chief, [LibraryModel.attribute("title", .stringAttributeType)])
        owner.subentities = [chief]
        relate(owner, "items", .cascadeDeleteRule, item, "owner", toMany: false, .nullifyDeleteRule)
        relate(item, "parts", .cascadeDeleteRule, part, "item", toMany: false, .nullifyDeleteRule).isOrdered = true
        relate(item, "labels", .nullifyDeleteRule, label, "items", toMany: true, .nullifyDeleteRule)
        relate(owner, "reports", .nullifyDeleteRule, owner, "boss", toMany: false, .nullifyDeleteRule)
        relate(item, "covered", .noActionDeleteRule, label, "cover", toMany: false, .nullifyDeleteRule)
        LibraryModel.relate(owner, "desk", toMany: false, .nullifyDeleteRule, desk, "owner", toMany: false, .denyDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [owner, chief, item, part, label, desk]
        return model
    }

    @discardableResult
    private static func relate(
        _ left: NSEntityDescription,
        _ name: String,
        _ rule: NSDeleteRule,
        _ right: NSEntityDescription,
        _ inverse: String,
        toMany: Bool,
        _ inverseRule: NSDeleteRule
    ) -> NSRelationshipDescription {
        LibraryModel.relate(left, name, toMany: true, rule, right, inverse, toMany: toMany, inverseRule)
    }

    private static func transient(_ name: String) -> NSAttributeDescription {
        let attribute = LibraryModel.attribute(name, .stringAttributeType)
        attribute.isTransient = true
        return attribute
    }
}
