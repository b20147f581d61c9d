import CoreData
import CoreDataStack
import Foundation
import Testing

@Suite("The guide to importing")
struct ImportingGuide {
    private static func insert(_ lines: [(name: String, email: String)], into context: NSManagedObjectContext) throws {
        var lines = lines.makeIterator()
        let request = NSBatchInsertRequest(entityName: "Contact") { (object: NSManagedObject) -> Bool in
            guard let line = lines.next(), let contact = object as? Contact else { return true }
            contact.name = line.name
            contact.email = line.email
            return false
        }
        try context.execute(request)
    }

    private static func update(_ team: Team, in context: NSManagedObjectContext) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: "Contact")
        request.predicate = NSPredicate(format: "team.name == %@", "Old")
        request.propertiesToUpdate = ["age": NSExpression(format: "age + 1"), "team": team.objectID]
        request.resultType = .updatedObjectsCountResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        return result?.result as? Int ?? 0
    }

    private static func delete(before date: Date, in context: NSManagedObjectContext) throws {
        let old = NSFetchRequest<Contact>(entityName: "Contact")
        old.predicate = NSPredicate(format: "created < %@", date as NSDate)
        let request = NSBatchDeleteRequest(fetchRequest: old)
        request.resultType = .resultTypeObjectIDs
        let result = try context.execute(request) as? NSBatchDeleteResult
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: result?.changedObjectIDs ?? [:], into: [context])
    }

    private static func ageAll(in context: NSManagedObjectContext) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: "Contact")
        let notFree = NSPredicate { object, _ in (object as? Contact)?.email?.hasSuffix("@free.org") == false }
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "team == nil"), notFree])
        request.propertiesToUpdate = ["age": 50]
        request.resultType = .updatedObjectsCountResultType
        return (try context.execute(request) as? NSBatchUpdateResult)?.result as? Int ?? 0
    }

    @Test("inserts, upserts, updates and deletes")
    func requests() async throws {
        let container = try await TestingGuide.emptyContainer()
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try await context.perform {
            try Self.insert([("Ann", "a@x.org"), ("Ben", "b@x.org")], into: context)
            try Self.insert([("Anna", "a@x.org")], into: context)
            let (old, new) = (Team(context: context), Team(context: context))
            (old.name, new.name) = ("Old", "New")
            let contacts = try context.fetch(NSFetchRequest<Contact>(entityName: "Contact"))
            #expect(Set(contacts.map(\.name)) == ["Anna", "Ben"])
            (contacts[0].team, contacts[0].age) = (old, 41)
            try context.save()
            #expect(try Self.update(new, in: context) == 1)
            context.refreshAllObjects()
            #expect(contacts[0].team === new && contacts[0].age == 42)
            try Self.insert([("Cy", "c@free.org")], into: context)
            #expect(try Self.ageAll(in: context) == 1)
            _ = Contact(context: context)
            try context.save()
            try Self.delete(before: Date(timeIntervalSinceNow: 60), in: context)
            #expect(try context.count(for: NSFetchRequest<Contact>(entityName: "Contact")) == 3)
        }
    }

    @Test("has one call for a stack")
    func stack() async throws {
        let stack = try CoreDataStack.constructInMemoryStack(model: ContactModel.make())
        let request = NSBatchInsertRequest(entityName: "Contact", objects: [["name": "Ann", "email": "ann@x.org"]])
        try await stack.executeBatch(request)
        let main = stack.mainQueueContext
        #expect(try await main.perform { try main.count(for: NSFetchRequest<Contact>(entityName: "Contact")) } == 1)
    }
}
