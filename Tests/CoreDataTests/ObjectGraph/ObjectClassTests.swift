import CoreData
import Foundation
import Testing

final class NamedWithoutModule: NSManagedObject {}

@Suite("The class of an object")
struct ObjectClassTests {
    private class Initialised: NSManagedObject {
        var madeIn: NSManagedObjectContext?
        let constant = 5
        override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
            super.init(entity: entity, insertInto: context)
            madeIn = context
        }
    }

    fileprivate static func note(_ objectClass: NSManagedObject.Type) -> [NSEntityDescription] {
        [LibraryModel.entity("Note", objectClass, [LibraryModel.attribute("text", .stringAttributeType)])]
    }

    @Test("may be NSManagedObject itself: values go by name")
    func plain() throws {
        let stage = try Stage { Self.note(NSManagedObject.self) }
        let object = NSEntityDescription.insertNewObject(forEntityName: "Note", into: stage.context)
        #expect(type(of: object) == NSManagedObject.self)
        object.setValue("hi", forKey: "text")
        try stage.context.save()
        #expect(try stage.separateContext().only(NSManagedObject.self, "Note").value(forKey: "text") as? String == "hi")
    }

    @Test("may be unknown by name: the object is then a plain one")
    func unknown() throws {
        let stage = try Stage {
            let entities = Self.note(NSManagedObject.self)
            entities[0].managedObjectClassName = "NoSuchModule.NoSuchClass"
            return entities
        }
        #expect(type(of: NSEntityDescription.insertNewObject(forEntityName: "Note", into: stage.context)) == NSManagedObject.self)
    }

    @Test("may be named without its module, which another class of the model tells")
    func plainName() throws {
        let stage = try Stage {
            let entities = Self.note(NSManagedObject.self)
            entities[0].managedObjectClassName = "NamedWithoutModule"
            return entities + [LibraryModel.entity("Person", Person.self, [LibraryModel.attribute("name", .stringAttributeType)])]
        }
        #expect(NSEntityDescription.insertNewObject(forEntityName: "Note", into: stage.context) is NamedWithoutModule)
    }

    @Test("is reported in the log where nobody can find it, once")
    func logged() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let stage = try Stage {
                let entities = ObjectClassTests.note(NSManagedObject.self)
                entities[0].managedObjectClassName = "NoSuchClassAnywhere"
                return entities
            }
            for context in [stage.context, try stage.separateContext()] {
                NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            }
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.components(separatedBy: "NoSuchClassAnywhere").count == 2, "\(text)")
    }

    @Test("that no model maps has an entity without a name, and a request in its own name")
    func unmapped() throws {
        final class Unmapped: NSManagedObject {}
        #expect(Unmapped.entity().name == nil)
        #expect(Unmapped.fetchRequest().entityName == "Unmapped")
    }

    @Test("may be nested in a function once it is registered")
    func nested() throws {
        final class Note: NSManagedObject {}
        Note.register()
        let stage = try Stage { Self.note(Note.self) }
        let object = NSEntityDescription.insertNewObject(forEntityName: "Note", into: stage.context)
        #expect(object is Note)
        try stage.context.save()
        #expect(try stage.separateContext().all(Note.self, "Note").count == 1)
    }

    @Test("may override init(entity:insertInto:), which then runs for inserted and for fetched objects")
    func initialiser() throws {
        Initialised.register()
        let stage = try Stage { Self.note(Initialised.self) }
        let made = Initialised(context: stage.context)
        #expect(made.madeIn === stage.context && made.constant == 5 && made.isInserted)
        try stage.context.save()
        let fetched = try stage.separateContext().only(Initialised.self, "Note")
        #expect(fetched.madeIn == nil && fetched.constant == 5)
    }

    @Test("of an abstract entity cannot be instantiated")
    func abstract() async {
        await #expect(processExitsWith: .failure) {
            let stage = try Stage {
                let base = LibraryModel.entity("Base", NSManagedObject.self, [])
                base.isAbstract = true
                return [base]
            }
            NSEntityDescription.insertNewObject(forEntityName: "Base", into: stage.context)
        }
    }
}
