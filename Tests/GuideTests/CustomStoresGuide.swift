import CoreData
import Foundation
import TestSupport
import Testing

/// Contacts in a JSON file.
final class ContactFile: NSAtomicStore {
    private struct Contents: Codable {
        var uuid = UUID().uuidString
        var contacts: [String: [String: String]] = [:]
    }
    private var contents = Contents()

    override func loadMetadata() throws {
        if let url, FileManager.default.fileExists(atPath: url.path) {
            contents = try JSONDecoder().decode(Contents.self, from: Data(contentsOf: url))
        }
        metadata = [NSStoreTypeKey: "Contacts", NSStoreUUIDKey: contents.uuid]
    }

    override func load() throws {
        guard let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName["Contact"] else { return }
        for (id, values) in contents.contacts {
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: id))
            for (key, value) in values { node.setValue(value, forKey: key) }
            addCacheNodes([node])
        }
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    override func save() throws {
        guard let url else { return }
        contents.contacts = [:]
        for node in cacheNodes() {
            let values = ["name", "email"].map { ($0, node.value(forKey: $0) as? String) }
            contents.contacts["\(referenceObject(for: node.objectID))"] = Dictionary(uniqueKeysWithValues: values).compactMapValues { $0 }
        }
        try JSONEncoder().encode(contents).write(to: url, options: .atomic)
    }
}

@Suite("The guide to stores of one's own")
struct CustomStoresGuide {
    private static func context(_ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ContactModel.make())
        NSPersistentStoreCoordinator.registerStoreClass(ContactFile.self, forStoreType: "Contacts")
        try coordinator.addPersistentStore(ofType: "Contacts", configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("has a store in forty lines that keeps what was saved, under the same IDs")
    func keeps() async throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("contacts.json")
        let context = try Self.context(url)
        let ids = try await context.perform {
            for (name, email) in [("Ann", "a@x.org"), ("Ben", nil)] {
                let contact = Contact(context: context)
                (contact.name, contact.email) = (name, email)
            }
            try context.save()
            return try context.fetch(Self.byName).map { $0.objectID.uriRepresentation() }
        }
        let again = try Self.context(url)
        try await again.perform {
            let found = try again.fetch(Self.byName)
            #expect(found.map(\.name) == ["Ann", "Ben"] && found.map(\.email) == ["a@x.org", nil])
            #expect(found.map { $0.objectID.uriRepresentation() } == ids)
        }
    }

    private static var byName: NSFetchRequest<Contact> {
        let request = NSFetchRequest<Contact>(entityName: "Contact")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }
}
