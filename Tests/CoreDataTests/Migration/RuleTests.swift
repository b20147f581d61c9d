import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

/// A change of the zoo, and what becomes of its stores.
struct Rule: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The words of the refusal; nil where a mapping is inferred.
    var refusal: String?
    /// A query of the store afterwards, and what it says.
    var check: (query: String, answer: String)?
    /// What the zoo is like before.
    let before: @Sendable (Zoo) -> Void
    let change: @Sendable (Zoo) -> Void

    init(
        _ name: String,
        refusal: String? = nil,
        check: (String, String)? = nil,
        before: @escaping @Sendable (Zoo) -> Void = { _ in },
        _ change: @escaping @Sendable (Zoo) -> Void
    ) {
        (testDescription, self.refusal, self.check, self.before, self.change) = (name, refusal, check, before, change)
    }
}

@Suite("A change of a model:")
struct RuleTests {
    // * A store of the zoo is filled, and opened with the changed zoo.
    // => It is migrated and has every value, or it is refused in these words and stays what it was.
    @Test("leads to a store with every value, or to a refusal that says why", arguments: rules)
    func rule(_ rule: Rule) throws {
        let home = try StoreHome(.file)
        let (old, new) = (Zoo(), Zoo())
        rule.before(old)
        rule.change(new)
        try old.model.makeFilledStore(at: home.url())
        let before = try StoreContents(home.url(), old.model)
        let transition = ModelTransition(from: old.model, to: new.model)
        if let refusal = rule.refusal {
            let error = cocoaError(134140) { try Stack(home.url(), new.model, options: migrating) }
            let reason = error?.userInfo[NSUnderlyingErrorKey] as? CocoaError
            #expect(reason?.errorCode == 134190)
            #expect(reason?.localizedDescription == "No mapping can be inferred: \(refusal).")
            cocoaError(134190) { try NSMappingModel.inferredMappingModel(forSourceModel: old.model, destinationModel: new.model) }
            #expect(try StoreContents(home.url(), old.model).objects == before.objects)
            return
        }
        #expect(try NSMappingModel.inferredMappingModel(forSourceModel: old.model, destinationModel: new.model).entityMappings.count > 3)
        try Stack(home.url(), new.model, options: migrating).close()
        try expectMigrated(home.url(), before, transition)
        if let check = rule.check { #expect(try home.sql(check.query) == check.answer) }
        try expectUsable(home.url(), new.model)
    }

    /// What is saved next gets keys of its own.
    private func expectUsable(_ url: URL, _ model: NSManagedObjectModel) throws {
        let stack = try Stack(url, model)
        let context = stack.newContext()
        let before = try count(context, model)
        for entity in model.entities where !entity.isAbstract { _ = NSManagedObject(entity: entity, insertInto: context) }
        for object in context.insertedObjects {
            for attribute in object.entity.attributesByName.values
            where !attribute.isOptional && object.value(forKey: attribute.name) == nil {
                object.setValue(attribute.attributeType == .stringAttributeType ? "x" : 1, forKey: attribute.name)
            }
        }
        try context.save()
        #expect(try count(context, model) == before + model.entities.filter { !$0.isAbstract }.count)
        try stack.close()
    }

    private func count(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws -> Int {
        try model.entities.filter { $0.superentity == nil }.map {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: $0.name ?? ""))
        }.reduce(0, +)
    }

    static let rules = attributeRules + relationshipRules + entityRules

    static let attributeRules: [Rule] = [
        Rule("an optional attribute is added") { $0.animal.properties.append(attribute("note")) },
        Rule("an attribute with a default is added", check: ("SELECT count(*) FROM ZANIMAL WHERE ZRANK = 7", "9")) {
            let rank = attribute("rank", .integer64)
            (rank.isOptional, rank.defaultValue) = (false, 7)
            $0.animal.properties.append(rank)
        },
        Rule(
            "a mandatory attribute without default is added",
            refusal: "Animal.rank is new and mandatory, and has no default for the objects that are there"
        ) {
            let rank = attribute("rank", .integer64)
            rank.isOptional = false
            $0.animal.properties.append(rank)
        },
        Rule("an attribute goes") { $0.animal.properties.removeAll { $0.name == "age" } },
        Rule("many attributes go") { zoo in
            zoo.animal.properties.removeAll { ["age", "name"].contains($0.name) }
            zoo.dog.properties.removeAll { $0.name == "tricks" }
        },
        Rule("a mandatory attribute becomes optional, and another mandatory with a default") {
            ($0.name.isOptional, $0.name.defaultValue) = (false, "?")
        },
        Rule("an attribute becomes mandatory without default", refusal: "Animal.name becomes mandatory, and has no default") {
            $0.name.isOptional = false
        },
        Rule("an attribute has another name") { ($0.name.name, $0.name.renamingIdentifier) = ("title", "name") },
        Rule("two attributes change their names") {
            let (badge, other) = ($0.badge, attribute("code"))
            (other.renamingIdentifier, badge.name, badge.renamingIdentifier) = ("absent", "label", "badge")
            other.name = "badge"
            $0.keeper.properties.append(other)
        },
        Rule("an attribute has another type", refusal: "Animal.age is String and was Integer 32") { $0.age.type = .string },
        Rule("a number becomes a wider one") { $0.age.type = .integer64 },
        Rule("a number becomes a narrower one", refusal: "Animal.age is Integer 16 and was Integer 32") { $0.age.type = .integer16 },
        Rule("a number becomes one of another kind", refusal: "Animal.age is Double and was Integer 32") { $0.age.type = .double },
        Rule("an attribute moves up the tree") { $0.move($0.tricks, from: $0.dog, to: $0.animal) },
        Rule("an attribute moves down the tree", check: ("SELECT count(ZAGE) FROM ZANIMAL", "3")) {
            $0.move($0.age, from: $0.animal, to: $0.dog)
        },
        Rule("an attribute moves down to two entities") { zoo in
            zoo.move(zoo.age, from: zoo.animal, to: zoo.dog)
            zoo.cat.properties.append(attribute("age", .integer32))
        },
        Rule("data may be in files of their own") { zoo in
            let data = attribute("photo", .binaryData)
            data.allowsExternalBinaryDataStorage = true
            zoo.toy.properties.append(data)
        },
    ]

    static let relationshipRules: [Rule] = [
        Rule("a relationship with an inverse is added") {
            $0.relate(($0.keeper, NSRelationshipDescription(), "home", 1), ($0.toy, NSRelationshipDescription(), "guests", 0))
        },
        Rule("relationships of both kinds are added") {
            $0.relate(($0.keeper, NSRelationshipDescription(), "likes", 0), ($0.toy, NSRelationshipDescription(), "likedBy", 0))
        },
        Rule("a relationship goes") { zoo in
            zoo.animal.properties.removeAll { $0 === zoo.keeperOfAnimal }
            zoo.keeper.properties.removeAll { $0 === zoo.animals }
        },
        Rule("many-to-many relationships go") { zoo in
            zoo.animal.properties.removeAll { $0 === zoo.toys }
            zoo.toy.properties.removeAll { $0 === zoo.owners }
        },
        Rule("relationships have other names") {
            ($0.animals.name, $0.animals.renamingIdentifier) = ("herd", "animals")
            ($0.keeperOfAnimal.name, $0.keeperOfAnimal.renamingIdentifier) = ("boss", "keeper")
        },
        Rule("many-to-many relationships have other names") {
            ($0.toys.name, $0.toys.renamingIdentifier) = ("things", "toys")
            ($0.owners.name, $0.owners.renamingIdentifier) = ("users", "owners")
        },
        Rule("a relationship that is its own inverse has another name") {
            ($0.friends.name, $0.friends.renamingIdentifier) = ("mates", "friends")
        },
        Rule("a to-one relationship becomes to-many") { $0.keeperOfAnimal.maxCount = 0 },
        Rule("a to-one relationship becomes to-many and ordered") { ($0.keeperOfAnimal.maxCount, $0.keeperOfAnimal.isOrdered) = (0, true) },
        Rule("a to-one relationship without inverse becomes to-many") { $0.favorite.maxCount = 0 },
        Rule("a to-one relationship without inverse becomes to-many in its tree") { $0.rival.maxCount = 0 },
        Rule("a to-one relationship without inverse of some of a tree becomes to-many in it") { $0.prey.maxCount = 0 },
        Rule("a relationship within a tree leads elsewhere under the old name, and there was an index") { zoo in
            zoo.animal.properties.removeAll { $0 === zoo.rival }
            zoo.rival.destinationEntity = zoo.toy
            zoo.rival.renamingIdentifier = "none"
            zoo.animal.properties.append(zoo.rival)
        },
        Rule("a to-many relationship becomes to-one", refusal: "Keeper.animals becomes to-one, and there can be several objects") {
            $0.animals.maxCount = 1
        },
        Rule("a one-to-many relationship becomes ordered") { $0.animals.isOrdered = true },
        Rule("many-to-many relationships become ordered") { ($0.toys.isOrdered, $0.owners.isOrdered) = (true, true) },
        Rule("a relationship that is its own inverse becomes ordered") { $0.friends.isOrdered = true },
        Rule("a one-to-many relationship is ordered no more", before: { $0.animals.isOrdered = true }) { _ in },
        Rule("many-to-many relationships are ordered no more", before: { ($0.toys.isOrdered, $0.owners.isOrdered) = (true, true) }) { _ in
        },
        Rule("one end of many-to-many relationships is ordered no more, and the other now", before: { $0.toys.isOrdered = true }) {
            $0.owners.isOrdered = true
        },
        Rule("a relationship that is its own inverse is ordered no more", before: { $0.friends.isOrdered = true }) { _ in },
        Rule("a relationship gets an inverse", check: ("SELECT count(*) FROM ZANIMAL WHERE ZKEEPER IS NOT NULL", "9")) { zoo in
            zoo.keeper.properties.removeAll { $0 === zoo.favorite }
            zoo.relate((zoo.animal, NSRelationshipDescription(), "admirers", 0), (zoo.keeper, zoo.favorite, "favorite", 1))
        },
        Rule("a relationship loses its inverse") { zoo in
            zoo.animals.inverseRelationship = nil
            zoo.animal.properties.removeAll { $0 === zoo.keeperOfAnimal }
        },
        Rule("a relationship leads elsewhere", refusal: "Keeper.favorite leads to Toy and led to Animal") {
            $0.favorite.destinationEntity = $0.toy
        },
    ]

    static let entityRules: [Rule] = [
        Rule("an entity is added before all others", check: ("SELECT Z_ENT FROM ZTOY LIMIT 1", "6")) {
            $0.add(NSEntityDescription("Aardvark", attribute("name")))
        },
        Rule("an entity goes") { zoo in
            zoo.keeper.properties.removeAll { $0 === zoo.favorite || $0 === zoo.animals }
            zoo.animal.properties.removeAll { $0 === zoo.keeperOfAnimal }
            zoo.remove(zoo.keeper)
        },
        Rule("a subentity goes, and what led to its objects leads nowhere") { $0.remove($0.cat) },
        Rule("an entity has another name") { ($0.keeper.name, $0.keeper.renamingIdentifier) = ("Warden", "Keeper") },
        Rule("the root of a tree has another name") { ($0.animal.name, $0.animal.renamingIdentifier) = ("Beast", "Animal") },
        Rule("two entities have each other's names") {
            ($0.keeper.name, $0.toy.name) = ("Toy", "Keeper")
            ($0.keeper.renamingIdentifier, $0.toy.renamingIdentifier) = ("Keeper", "Toy")
        },
        Rule("the roots of two trees have each other's names", before: addTrainees) {
            addTrainees($0)
            ($0.keeper.name, $0.animal.name) = ("Animal", "Keeper")
            ($0.keeper.renamingIdentifier, $0.animal.renamingIdentifier) = ("Keeper", "Animal")
        },
        Rule("a subentity is added") {
            let bird = NSEntityDescription("Bird", attribute("wings"))
            $0.add(bird)
            $0.animal.subentities.append(bird)
        },
        Rule("an entity gets a subentity for the first time") {
            let squeaky = NSEntityDescription("Squeaky")
            $0.add(squeaky)
            $0.toy.subentities = [squeaky]
        },
        Rule("an entity gets a new parent") {
            let thing = NSEntityDescription("Thing", attribute("price"), subentities: [$0.toy])
            thing.isAbstract = true
            $0.add(thing)
        },
        Rule("an attribute moves up to a new parent") {
            let thing = NSEntityDescription("Thing", subentities: [$0.toy])
            thing.isAbstract = true
            $0.add(thing)
            $0.move($0.toy.properties[0], from: $0.toy, to: thing)
        },
        Rule("an entity leaves its tree") { zoo in
            zoo.animal.subentities = [zoo.dog]
            zoo.cat.properties = [attribute("name"), attribute("age", .integer32)]
        },
        Rule("two trees come together", refusal: "Toy comes into one tree with Keeper, with which it had no common parent before") {
            $0.keeper.subentities = [$0.toy]
        },
        Rule("an entity is unique in something", check: ("SELECT count(*) FROM sqlite_master WHERE name = 'Z_Keeper_UNIQUE_badge'", "1")) {
            $0.keeper.uniquenessConstraints = [["badge"]]
            $0.keeper.versionHashModifier = "2"
        },
        Rule(
            "an entity is unique in something no more",
            check: ("SELECT count(*) FROM sqlite_master WHERE name GLOB '*UNIQUE*'", "0"),
            before: { $0.keeper.uniquenessConstraints = [["badge"]] }
        ) { $0.keeper.versionHashModifier = "2" },
        Rule(
            "an entity is unique in something else",
            check: ("SELECT group_concat(name) FROM sqlite_master WHERE name GLOB '*UNIQUE*'", "Z_Toy_UNIQUE_color"),
            before: { $0.keeper.uniquenessConstraints = [["badge"]] }
        ) {
            $0.toy.uniquenessConstraints = [["color"]]
            ($0.keeper.versionHashModifier, $0.toy.versionHashModifier) = ("2", "2")
        },
        Rule("an index comes", check: ("SELECT count(*) FROM sqlite_master WHERE name GLOB '*byBadge*'", "1")) {
            indexBadges($0)
            $0.keeper.versionHashModifier = "2"
        },
        Rule("an index goes", check: ("SELECT count(*) FROM sqlite_master WHERE name GLOB '*byBadge*'", "0"), before: indexBadges) {
            $0.keeper.versionHashModifier = "2"
        },
        Rule(
            "an index goes with its attribute",
            check: ("SELECT count(*) FROM sqlite_master WHERE name GLOB '*byBadge*'", "0"),
            before: indexBadges
        ) { zoo in zoo.keeper.properties.removeAll { $0 === zoo.badge } },
    ]

    @Sendable private static func addTrainees(_ zoo: Zoo) {
        let trainee = NSEntityDescription("Trainee")
        zoo.add(trainee)
        zoo.keeper.subentities = [trainee]
    }

    @Sendable private static func indexBadges(_ zoo: Zoo) {
        let element = NSFetchIndexElementDescription(property: zoo.badge, collationType: .binary)
        zoo.keeper.indexes = [NSFetchIndexDescription(name: "byBadge", elements: [element])]
    }
}
