import Foundation
import ModelFormat
import Testing

import ModelCompiler
import ModelTools

@Suite("The difference between two versions")
struct DifferenceTests {
    @Test("is nothing between equal ones")
    func equal() { #expect(difference(from: zoo, to: zoo).isEmpty) }

    @Test("follows renaming identifiers of entities, attributes and relationships")
    func renaming() {
        var new = zoo
        new.entities[0].name = "Beast"
        new.entities[0].renamingIdentifier = "Animal"
        new.entities[0].attributes[0].name = "title"
        new.entities[0].attributes[0].renamingIdentifier = "name"
        new.entities[1].parent = "Beast"
        new.entities[2].relationships[0].destination = "Beast"
        expect(new, steps: ["Beast was Animal", "Beast.title was name"])
    }

    @Test("adds what is optional or has a default, and nothing else")
    func adding() {
        var new = zoo
        new.entities[2].attributes = [
            attribute("open", isOptional: true), attribute("motto", value: .string("Feed me")), attribute("city"),
        ]
        expect(
            new,
            steps: ["Keeper.open is new", "Keeper.motto is new, with \"Feed me\" in the objects that are there"],
            obstacles: ["Keeper.city is new and mandatory, and has no default for the objects that are there"]
        )
    }

    @Test("does not convert values, nor make up missing ones")
    func converting() {
        var new = zoo
        new.entities[0].attributes[0].type = .integer16
        new.entities[0].attributes[0].isOptional = false
        expect(new, obstacles: ["Animal.name is Integer 16 and was String", "Animal.name becomes mandatory, and has no default"])
    }

    @Test("widens relationships and never narrows them")
    func widening() {
        var wide = zoo
        wide.entities[0].relationships[0].maxCount = 0
        expect(wide, steps: ["Animal.keeper becomes to-many"])
        #expect(difference(from: wide, to: zoo).obstacles.map(\.text) == ["becomes to-one, and there can be several objects"])
        var ordered = zoo
        ordered.entities[2].relationships[0].isOrdered = true
        expect(ordered, steps: ["Keeper.animals becomes ordered"])
    }

    @Test("moves attributes within a tree, and brings no trees together")
    func trees() {
        var new = zoo
        new.entities[0].attributes += new.entities[1].attributes
        new.entities[1].attributes = []
        expect(new, steps: ["Animal.stripes moves up from Tiger", "Tiger.stripes moves up to Animal"])
        let moved = difference(from: new, to: zoo)
        #expect(
            moved.steps.map(\.sentence) == [
                "Animal.stripes moves down to Tiger: the values of other objects are gone", "Tiger.stripes moves down from Animal",
            ]
        )
        new = zoo
        new.entities[0].relationships = []
        new.entities[1].relationships = zoo.entities[0].relationships
        let relationship = zoo.entities[0].relationships[0].name
        expect(
            new,
            steps: [
                "Animal.\(relationship) moves down to Tiger: the values of other objects are gone",
                "Tiger.\(relationship) moves down from Animal",
            ]
        )
        new = zoo
        new.entities[2].parent = "Animal"
        expect(
            new,
            steps: ["Keeper inherits from Animal, not from none"],
            obstacles: ["Keeper comes into one tree with Animal, with which it had no common parent before"]
        )
    }

    @Test("tells a derivation that is another, and none that is compiled from a source")
    func derivations() {
        func model(_ derivation: Model.Expression) -> Model {
            var model = zoo
            var count = attribute("count", isOptional: true)
            (count.type, count.derivation) = (.integer64, derivation)
            model.entities[2].attributes = [count]
            return model
        }
        let compiled = model(.function("count:", [.keyPath(nil, "animals")]))
        #expect(difference(from: compiled, to: model(.text("animals.@count"))).isEmpty)
        #expect(
            difference(from: compiled, to: model(.text("animals.weight.@sum"))).steps.map(\.sentence) == [
                "Keeper.count is stored in another way, or computed from something else"
            ]
        )
    }

    @Test("tells what is new and what is gone")
    func comingAndGoing() {
        var new = zoo
        new.entities.remove(at: 1)
        new.entities.append(entity("Cage"))
        expect(new, steps: ["Cage is new", "Tiger is gone, and its objects with it"])
    }

    private func expect(_ new: Model, steps: [String] = [], obstacles: [String] = [], at place: SourceLocation = #_sourceLocation) {
        let found = difference(from: zoo, to: new)
        #expect(found.steps.map { "\($0.place) \($0.text)" } == steps, sourceLocation: place)
        #expect(found.obstacles.map { "\($0.place) \($0.text)" } == obstacles, sourceLocation: place)
        #expect(found.isLightweight == obstacles.isEmpty, sourceLocation: place)
    }
}

@Suite("The warnings about a model")
struct WarningTests {
    @Test("are none about a sound one")
    func sound() { #expect(texts(zoo) == []) }

    @Test("tell of missing and one-sided inverses, defaults, types and destinations")
    func missing() {
        var model = zoo
        model.entities[0].attributes = [attribute("name"), attribute("hash", isOptional: true)]
        model.entities[0].attributes[1].type = .undefined
        model.entities[0].relationships[0].inverse = nil
        model.entities[1].isAbstract = true
        model.entities[2].relationships[0].deleteRule = .noAction
        model.entities[2].uniquenessConstraints = [["nickname"]]
        #expect(
            texts(model) == [
                "Animal.name is mandatory and has no default", "Animal.hash has no type, and is not transient",
                "Animal.hash has the name of something that all managed objects have",
                "Animal.keeper has no inverse: Core Data cannot keep both ends together",
                "Tiger is abstract, and no entity inherits from it",
                "Keeper has a uniqueness constraint on nickname, which it has not",
                "Keeper.animals has the inverse Animal.keeper, whose inverse is none",
                "Keeper.animals has the delete rule No Action, which leaves references to deleted objects",
            ]
        )
    }

    @Test("are errors where no program can use the model")
    func errors() {
        var model = zoo
        model.entities[0].relationships[0].inverse = nil
        model.entities[2].uniquenessConstraints = [["nickname"]]
        #expect(
            warnings(in: model).filter(\.isError).map(\.description) == [
                "Keeper has a uniqueness constraint on nickname, which it has not",
                "Keeper.animals has the inverse Animal.keeper, whose inverse is none",
            ]
        )
    }

    @Test("tell of defaults outside of their bounds")
    func bounds() {
        var model = zoo
        model.entities[1].attributes[0].type = .integer16
        model.entities[1].attributes[0].defaultValue = .integer(3)
        model.entities[1].attributes[0].minimum = .integer(5)
        #expect(texts(model) == ["Tiger.stripes has a default below its minimum"])
        model.entities[1].attributes[0].maximum = .integer(4)
        #expect(texts(model) == ["Tiger.stripes has a minimum above its maximum"])
        model.entities[1].attributes[0].defaultValue = .string("many")
        #expect(texts(model).first == "Tiger.stripes has the default \"many\", which is no value of its type")
    }

    @Test("tell of attributes that no store takes")
    func untaken() {
        var model = zoo
        model.entities[1].attributes[0].type = .composite
        #expect(texts(model) == ["Tiger.stripes is composite, which no store takes yet: make plain attributes of its parts"])
    }

    @Test("tell what CloudKit refuses, where it is used")
    func cloud() {
        var model = zoo
        model.editor.isUsedWithCloudKit = true
        model.entities[0].relationships[0].isOptional = false
        model.entities[2].relationships[0].isOrdered = true
        #expect(
            texts(model) == ["Animal.keeper must be optional for CloudKit", "Keeper.animals is ordered, which CloudKit cannot keep"]
        )
    }

    private func texts(_ model: Model) -> [String] { warnings(in: model).map(\.description) }
}

/// Keepers with their animals, of which one is a tiger.
let zoo: Model = {
    var (animal, tiger, keeper, model) = (entity("Animal"), entity("Tiger"), entity("Keeper"), Model())
    animal.attributes = [attribute("name", isOptional: true)]
    tiger.parent = "Animal"
    tiger.attributes = [attribute("stripes", isOptional: true)]
    animal.relationships = [relationship("keeper", to: "Keeper", inverse: "animals", maxCount: 1)]
    keeper.relationships = [relationship("animals", to: "Animal", inverse: "keeper", maxCount: 0)]
    model.entities = [animal, tiger, keeper]
    return model
}()

func entity(_ name: String) -> Model.Entity {
    var entity = Model.Entity()
    entity.name = name
    return entity
}

private func attribute(_ name: String, isOptional: Bool = false, value: Model.Value? = nil) -> Model.Attribute {
    var attribute = Model.Attribute()
    (attribute.name, attribute.type, attribute.isOptional, attribute.defaultValue) = (name, .string, isOptional, value)
    return attribute
}

func relationship(_ name: String, to destination: String, inverse: String?, maxCount: Int) -> Model.Relationship {
    var relationship = Model.Relationship()
    (relationship.name, relationship.destination, relationship.inverse) = (name, destination, inverse)
    (relationship.maxCount, relationship.isOptional) = (maxCount, true)
    return relationship
}
