import TestSupport
import Testing

@testable import CoreData

@Suite("What an incremental store is to write")
struct SavedMembersTests {
    /// Relationships that no delete rule of the other end takes anything out of: nothing leads back, or back without a rule.
    private static func model() -> NSManagedObjectModel {
        let (list, entry) = (NSEntityDescription("List", attribute("name")), NSEntityDescription("Entry", attribute("name")))
        list.relate("entries", to: entry, many: true)
        list.relate("ordered", to: entry, many: true, ordered: true)
        LibraryModel.relate(list, "kept", toMany: true, .nullifyDeleteRule, entry, "list", toMany: false, .noActionDeleteRule)
        LibraryModel.relate(list, "pairs", toMany: true, .nullifyDeleteRule, entry, "lists", toMany: true, .noActionDeleteRule)
        return NSManagedObjectModel(list, entry)
    }

    @Test("names in no to-many relationship what the same save deletes", arguments: [true, false], [true, false])
    func members(_ hasRead: Bool, _ isFresh: Bool) throws {
        let home = try ContractHome(.dictionary, model: Self.model())
        var context = try home.open()
        let list = NSEntityDescription.insertNewObject(forEntityName: "List", into: context)
        let entries = ["a", "b"].map { name in
            let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
            entry.setValue(name, forKey: "name")
            return entry
        }
        let names = ["entries", "kept", "ordered", "pairs"]
        for name in names { list.setValue(name == "ordered" ? NSOrderedSet(array: entries) : NSSet(array: entries), forKey: name) }
        try context.save()
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? DictionaryStore)
        let goes = store.referenceObject(for: entries[0].objectID) as? String ?? "?"
        let stays = store.referenceObject(for: entries[1].objectID) as? String ?? "?"
        let ids = (list.objectID, entries[0].objectID)

        if isFresh { context = try home.context(on: #require(context.persistentStoreCoordinator)) }
        let owner = context.object(with: ids.0)
        if hasRead { for name in names { _ = owner.objectIDs(forRelationshipNamed: name) } }
        owner.setValue("changed", forKey: "name")
        context.delete(context.object(with: ids.1))
        try context.save()

        let written = try #require(store.service.entries.values.first { $0.entity == "List" })
        for name in names { #expect(written.ends[name] == [stays], "\(name)") }
        #expect(written.values["name"] as? String == "changed" && store.service.entries[goes] == nil)
    }

    // * The context has read the books of an author before others gave it one; it deletes that book, or takes it away from the author.
    @Test("are also lists that others have put somebody into since they were read here", arguments: [true, false])
    func lists(_ deletes: Bool) throws {
        let home = try ContractHome(.dictionary)
        let coordinator = try home.coordinator()
        let (first, second) = (home.context(on: coordinator), home.context(on: coordinator))
        first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let (author, book) = (Author(context: first), Book(context: first))
        (author.name, book.title) = ("A", "B")
        try first.save()
        #expect(author.books.isEmpty)
        let (writer, written) = (try second.all(Author.self), try second.all(Book.self))
        written.first?.author = writer.first
        try second.save()
        first.refresh(book, mergeChanges: true)
        #expect(book.author === author && author.books.isEmpty)
        if deletes { first.delete(book) } else { book.author = nil }
        try first.save()
        let store = try #require(coordinator.persistentStores.first as? DictionaryStore)
        #expect(store.service.entries.values.filter { $0.entity == "Author" }.map { $0.ends["books"] } == [[]])
    }
}
