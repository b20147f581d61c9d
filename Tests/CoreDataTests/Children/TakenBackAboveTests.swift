import Foundation
import Testing

@testable import CoreData

@Suite("A delete in a parent that is taken back after a child has met it")
struct TakenBackAboveTests {
    enum Return: CaseIterable { case rollback, insertion }

    let library: Library
    let parent: NSManagedObjectContext
    let child: NSManagedObjectContext
    let person: Person
    let desk: Desk
    let report: Person

    init() throws {
        library = try Library()
        let writer = library.context
        let (person, desk, report) = (Person(context: writer), Desk(context: writer), Person(context: writer))
        (person.name, person.desk, report.boss) = ("p", desk, person)
        try writer.save()
        parent = library.newContext()
        child = Layers.child(of: parent, "child", .confinementConcurrencyType)
        (self.person, self.desk, self.report) = (person, desk, report)
    }

    private func take(_ kind: Return, back deleted: NSManagedObject) {
        switch kind {
        case .rollback: parent.rollback()
        case .insertion: parent.insert(deleted)
        }
    }

    /// That both ends of the one-to-one relationship, in the file, name one person.
    private func expectWhole(owner name: String) throws {
        let owners = "SELECT ZNAME FROM ZPERSON WHERE Z_PK = (SELECT ZOWNER FROM ZDESK); SELECT ZNAME FROM ZPERSON WHERE ZDESK IS NOT NULL"
        #expect(try library.sql(owners) == "\(name)\n\(name)")
        #expect(!parent.hasChanges && !child.hasChanges)
    }

    @Test("is none in the child's save either", arguments: Return.allCases, [false, true])
    func met(_ kind: Return, isProcessed: Bool) throws {
        let deleted = parent.own(person)
        parent.delete(deleted)
        if isProcessed { parent.processPendingChanges() }
        let (below, theirs, theirReport) = (child.own(person), child.own(desk), child.own(report))
        #expect(below.name == nil && below.isDeleted)
        _ = (theirs.owner, theirReport.boss)
        child.processPendingChanges()
        take(kind, back: deleted)
        theirReport.name = "r"
        try child.save()
        try parent.save()
        try expectWhole(owner: "p")
        #expect(try library.sql("SELECT ZNAME, ZBOSS FROM ZPERSON WHERE Z_PK = \(report.key)") == "r|\(person.key)")
        #expect(below.name == "p" && !below.isDeleted && theirs.owner === below)
        child.refresh(theirReport, mergeChanges: true)
        #expect(theirReport.boss === below)
    }

    @Test("leaves the child's changes to what it had led away", arguments: Return.allCases)
    func changed(_ kind: Return) throws {
        let deleted = parent.own(person)
        parent.delete(deleted)
        parent.processPendingChanges()
        let theirs = child.own(desk)
        #expect(theirs.owner == nil)
        let new = Person(context: child)
        (new.name, theirs.owner) = ("new", new)
        take(kind, back: deleted)
        try child.save()
        try parent.save()
        try expectWhole(owner: "new")
        #expect(child.own(person).desk == nil && theirs.owner === new)
    }

    // * A grandchild meets the delete, and saves what it has changed into the child before the delete is taken back.
    @Test("is none in a layer between either", arguments: Return.allCases)
    func grandchild(_ kind: Return) throws {
        let deleted = parent.own(person)
        parent.delete(deleted)
        parent.processPendingChanges()
        let lowest = Layers.child(of: child, "lowest", .confinementConcurrencyType)
        let (theirs, theirDesk, theirReport) = (lowest.own(person), lowest.own(desk), lowest.own(report))
        let between = (child.own(person), child.own(desk))
        #expect(theirs.name == nil && theirs.isDeleted)
        _ = (theirDesk.owner, theirReport.boss, between.1.owner)
        theirReport.name = "r"
        try lowest.save()
        take(kind, back: deleted)
        try child.save()
        try parent.save()
        try expectWhole(owner: "p")
        #expect(try library.sql("SELECT ZBOSS FROM ZPERSON WHERE Z_PK = \(report.key)") == "\(person.key)")
        #expect(between.0.name == "p" && between.1.owner === between.0)
        #expect(parent.own(person).name == "p")
    }

    @Test("leaves the child's own delete of it standing", arguments: Return.allCases)
    func decided(_ kind: Return) throws {
        let deleted = parent.own(report)
        parent.delete(deleted)
        parent.processPendingChanges()
        child.delete(child.own(report))
        child.processPendingChanges()
        take(kind, back: deleted)
        try child.save()
        try parent.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZPERSON") == "1")
    }

    @Test("gives back whom the child had related to it while it was a fault", arguments: Return.allCases)
    func related(_ kind: Return) throws {
        let deleted = parent.own(person)
        let (below, new) = (child.own(person), Person(context: child))
        (new.name, new.boss) = ("new", below)
        parent.delete(deleted)
        parent.processPendingChanges()
        #expect(below.name == nil && below.isDeleted)
        child.processPendingChanges()
        #expect(new.boss == nil)
        take(kind, back: deleted)
        try child.save()
        try parent.save()
        #expect(try library.sql("SELECT ZBOSS FROM ZPERSON WHERE ZNAME = 'new'") == "\(person.key)")
        #expect(new.boss === below && !below.isDeleted)
    }

    @Test("can be taken back in the child too, where the parent has done so")
    func insertedAgain() throws {
        let below = child.own(person)
        parent.delete(parent.own(person))
        parent.processPendingChanges()
        #expect(below.name == nil && below.isDeleted)
        parent.rollback()
        child.insert(below)
        #expect(!below.isDeleted && below.name == "p")
        below.name = "q"
        try child.save()
        try parent.save()
        #expect(try library.sql("SELECT ZNAME FROM ZPERSON WHERE Z_PK = \(person.key)") == "q")
    }

    @Test("is no second row of what the child has brought back meanwhile", arguments: Return.allCases)
    func writtenAnew(_ kind: Return) throws {
        let (below, deleted) = (child.own(report), parent.own(report))
        #expect(below.boss === child.own(person))
        child.delete(below)
        child.processPendingChanges()
        parent.delete(deleted)
        parent.processPendingChanges()
        child.insert(below)
        below.name = "back"
        take(kind, back: deleted)
        try child.save()
        try parent.save()
        #expect(try library.sql("SELECT ZNAME, ZBOSS FROM ZPERSON WHERE Z_PK = \(report.key)") == "back|\(person.key)")
    }
}
