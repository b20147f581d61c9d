import Foundation
import Testing

@testable import CoreData

@Suite("Relationships across layers")
struct ChildRelationshipTests {
    let layers: Layers
    var library: Library { layers.library }

    init() throws { layers = try Layers() }

    @Test("keep both sides in every layer, for objects new, saved and mixed")
    func inverses() throws {
        let (root, main, worker) = (layers.root, layers.main, layers.worker)
        let author = Author(context: main)
        author.name = "a"
        #expect(author.books.isEmpty)
        try main.save()
        let child = worker.own(author)
        let new = layers.book("new", in: worker)
        new.author = child
        try worker.save()
        #expect(author.books.map(\.title) == ["new"] && author.books.first?.author === author)
        try layers.saveAll()
        let second = layers.book("second", in: worker)
        child.addToBooks(second)
        child.removeFromBooks(new)
        try worker.save()
        #expect(author.books.map(\.title) == ["second"])
        #expect(main.own(new).author == nil)
        try layers.saveAll()
        #expect(root.own(author).books.map(\.title) == ["second"])
        #expect(try library.sql("SELECT ZTITLE, ZAUTHOR IS NULL FROM ZBOOK ORDER BY ZTITLE") == "new|1\nsecond|0")
    }

    @Test("many to many, both ways")
    func manyToMany() throws {
        let (main, worker, other) = (layers.main, layers.worker, layers.newWorker())
        let first = layers.book("b", in: main)
        let tag = Tag(context: main)
        tag.label = "t"
        try layers.saveAll()
        let new = Tag(context: worker)
        new.label = "u"
        worker.own(first).tags = [worker.own(tag), new]
        let more = layers.book("c", in: other)
        other.own(tag).books = [more]
        try worker.save()
        try other.save()
        #expect(Set(first.tags.map(\.label)) == ["t", "u"])
        #expect(Set(tag.books.map(\.title)) == ["b", "c"])
        try layers.saveAll()
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "3")
        worker.own(first).tags = []
        try layers.saveAll()
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "1")
    }

    @Test("one to one: a partner taken over is released everywhere")
    func oneToOne() throws {
        let (main, worker) = (layers.main, layers.worker)
        let (one, two) = (Person(context: main), Person(context: main))
        (one.name, two.name) = ("one", "two")
        let desk = Desk(context: main)
        (desk.room, one.desk) = ("r", desk)
        try layers.saveAll()
        worker.own(two).desk = worker.own(desk)
        try worker.save()
        #expect(one.desk == nil && two.desk === desk && desk.owner === two)
        try layers.saveAll()
        #expect(try library.sql("SELECT ZNAME FROM ZPERSON JOIN ZDESK ON ZDESK.ZOWNER = ZPERSON.Z_PK") == "two")
    }

    @Test("ordered: two children's edits both survive; order is the later one's, new ones come behind")
    func ordered() throws {
        let (main, worker, other) = (layers.main, layers.worker, layers.newWorker())
        let book = layers.book("b", in: main)
        book.chapters = ["1", "2", "3"].map {
            let chapter = Chapter(context: main)
            chapter.heading = $0
            return chapter
        }
        try layers.saveAll()
        let (mine, theirs) = (worker.own(book), other.own(book))
        #expect(mine.chapters.map(\.heading) == ["1", "2", "3"])
        #expect(theirs.chapters.count == 3)
        let four = Chapter(context: other)
        four.heading = "4"
        theirs.chapters.append(four)
        try other.save()
        #expect(book.chapters.map(\.heading) == ["1", "2", "3", "4"])
        mine.chapters = mine.chapters.reversed()
        try worker.save()
        #expect(book.chapters.map(\.heading) == ["3", "2", "1", "4"])
        try layers.saveAll()
        let reader = try library.separateContext()
        let read = try #require(try reader.one(Book.self))
        #expect(read.chapters.map(\.heading) == ["3", "2", "1", "4"])
    }

    @Test("ordered: members appended by a child that never read them keep the order of the appends")
    func appends() throws {
        let (main, worker) = (layers.main, layers.worker)
        let book = layers.book("b", in: main)
        try layers.saveAll()
        let child = worker.own(book)
        for heading in ["z", "a", "m"] {
            let chapter = Chapter(context: worker)
            chapter.heading = heading
            chapter.book = child
        }
        try layers.saveAll()
        let reader = try library.separateContext()
        let read = try #require(try reader.one(Book.self))
        #expect(read.chapters.map(\.heading) == ["z", "a", "m"])
        #expect(book.chapters.map(\.heading) == ["z", "a", "m"])
    }

    @Test("a pushed delete cascades to what only the parent knows")
    func cascades() throws {
        let (main, worker, other) = (layers.main, layers.worker, layers.newWorker())
        let author = Author(context: main)
        author.name = "a"
        try layers.saveAll()
        worker.delete(worker.own(author))
        let added = layers.book("by another", in: other)
        added.author = other.own(author)
        try other.save()
        try worker.save()
        #expect(try main.all(Book.self).isEmpty)
        try layers.saveAll()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK") == "0")
        #expect(try library.sql("SELECT COUNT(*) FROM ZPERSON") == "0")
    }

    @Test("what is added to an owner that the parent has deleted follows the owner's delete rule")
    func addedToDeleted() throws {
        let (main, worker) = (layers.main, layers.worker)
        let author = Author(context: main)
        author.name = "a"
        try layers.saveAll()
        let child = worker.own(author)
        let added = layers.book("late", in: worker)
        added.author = child
        main.delete(author)
        main.processPendingChanges()
        try worker.save()
        #expect(try main.all(Book.self).isEmpty)
        try layers.saveAll()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK") == "0")
    }

    @Test("a pushed nullify reaches members that the parent has realised")
    func nullifies() throws {
        let (main, worker) = (layers.main, layers.worker)
        let boss = Person(context: main)
        boss.name = "boss"
        let report = Person(context: main)
        (report.name, report.boss) = ("report", boss)
        try layers.saveAll()
        #expect(boss.reports.count == 1)
        worker.delete(worker.own(boss))
        try worker.save()
        #expect(report.boss == nil)
        try layers.saveAll()
        #expect(try library.sql("SELECT ZNAME, ZBOSS IS NULL FROM ZPERSON") == "report|1")
    }

    @Test(
        "a pushed delete takes the object out of lists that were put together in the parent, though its own end was forgotten there",
        arguments: [("kids", "elders"), ("elders", "kids")],
        [true, false]
    )
    func deletesForgottenMembers(keys: (String, String), isOrdered: Bool) throws {
        let stage = try Stage {
            let node = LibraryModel.entity("Node", NSManagedObject.self, [])
            let kids = LibraryModel.relate(node, "kids", toMany: true, .nullifyDeleteRule, node, "elders", toMany: true, .nullifyDeleteRule)
            kids.isOrdered = isOrdered
            kids.inverseRelationship?.isOrdered = isOrdered
            return [node]
        }
        let main = Layers.child(of: stage.context, "main")
        let worker = Layers.child(of: main, "worker")
        let (owner, member) = (
            NSEntityDescription.insertNewObject(forEntityName: "Node", into: main),
            NSEntityDescription.insertNewObject(forEntityName: "Node", into: main)
        )
        owner.addMember(member, to: try #require(owner.entity.relationshipsByName[keys.0]?.toManyIndex))
        try main.save()
        main.refresh(member, mergeChanges: true)
        worker.delete(worker.own(member))
        worker.processPendingChanges()
        // The worker has nothing to save of the list, just the delete.
        worker.refresh(worker.own(owner), mergeChanges: false)
        try worker.save()
        #expect(owner.members(of: try #require(owner.entity.relationshipsByName[keys.0]?.toManyIndex)).isEmpty)
        try main.save()
        try stage.context.save()
        #expect(try stage.sql("SELECT COUNT(*) FROM ZNODE; SELECT COUNT(*) FROM Z_1KIDS") == "1\n0")
    }
}
