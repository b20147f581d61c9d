import CoreData
import Testing

struct Colour: Codable, Equatable {
    var red, green, blue: Double
}

final class ColourTransformer: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { (value as? Colour).flatMap { try? JSONEncoder().encode($0) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { try? JSONDecoder().decode(Colour.self, from: $0) }
    }

    static func register() {
        ValueTransformer.setValueTransformer(ColourTransformer(), forName: NSValueTransformerName("ColourTransformer"))
    }
}

@Suite("The guide to transformers")
struct TransformersGuide {
    private static func colourAttribute() -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = "colour"
        attribute.type = .transformable
        attribute.valueTransformerName = "ColourTransformer"
        return attribute
    }

    @Test("has a transformer that keeps a value of the program's own")
    func keepsValue() async throws {
        ColourTransformer.register()
        let entity = NSEntityDescription()
        (entity.name, entity.properties) = ("Pen", [Self.colourAttribute()])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let container = NSPersistentContainer(name: "Pens", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        try await container.loadPersistentStores()
        try await container.performBackgroundTask { context in
            NSManagedObject(entity: entity, insertInto: context).setValue(Colour(red: 1, green: 0, blue: 0), forKey: "colour")
            try context.save()
        }
        let found = try await container.performBackgroundTask { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Pen")
            return try context.fetch(request).first?.value(forKey: "colour") as? Colour
        }
        #expect(found == Colour(red: 1, green: 0, blue: 0))
    }
}
