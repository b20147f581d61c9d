import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("An order that is changed by who has not read it")
struct UnreadMembersTests {
    private typealias Members = NSManagedObject.OrderedToMany<NSManagedObject>

    /// Lists with entries that know their list, and with entries that do not.
    private static func model() -> NSManagedObjectModel {
        let (list, entry) = (NSEntityDescription("List", attribute("name")), NSEntityDescription("Entry", attribute("name")))
        list.relate("loose", to: entry, many: true, ordered: true)
        let kept = LibraryModel.relate(list, "kept", toMany: true, .nullifyDeleteRule, entry, "list", toMany: false, .nullifyDeleteRule)
        kept.isOrdered = true
        return NSManagedObjectModel(list, entry)
    }

    /// Inserts lists by their names, with entries of one relationship by theirs.
    private func insert(_ lists: [(String, [String])], _ relationship: String, _ context: NSManagedObjectContext) {
        for (name, entries) in lists {
            let list = new("List", name, context)
            list.setValue(NSOrderedSet(array: entries.map { new("Entry", $0, context) }), forKey: relationship)
        }
    }

    @discardableResult private func new(_ entity: String, _ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
    }

    private func find(_ entity: String, _ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
        return try #require(all.first { $0.value(forKey: "name") as? String == name })
    }

    private func names(_ list: String, _ relationship: String, _ context: NSManagedObjectContext) throws -> [String?] {
        let members = try find("List", list, context).value(forKey: relationship) as? NSOrderedSet
        return try #require(members).array.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
    }

    private func child(of context: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        return child
    }

    private static let kinds: [ContractKind] = [.file, .memory, .binary, .dictionary]

    @Test("has at its end who came without an inverse, one after the other, wherever they were before", arguments: kinds)
    func loose(_ kind: ContractKind) throws {
        let home = try ContractHome(kind, model: Self.model())
        let first = try home.open()
        insert([("A", ["a", "b"]), ("B", ["c", "d"])], "loose", first)
        new("Entry", "e", first)
        try first.save()

        let context = try home.reopened(first)
        let loose = Members("loose")
        let (moved, free) = (try find("Entry", "a", context), try find("Entry", "e", context))
        try find("List", "A", context).remove(moved, from: loose)
        for entry in [free, moved] { try find("List", "B", context).add(entry, to: loose) }
        try context.save()

        let other = try home.reopened(context)
        #expect(try names("A", "loose", other) == ["b"])
        #expect(try names("B", "loose", other) == ["c", "d", "e", "a"])
    }

    @Test("has at its end who was taken out and put back", arguments: kinds, [true, false])
    func returned(_ kind: ContractKind, _ isInChild: Bool) throws {
        let home = try ContractHome(kind, model: Self.model())
        let first = try home.open()
        insert([("A", ["a", "b", "c"])], "kept", first)
        try first.save()

        let top = try home.reopened(first)
        let context = isInChild ? child(of: top) : top
        let (list, entry) = (try find("List", "A", context), try find("Entry", "a", context))
        list.remove(entry, from: Members("kept"))
        list.add(entry, to: Members("kept"))
        try context.save()
        if isInChild { try top.save() }
        #expect(try names("A", "kept", home.reopened(top)) == ["b", "c", "a"])
    }

    // * A context puts a member elsewhere while a child of it has it where it was, and has put it there once more.
    // => What the child saves says nothing about where it is.
    @Test("has nobody who was put elsewhere meanwhile", arguments: kinds)
    func elsewhere(_ kind: ContractKind) throws {
        let home = try ContractHome(kind, model: Self.model())
        let top = try home.open()
        insert([("A", []), ("B", [])], "kept", top)
        new("Entry", "a", top)
        let middle = child(of: top)
        let entry = try find("Entry", "a", middle)
        entry.setValue(try find("List", "A", middle), forKey: "list")
        let bottom = child(of: middle)
        try find("List", "A", bottom).add(find("Entry", "a", bottom), to: Members("kept"))
        entry.setValue(try find("List", "B", middle), forKey: "list")
        for context in [bottom, middle, top] { try context.save() }

        #expect(try ["A", "B"].map { try names($0, "kept", top) } == [[], ["a"]])
        let other = try home.reopened(top)
        #expect(try ["A", "B"].map { try names($0, "kept", other) } == [[], ["a"]])
    }

    // * A child relates what it has related and saved before; the context above has let go of it.
    // => What is in the store is what the child has seen, whichever version that has there.
    @Test("is no conflict for the child that has saved it", arguments: kinds, [(true, true), (true, false), (false, true), (false, false)])
    func again(_ kind: ContractKind, _ now: (isSaved: Bool, isDeleted: Bool)) throws {
        let home = try ContractHome(kind, model: Self.model())
        let top = try home.open()
        insert([("A", []), ("B", [])], "kept", top)
        new("Entry", "a", top)
        if now.isSaved { try top.save() }
        let context = child(of: top)
        let (entry, lists) = (try find("Entry", "a", context), try ["A", "B"].map { try find("List", $0, context) })
        entry.setValue(lists[0], forKey: "list")
        for context in [context, top] { try context.save() }
        if now.isDeleted { context.delete(entry) } else { entry.setValue(lists[1], forKey: "list") }
        for context in [context, top] { try context.save() }

        let other = try home.reopened(top)
        #expect(try names("A", "kept", other) == [])
        #expect(try names("B", "kept", other) == (now.isDeleted ? [] : ["a"]))
    }
}
