import Foundation
import Testing

@testable import CoreData

@Suite("A delete of an object to which others have related somebody since")
struct OvertakenDeleteTests {
    /// A boss who is deleted in the first context, and somebody who reports to him since, by the second; neither is held there.
    private func deletedBoss(_ kind: ContractKind, _ policy: NSMergePolicy) throws -> (ContractHome, NSManagedObjectContext) {
        let home = try ContractHome(kind)
        let coordinator = try home.coordinator()
        let (first, second) = (home.context(on: coordinator), home.context(on: coordinator))
        first.mergePolicy = policy
        for name in ["boss", "report"] { Person(context: first).name = name }
        try first.save()
        first.delete(try #require(try first.all(Person.self, where: "name == 'boss'").first))
        first.processPendingChanges()
        let (boss, report) = (try second.all(Person.self, where: "name == 'boss'"), try second.all(Person.self, where: "name == 'report'"))
        report.first?.boss = boss.first
        try second.save()
        return (home, first)
    }

    /// Who is there, and who says that he has a boss, in what was saved.
    private func saved(_ home: ContractHome, _ context: NSManagedObjectContext) throws -> (names: [String?], led: [String?]) {
        let reader = try home.reopened(context)
        let people = try reader.all(Person.self, sortedBy: "name")
        return (people.map(\.name), people.filter { $0.value(forKey: "boss") != nil }.map(\.name))
    }

    @Test("leaves nobody who refers to what is gone, where it wins", arguments: ContractKind.allCases)
    func wins(_ kind: ContractKind) throws {
        let (home, context) = try deletedBoss(kind, .mergeByPropertyObjectTrump)
        try context.save()
        let report = try #require(try context.all(Person.self).first)
        #expect(report.boss == nil && !context.hasChanges)
        if kind == .dictionary {
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? DictionaryStore)
            #expect(store.service.entries.values.map { $0.ends["boss"] } == [[]])
        }
        let (names, led) = try saved(home, context)
        #expect(names == ["report"] && led == [])
    }

    @Test("is a conflict where nothing is to win", arguments: ContractKind.allCases)
    func conflict(_ kind: ContractKind) throws {
        let (home, context) = try deletedBoss(kind, .error)
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectMerge)
        let (names, led) = try saved(home, context)
        #expect(names == ["boss", "report"] && led == ["report"])
    }

    @Test("is taken back where what is saved wins", arguments: ContractKind.allCases)
    func loses(_ kind: ContractKind) throws {
        let (home, context) = try deletedBoss(kind, .mergeByPropertyStoreTrump)
        try context.save()
        let (names, led) = try saved(home, context)
        #expect(names == ["boss", "report"] && led == ["report"])
    }

    // * All are fetched, and deleted without a look at them. Before that is saved, others save over one, or relate somebody to him.
    // => The delete was decided on what was there then.
    @Test("is a conflict also where the object was fetched and never read", arguments: ContractKind.allCases, [false, true])
    func unread(_ kind: ContractKind, inChild: Bool) throws {
        let home = try ContractHome(kind)
        let coordinator = try home.coordinator()
        let (root, other) = (home.context(on: coordinator), home.context(on: coordinator))
        let people = ["boss", "report"].map { _ in Person(context: other) }
        try other.save()
        let boss = people[0].objectID
        let context = inChild ? Layers.child(of: root, "child") : root
        for change in [{ people[0].name = "other" }, { people[1].boss = people[0] }] {
            let all = try context.fetch(NSFetchRequest<Person>(entityName: "Person"))
            for person in all where person.objectID == boss { context.delete(person) }
            change()
            try other.save()
            let error = #expect(throws: CocoaError.self) { for context in sequence(first: context, next: \.parent) { try context.save() } }
            #expect(error?.code == .managedObjectMerge)
            for context in sequence(first: context, next: \.parent) { context.reset() }
        }
        #expect(try home.reopened(other).all(Person.self).count == 2)
    }

    // * What a service keeps changes on the other machine, of which no context hears: somebody reports to the boss since.
    @Test("is a conflict also where the service itself has related him")
    func service() throws {
        let home = try ContractHome(.dictionary)
        let context = try home.open()
        let (boss, report) = (Person(context: context), Person(context: context))
        try context.save()
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? DictionaryStore)
        let (bossName, reportName) = ("\(store.referenceObject(for: boss.objectID))", "\(store.referenceObject(for: report.objectID))")
        context.delete(boss)
        context.processPendingChanges()
        context.refresh(report, mergeChanges: false)
        let other = try home.context(on: #require(context.persistentStoreCoordinator))
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: [report.objectID]], into: [other])
        store.service.change { entries in
            entries[reportName]?.ends["boss"] = [bossName]
            entries[bossName]?.ends["reports"] = [reportName]
        }
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(store.service.entries.count == 2)
    }
}
