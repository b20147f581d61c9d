import CoreData
import Testing

@Suite("The guide to testing")
struct TestingGuide {
    static func emptyContainer() async throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Contacts", managedObjectModel: ContactModel.make())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        try await container.loadPersistentStores()
        return container
    }

    @Test func countsContacts() async throws {
        let context = try await TestingGuide.emptyContainer().newBackgroundContext()
        try await context.perform {
            _ = Contact(context: context)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<Contact>(entityName: "Contact")) == 1)
        }
    }

    static func preview() async throws -> NSPersistentContainer {
        let container = try await emptyContainer()
        await container.viewContext.perform {
            for name in ["Ann", "Ben", "Eve"] {
                let contact = Contact(context: container.viewContext)
                contact.name = name
            }
        }
        return container
    }

    @Test("shows a store that each test has for itself, with what a preview needs")
    func previews() async throws {
        let container = try await TestingGuide.preview()
        let other = try await TestingGuide.emptyContainer()
        #expect(try await Self.count(container.viewContext) == 3)
        #expect(try await Self.count(other.viewContext) == 0)
    }

    private static func count(_ context: NSManagedObjectContext) async throws -> Int {
        try await context.perform { try context.count(for: NSFetchRequest<Contact>(entityName: "Contact")) }
    }
}
