import CoreData
import Foundation
import Testing

/// Names its section by an accessor that computes it, and keeps it in a transient.
final class Plant: NSManagedObject {
    var initial: String {
        willAccessValue(forKey: "initial")
        defer { didAccessValue(forKey: "initial") }
        if let known = primitiveValue(forKey: "initial") as? String { return known }
        let made = (primitiveValue(forKey: "name") as? String ?? "").prefix(1).uppercased()
        setPrimitiveValue(made, forKey: "initial")
        return made
    }

    override func value(forKey key: String) -> Any? { key == "initial" ? initial : super.value(forKey: key) }
}

@Suite("A transient attribute with an accessor of the class's own")
@MainActor
struct ComputedSectionTests {
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)

    init() throws {
        let plant = NSEntityDescription()
        (plant.name, plant.managedObjectClassName) = ("Plant", NSStringFromClass(Plant.self))
        plant.properties = ["name", "initial"].map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isTransient) = (name, .stringAttributeType, name == "initial")
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [plant]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        context.persistentStoreCoordinator = coordinator
        for name in ["fern", "fig", "moss"] {
            NSEntityDescription.insertNewObject(forEntityName: "Plant", into: context).setValue(name, forKey: "name")
        }
    }

    private func plants() -> NSFetchRequest<Plant> {
        let request = NSFetchRequest<Plant>(entityName: "Plant")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    @Test("names the sections of a results controller, whether or not it has been read before", arguments: [false, true])
    func sections(isSaved: Bool) throws {
        if isSaved {
            try context.save()
            context.reset()
        }
        let controller = NSFetchedResultsController(
            fetchRequest: plants(),
            managedObjectContext: context,
            sectionNameKeyPath: "initial",
            cacheName: nil
        )
        try controller.performFetch()
        #expect(controller.sections?.map { "\($0.name): \($0.numberOfObjects)" } == ["F: 2", "M: 1"])
    }

    @Test("is what predicates read of unsaved objects")
    func predicates() throws {
        let request = plants()
        request.predicate = NSPredicate(format: "initial == 'F'")
        #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["fern", "fig"])
        #expect(try context.fetch(plants()).filter { NSPredicate(format: "initial == 'M'").evaluate(with: $0) }.count == 1)
    }
}
