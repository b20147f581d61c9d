import CoreData
import Testing

@Suite("The guide to uniqueness")
struct UniquenessGuide {
    private static func upsert(_ rows: [(email: String, name: String)], into container: NSPersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for row in rows {
                let contact = Contact(context: context)
                contact.email = row.email
                contact.name = row.name
            }
            try context.save()
        }
    }

    private static func add(_ email: String, to context: NSManagedObjectContext) throws -> [String] {
        let contact = Contact(context: context)
        contact.email = email
        do {
            try context.save()
            return []
        } catch let error as CocoaError where error.code == .managedObjectConstraintMerge {
            context.delete(contact)
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
            return conflicts.flatMap(\.constraint)
        }
    }

    @Test("has an upsert that changes the row which is there, and an error that names the constraint")
    func upserts() async throws {
        let container = try await TestingGuide.emptyContainer()
        try await Self.upsert([("a@x.org", "Ann"), ("b@x.org", "Ben")], into: container)
        try await Self.upsert([("a@x.org", "Anna"), ("c@x.org", "Cleo")], into: container)
        let context = container.newBackgroundContext()
        let (names, refused, added) = try await context.perform {
            let request = NSFetchRequest<Contact>(entityName: "Contact")
            request.sortDescriptors = [NSSortDescriptor(key: "email", ascending: true)]
            let names = try context.fetch(request).map(\.name)
            return (names, try Self.add("b@x.org", to: context), try Self.add("d@x.org", to: context))
        }
        #expect(names == ["Anna", "Ben", "Cleo"] && refused == ["email"] && added == [])
    }
}
