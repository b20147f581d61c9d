import Foundation

@testable import CoreData

/// A model whose parts a test changes: animals, of which dogs and cats are, keepers, and toys. Animals lead to animals.
final class Zoo {
    let model = NSManagedObjectModel()
    let animal = NSEntityDescription("Animal")
    let dog = NSEntityDescription("Dog")
    let cat = NSEntityDescription("Cat")
    let keeper = NSEntityDescription("Keeper")
    let toy = NSEntityDescription("Toy")
    let (name, age, tricks, badge) = (attribute("name"), attribute("age", .integer32), attribute("tricks"), attribute("badge"))
    let (keeperOfAnimal, animals, toys, owners, favorite, friends) = (
        NSRelationshipDescription(), NSRelationshipDescription(), NSRelationshipDescription(), NSRelationshipDescription(),
        NSRelationshipDescription(), NSRelationshipDescription()
    )
    let (leader, followers, rival, prey) = (
        NSRelationshipDescription(), NSRelationshipDescription(), NSRelationshipDescription(), NSRelationshipDescription()
    )

    init() {
        animal.properties = [name, age]
        dog.properties = [tricks]
        keeper.properties = [badge]
        toy.properties = [attribute("color")]
        animal.subentities = [dog, cat]
        relate((animal, keeperOfAnimal, "keeper", 1), (keeper, animals, "animals", 0))
        relate((animal, toys, "toys", 0), (toy, owners, "owners", 0))
        (favorite.name, favorite.destinationEntity, favorite.maxCount) = ("favorite", animal, 1)
        keeper.properties.append(favorite)
        (friends.name, friends.destinationEntity, friends.inverseRelationship) = ("friends", dog, friends)
        dog.properties.append(friends)
        relate((animal, leader, "leader", 1), (animal, followers, "followers", 0))
        (rival.name, rival.destinationEntity, rival.maxCount) = ("rival", animal, 1)
        animal.properties.append(rival)
        (prey.name, prey.destinationEntity, prey.maxCount) = ("prey", animal, 1)
        cat.properties.append(prey)
        model.entities = [animal, dog, cat, keeper, toy]
    }

    typealias End = (entity: NSEntityDescription, relationship: NSRelationshipDescription, name: String, maxCount: Int)

    func relate(_ left: End, _ right: End) {
        for (end, other) in [(left, right), (right, left)] {
            (end.relationship.name, end.relationship.maxCount) = (end.name, end.maxCount)
            (end.relationship.destinationEntity, end.relationship.inverseRelationship) = (other.entity, other.relationship)
            end.entity.properties.append(end.relationship)
        }
    }

    func add(_ entity: NSEntityDescription) { model.entities.append(entity) }

    func remove(_ entity: NSEntityDescription) {
        entity.superentity?.subentities.removeAll { $0 === entity }
        model.entities.removeAll { $0 === entity }
    }

    func move(_ property: NSPropertyDescription, from entity: NSEntityDescription, to other: NSEntityDescription) {
        entity.properties.removeAll { $0 === property }
        other.properties.append(property)
    }
}
