import Foundation
import Testing

@testable import CoreData

@Suite("What is written of relationships that the saving context does not know")
struct ReopenedEndsTests {
    private static let kinds = [ContractKind.file, .binary, .xml, .csv]

    /// Two relationships without inverse, one of them ordered, and one with.
    private static func model() -> NSManagedObjectModel {
        let (owner, member) = (NSEntityDescription("Owner", attribute("name")), NSEntityDescription("Member", attribute("name")))
        owner.relate("many", to: member, many: true)
        owner.relate("list", to: member, many: true, ordered: true)
        return NSManagedObjectModel(owner, member)
    }

    private func insert(_ entity: String, _ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
    }

    private func members(_ owner: NSManagedObject, _ key: String) -> [String] {
        let value = owner.value(forKey: key)
        let members = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
        return members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.sorted()
    }

    private func owners(_ context: NSManagedObjectContext, _ key: String) throws -> [String: [String]] {
        let owners = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner"))
        return Dictionary(uniqueKeysWithValues: owners.map { ($0.value(forKey: "name") as? String ?? "", members($0, key)) })
    }

    @Test("names nobody whom the save deletes, though another context has related him meanwhile", arguments: kinds)
    func deletedPartner(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let first = try home.open()
        let (book, tag) = (Book(context: first), Tag(context: first))
        book.title = "book"
        try first.save()
        let second = try home.context(on: #require(first.persistentStoreCoordinator))
        second.mergePolicy = NSMergePolicy.overwrite
        let other: Book = try #require(try second.all(Book.self).first)
        let otherTag: Tag = try #require(try second.all(Tag.self).first)
        book.mutableSetValue(forKey: "tags").add(tag)
        try first.save()
        other.mutableSetValue(forKey: "tags").add(otherTag)
        second.delete(other)
        try second.save()

        let reopened = try home.reopened(second)
        #expect(try reopened.all(Book.self).isEmpty)
        #expect(try reopened.all(Tag.self).first?.mutableSetValue(forKey: "books").count == 0)
    }

    @Test("follows a member that another owner takes, in the store, in its file and in the context", arguments: kinds, ["many", "list"])
    func takenMember(_ kind: ContractKind, _ key: String) throws {
        let home = try ContractHome(kind, model: Self.model())
        let context = try home.open()
        let taker = insert("Owner", "taker", context)
        try context.save()
        let former = insert("Owner", "former", context)
        let names = [insert("Member", "a", context), insert("Member", "b", context)]
        func set(_ owner: NSManagedObject, _ members: [NSManagedObject]) {
            owner.setValue(key == "list" ? NSOrderedSet(array: members) : NSSet(array: members), forKey: key)
        }
        set(former, names)
        try context.save()
        set(taker, [names[0]])
        try context.save()

        let due = ["taker": ["a"], "former": ["b"]]
        #expect(try owners(context, key) == due)
        #expect(!context.hasChanges)
        #expect(try owners(home.context(on: #require(context.persistentStoreCoordinator)), key) == due)
        #expect(try owners(home.reopened(context), key) == due)
    }

    @Test("keeps what an owner has put in and took back before the save")
    func returnedMember() throws {
        let home = try ContractHome(.binary, model: Self.model())
        let context = try home.open()
        let (owner, member) = (insert("Owner", "owner", context), insert("Member", "a", context))
        owner.setValue(NSSet(object: member), forKey: "many")
        try context.save()
        owner.setValue(NSSet(), forKey: "many")
        owner.setValue(NSSet(object: member), forKey: "many")
        owner.setValue("again", forKey: "name")
        try context.save()
        #expect(try owners(context, "many") == ["again": ["a"]])
        #expect(try owners(home.reopened(context), "many") == ["again": ["a"]])
    }

    @Test("gives a member that two contexts have led elsewhere to the owner whom the last save named", arguments: kinds)
    func movedMember(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let first = try home.open()
        let (a, b, book) = (Author(context: first), Author(context: first), Book(context: first))
        (a.name, b.name, book.title, book.author) = ("a", "b", "book", a)
        try first.save()
        let second = try home.context(on: #require(first.persistentStoreCoordinator))
        second.mergePolicy = NSMergePolicy.overwrite
        let other: Book = try #require(try second.all(Book.self).first)
        _ = other.author?.name
        book.author = b
        try first.save()
        other.author = nil
        try second.save()
        let reopened = try home.reopened(second)
        #expect(try reopened.all(Book.self).first?.author == nil)
    }
}
