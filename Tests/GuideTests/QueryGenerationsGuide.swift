import CoreData
import TestSupport
import Testing

@Suite("The guide to query generations")
struct QueryGenerationsGuide {
    private func saveElsewhere(_ type: Contact.Type, in container: NSPersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            Contact(context: context).email = "\(UUID())@x.org"
            try context.save()
        }
    }

    private func standsStill(_ container: NSPersistentContainer) async throws -> Bool {
        let context = container.newBackgroundContext()
        return try await context.perform {
            try context.setQueryGenerationFrom(.current)
            let request = NSFetchRequest<Contact>(entityName: "Contact")
            let count = try context.count(for: request)
            try saveElsewhere(Contact.self, in: container)
            // As many as there were, and each with the values that it had.
            return try context.fetch(request).count == count
        }
    }

    private func count(afterMoving context: NSManagedObjectContext) async throws -> Int {
        try await context.perform {
            try context.setQueryGenerationFrom(.current)
            context.refreshAllObjects()
            return try context.count(for: NSFetchRequest<Contact>(entityName: "Contact"))
        }
    }

    private func pin(_ reader: NSManagedObjectContext, _ second: NSManagedObjectContext) async throws {
        let token = try await reader.perform {
            try reader.setQueryGenerationFrom(.current)
            return reader.queryGenerationToken
        }
        try await second.perform { try second.setQueryGenerationFrom(token) }
    }

    @Test("has a context that stands still, moves on, and shares its state")
    func guide() async throws {
        let folder = try TemporaryFolder()
        let container = NSPersistentContainer(name: "Contacts", managedObjectModel: ContactModel.make())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.file("Contacts.sqlite"))]
        try await container.loadPersistentStores()
        #expect(try await standsStill(container))
        let (reader, second) = (container.newBackgroundContext(), container.newBackgroundContext())
        try await pin(reader, second)
        try saveElsewhere(Contact.self, in: container)
        #expect(try await count(afterMoving: second) == 2)
    }
}
