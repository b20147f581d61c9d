import Foundation
import ModelFormat
import Testing

@testable import CoreData

/// An object of a registered model.
final class RegisteredThing: NSManagedObject {}

@Suite("Registered models")
struct RegisteredModelTests {
    private static let model = makeModel(className: NSStringFromClass(RegisteredThing.self))

    @Test("are found under their names, one instance each time")
    func names() {
        NSManagedObjectModel.register("Things") { Self.model }
        #expect(NSManagedObjectModel.registered("Things") === Self.model)
        #expect(NSManagedObjectModel.registered("No such things") == nil)
    }

    @Test("say which class a plain name in another model stands for")
    func plainNames() throws {
        NSManagedObjectModel.register("Things") { Self.model }
        let plain = Self.makeModel(className: "RegisteredThing")
        #expect(NSManagedObject.objectClass(for: plain.entities[0]) == RegisteredThing.self)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: plain)
        try context.performAndWait {
            #expect(RegisteredThing(context: context).entity === plain.entities[0])
            let named = try #require(NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context) as? RegisteredThing)
            #expect(named.entity === plain.entities[0])
        }
    }

    @Test("are carried in the text of a compiled model")
    func embedded() throws {
        var model = ModelFormat.Model()
        var entity = ModelFormat.Model.Entity()
        (entity.name, entity.className) = ("Thing", "App.Thing")
        model.entities = [entity]
        let text = try model.archived().base64EncodedString(options: [.lineLength64Characters])
        let embedded = NSManagedObjectModel(embedded: text)
        #expect(embedded.entities.map(\.name) == ["Thing"] && embedded.entities[0].managedObjectClassName == "App.Thing")
    }

    private static func makeModel(className: String) -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        (entity.name, entity.managedObjectClassName) = ("Thing", className)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }
}
