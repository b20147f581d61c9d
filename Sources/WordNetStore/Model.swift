import CoreData

/// The schema, in code.
///
/// ```
/// Word ──< Sense >── Synset ──< Pointer >── Synset
///            └──< Pointer, Frame     └──< Frame
/// ```
/// A pointer always leads from a synset to a synset; a lexical one names the two senses as well.
public enum Model {
    /// A new model, for one coordinator and those on the same store.
    public static func make() -> NSManagedObjectModel {
        let synset = entity(
            Synset.self,
            attribute("gloss", .string),
            attribute("partOfSpeech", .string),
            attribute("lexicographerFile", .integer16),
            attribute("offset", .integer32)
        )
        let word = entity(Word.self, attribute("lemma", .string), attribute("note", .string, isOptional: true))
        let sense = entity(
            Sense.self,
            attribute("text", .string),
            attribute("number", .integer16),
            attribute("isTagged", .boolean),
            attribute("lexicalID", .integer16),
            attribute("marker", .string, isOptional: true)
        )
        let pointer = entity(Pointer.self, attribute("symbol", .string))
        let frame = entity(Frame.self, attribute("number", .integer16))

        relate(sense, "synset", to: synset, "senses", isOrdered: true)
        relate(sense, "word", to: word, "senses", isOrdered: true)
        relate(pointer, "source", to: synset, "pointers")
        relate(pointer, "sourceSense", to: sense, "pointers", isOptional: true)
        addToOne(pointer, "target", synset)
        addToOne(pointer, "targetSense", sense, isOptional: true)
        relate(frame, "synset", to: synset, "frames")
        relate(frame, "sense", to: sense, "frames", isOptional: true)
        index(word, by: "lemma")

        let model = NSManagedObjectModel()
        model.entities = [synset, word, sense, pointer, frame]
        return model
    }

    private static func entity(_ type: NSManagedObject.Type, _ properties: NSPropertyDescription...) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = String(describing: type)
        entity.managedObjectClassName = NSStringFromClass(type)
        entity.properties = properties
        return entity
    }

    private static func attribute(
        _ name: String,
        _ type: NSAttributeDescription.AttributeType,
        isOptional: Bool = false
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.type = type
        attribute.isOptional = isOptional
        return attribute
    }

    /// Adds a to-one to `member` and its inverse, a to-many, to `owner`. Members go when their owner goes.
    private static func relate(
        _ member: NSEntityDescription,
        _ toOneName: String,
        to owner: NSEntityDescription,
        _ toManyName: String,
        isOrdered: Bool = false,
        isOptional: Bool = false
    ) {
        let toOne = addToOne(member, toOneName, owner, isOptional: isOptional)
        let toMany = NSRelationshipDescription()
        toMany.name = toManyName
        toMany.destinationEntity = member
        toMany.isOrdered = isOrdered
        toMany.deleteRule = .cascadeDeleteRule

        toOne.inverseRelationship = toMany
        toMany.inverseRelationship = toOne
        owner.properties.append(toMany)
    }

    @discardableResult
    private static func addToOne(
        _ source: NSEntityDescription,
        _ name: String,
        _ destination: NSEntityDescription,
        isOptional: Bool = false
    ) -> NSRelationshipDescription {
        let toOne = NSRelationshipDescription()
        toOne.name = name
        toOne.destinationEntity = destination
        toOne.maxCount = 1
        toOne.isOptional = isOptional
        source.properties.append(toOne)
        return toOne
    }

    private static func index(_ entity: NSEntityDescription, by name: String) {
        let elements = entity.properties.filter { $0.name == name }
            .map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
        entity.indexes = [NSFetchIndexDescription(name: "by" + name.capitalized, elements: elements)]
    }
}
