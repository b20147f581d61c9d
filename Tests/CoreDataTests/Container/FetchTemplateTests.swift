import Foundation
import ModelFormat
import Testing

@testable import CoreData

@Suite("A fetch request template")
struct FetchTemplateTests {
    private static let source = """
        <entity name="Person"><attribute name="name" optional="YES" attributeType="String"/></entity>
        <fetchRequest name="named" entity="Person" predicateString="name == $NAME" fetchLimit="7" fetchBatchSize="20" \
        includeSubentities="NO" returnObjectsAsFaults="NO"/>
        <fetchRequest name="all" entity="Person"/>
        """

    private func model(_ source: String = source) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(Model(xml: Data("<model>\(source)</model>".utf8)))
    }

    @Test("of a model file is a request with all that the file says")
    func described() throws {
        let model = try model()
        #expect(Set(model.fetchRequestTemplatesByName.keys) == ["named", "all"])
        let request = try #require(model.fetchRequestTemplate(forName: "named"))
        #expect(request.entity === model.entitiesByName["Person"] && request.predicate?.printedFormat == "name == $NAME")
        #expect(request.fetchLimit == 7 && request.fetchBatchSize == 20 && request.resultType == .managedObjectResultType)
        #expect(!request.includesSubentities && !request.returnsObjectsAsFaults && request.includesPropertyValues)
        let all = try #require(model.fetchRequestTemplate(forName: "all"))
        #expect(all.predicate == nil && all.sortDescriptors == nil && all.includesSubentities)
        #expect(model.fetchRequestTemplate(forName: "nothing") == nil)
        #expect(model.fetchRequestFromTemplate(withName: "nothing", substitutionVariables: [:]) == nil)
    }

    // * Two people are stored, one without a name.
    // => Requests of a template find each, the nameless one by NSNull.
    @Test("fetches with values for its variables")
    func substituting() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for name in ["Émile \"É\"", nil] {
                NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue(name, forKey: "name")
            }
            try context.save()
            for (value, name) in [("Émile \"É\"", "Émile \"É\""), (NSNull(), nil)] as [(Any, String?)] {
                let model = coordinator.managedObjectModel
                let request: NSFetchRequest<NSManagedObject>? = model.fetchRequestFromTemplate(
                    withName: "named",
                    substitutionVariables: ["NAME": value]
                )
                let found = try context.fetch(#require(request))
                #expect(found.map { $0.value(forKey: "name") as? String } == [name])
            }
            let plain = coordinator.managedObjectModel.fetchRequestTemplate(forName: "all")
            #expect(try context.count(for: #require(plain)) == 2)
            let unbound = try #require(coordinator.managedObjectModel.fetchRequestTemplate(forName: "named"))
            #expect(throws: (any Error).self) { try context.fetch(unbound) }
        }
    }

    @Test("that was set is a copy, for the entity of the model that is asked")
    func setting() throws {
        let model = try model()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name BEGINSWITH $PREFIX")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        model.setFetchRequestTemplate(request, forName: "prefix")
        request.fetchLimit = 3
        let template = try #require(model.fetchRequestTemplate(forName: "prefix"))
        #expect(template.fetchLimit == 0 && template.entityName == "Person" && template.sortDescriptors?.first?.ascending == false)
        template.fetchLimit = 4
        #expect(model.fetchRequestTemplatesByName["prefix"]?.fetchLimit == 0)
        let typed = NSFetchRequest<NSManagedObject>()
        typed.entity = model.entitiesByName["Person"]
        model.setFetchRequestTemplate(typed, forName: "typed")
        // copy() of a model makes a model.
        let copy = model.copy() as! NSManagedObjectModel
        #expect(copy.fetchRequestTemplate(forName: "typed")?.entity === copy.entitiesByName["Person"])
        #expect(copy.fetchRequestTemplate(forName: "named")?.entity === copy.entitiesByName["Person"])
        model.setFetchRequestTemplate(nil, forName: "typed")
        #expect(model.fetchRequestTemplate(forName: "typed") == nil && copy.fetchRequestTemplatesByName.count == 4)
    }

    @Test("goes along when models are merged")
    func merging() throws {
        let other = NSManagedObjectModel(NSEntityDescription("Dog"))
        other.setFetchRequestTemplate(NSFetchRequest<NSManagedObject>(entityName: "Dog"), forName: "dogs")
        let merged = try #require(NSManagedObjectModel(byMerging: [model(), other]))
        #expect(Set(merged.fetchRequestTemplatesByName.keys) == ["named", "all", "dogs"])
        #expect(merged.fetchRequestTemplate(forName: "named")?.entity === merged.entitiesByName["Person"])
    }

    @Test("of a file that cannot be used here is none: the model works")
    func unusable() throws {
        let model = try model(
            Self.source + #"<fetchRequest name="bad" entity="Person" predicateString="name =="/><fetchRequest name="lost"/>"#
        )
        #expect(model.fetchRequestTemplate(forName: "bad") == nil && model.fetchRequestTemplate(forName: "lost") == nil)
        #expect(Set(model.fetchRequestTemplatesByName.keys) == ["named", "all"])
    }
}
