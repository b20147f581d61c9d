import CoreData
import Foundation
import Testing

final class NamedWithoutModule: NSManagedObject {}
final class NamedOtherwise: NSManagedObject {}

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

    // As the plugin's copy of a file that says `@objc(ObjectiveCNote) class NamedOtherwise` does.
    @Test(
        "may be named as Objective-C has it: by that name it is found, and its entity by the class",
        arguments: ["ObjectiveCNote", "CoreDataTests.ObjectiveCNote"]
    )
    func objectiveCName(name: String) throws {
        NSManagedObjectModel.registerClass(named: "ObjectiveCNote") { NamedOtherwise.self }
        let stage = try Stage {
            let entities = Self.note(NSManagedObject.self)
            entities[0].managedObjectClassName = name
            return entities
        }
        #expect(NamedOtherwise(context: stage.context).entity.name == "Note")
        #expect(NSEntityDescription.insertNewObject(forEntityName: "Note", into: stage.context) is NamedOtherwise)
        #expect(NamedOtherwise.entity().name == "Note" && NamedOtherwise.fetchRequest().entityName == "Note")
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

    @Test("is its entity's also where NSManagedObject is asked for, in a context or in none")
    func entityClass() throws {
        let stage = try Stage { Self.note(NamedWithoutModule.self) }
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Note", in: stage.context))
        let (here, later) = (NSManagedObject(entity: entity, insertInto: stage.context), NSManagedObject(entity: entity, insertInto: nil))
        #expect(here is NamedWithoutModule && later is NamedWithoutModule)
        stage.context.insert(later)
        here.setValue("hi", forKey: "text")
        #expect(try Set(stage.context.all(NamedWithoutModule.self, "Note")) == [here, later])
        try stage.context.save()
        #expect(try stage.separateContext().all(NamedWithoutModule.self, "Note").count == 2)
    }

    @Test("with stored properties cannot be asked for as NSManagedObject: it says what to write")
    func storedProperties() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Initialised.register()
            let stage = try Stage { ObjectClassTests.note(Initialised.self) }
            let entity = try #require(NSEntityDescription.entity(forEntityName: "Note", in: stage.context))
            _ = NSManagedObject(entity: entity, insertInto: stage.context)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("Write Initialised(entity:insertInto:), Initialised(context:) or NSEntityDescription.insertNewObject"))
    }

    @Test("cannot be another than its entity's")
    func strange() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stage = try Stage { ObjectClassTests.note(NamedWithoutModule.self) }
            let entity = try #require(NSEntityDescription.entity(forEntityName: "Note", in: stage.context))
            _ = Person(entity: entity, insertInto: stage.context)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("Person(entity:insertInto:) cannot make an object of entity Note, whose class is NamedWithoutModule."))
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
