import Foundation
import Testing

@testable import CoreData

@Suite("A fetched results controller")
struct FetchedResultsControllerTests {
    private let library: Library
    private var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library(.memory) }

    @discardableResult
    private func book(_ title: String, _ pages: Int32 = 1, in context: NSManagedObjectContext? = nil) -> Book {
        let book = Book(context: context ?? self.context)
        (book.title, book.pages) = (title, pages)
        return book
    }

    private func request(_ predicate: String? = nil, by keys: String...) -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = predicate.map { NSPredicate(format: $0) }
        request.sortDescriptors = (keys.isEmpty ? ["title"] : keys).map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    private func controller(_ request: NSFetchRequest<Book>, sections: String? = nil) -> NSFetchedResultsController<Book> {
        NSFetchedResultsController(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: "any")
    }

    private func followed(
        _ request: NSFetchRequest<Book>,
        sections: String? = nil
    ) throws -> (controller: NSFetchedResultsController<Book>, mirror: CallMirror) {
        let (controller, mirror) = (controller(request, sections: sections), CallMirror())
        controller.delegate = mirror
        try controller.performFetch()
        mirror.start(controller)
        return (controller, mirror)
    }

    @Test("has nothing before its first fetch, then objects in sections with index titles")
    func sections() throws {
        for (title, pages) in [("alpha", 1), ("beta", 2), ("gamma", 2)] { book(title, Int32(pages)) }
        let controller = controller(request(by: "pages", "title"), sections: "pages")
        #expect(controller.fetchedObjects == nil && controller.sections == nil)
        try controller.performFetch()
        #expect(controller.titles == [#"1: ["alpha"]"#, #"2: ["beta", "gamma"]"#])
        #expect(controller.sections?.map(\.numberOfObjects) == [1, 2])
        #expect(controller.sectionIndexTitles == ["1", "2"])
        #expect(controller.section(forSectionIndexTitle: "2", at: 1) == 1)
        #expect(controller.sectionIndexTitle(forSectionName: "élan") == "É")
        let gamma = controller.object(at: IndexPath(item: 1, section: 1))
        #expect(gamma.title == "gamma" && controller.indexPath(forObject: gamma) == IndexPath(row: 1, section: 1))
        #expect(controller.indexPath(forObject: book("none")) == nil)
        NSFetchedResultsController<Book>.deleteCache(withName: nil)
    }

    @Test("has one section without a key path, also when it is empty")
    func noSections() throws {
        let controller = controller(request())
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == [""] && controller.sections?.first?.numberOfObjects == 0)
        #expect(controller.fetchedObjects == [] && controller.sectionIndexTitles == [])
    }

    @Test("moves a whole section whose members have another place by now")
    func movedSection() throws {
        let authors = ["a", "b", "c"].map { name in
            let author = Author(context: context)
            (author.name, author.age) = (name, Int16(name.utf8.first ?? 0))
            return author
        }
        for author in authors { for number in 1...2 { book("\(author.name ?? "")\(number)").author = author } }
        try context.save()
        let (controller, mirror) = try followed(request(by: "author.age", "title"), sections: "author.name")
        #expect(controller.titles == [#"a: ["a1", "a2"]"#, #"b: ["b1", "b2"]"#, #"c: ["c1", "c2"]"#])
        authors[0].age = 999
        context.processPendingChanges()
        #expect(controller.titles == [#"b: ["b1", "b2"]"#, #"c: ["c1", "c2"]"#, #"a: ["a1", "a2"]"#])
        #expect(mirror.text == controller.titles)
    }

    @Test("hears of what was refreshed before a rollback in the same event")
    func refreshedAndRolledBack() throws {
        let (first, second) = (book("a"), book("b"))
        try context.save()
        let (controller, mirror) = try followed(request())
        first.title = "z"
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [second, first])
        context.refresh(first, mergeChanges: false)
        second.pages = 7
        context.rollback()
        #expect(controller.fetchedObjects == [first, second] && mirror.text == controller.titles)
    }

    @Test("refuses an order that scatters its sections, naming both")
    func scattered() throws {
        for (title, pages) in [("a", 1), ("b", 2), ("c", 1)] { book(title, Int32(pages)) }
        #expect(errorCode { try controller(request(by: "title"), sections: "pages").performFetch() } == 134_060)
        let ids = request()
        ids.resultType = .managedObjectIDResultType
        #expect(errorCode { try controller(ids).performFetch() } == 134_060)
    }

    @Test("tells will, sections, objects, did: deletions with old places, insertions with new ones, a move once with both")
    func calls() throws {
        let (a, b, c) = (book("a", 1), book("b", 1), book("c", 2))
        try context.save()
        let (controller, mirror) = try followed(request("pages < 9", by: "pages", "title"), sections: "pages")
        book("d", 3)
        context.processPendingChanges()
        #expect(mirror.takeCalls() == ["will", "insert section 3 2", "insert d - 2.0", "did"])
        a.title = "aa"
        context.processPendingChanges()
        #expect(mirror.takeCalls() == ["will", "update aa 0.0 0.0", "did"])
        a.pages = 2
        context.processPendingChanges()
        #expect(mirror.takeCalls() == ["will", "move aa 0.0 1.0", "did"])
        context.delete(c)
        b.pages = 9
        context.processPendingChanges()
        let calls = mirror.takeCalls()
        #expect(calls.prefix(2) == ["will", "delete section 1 0"] && calls.last == "did")
        #expect(Set(calls.dropFirst(2).dropLast()) == ["delete c 1.1 -", "delete b 0.0 -"])
        // => Nothing of it concerns a save, and what concerns others is not told.
        try context.save()
        Tag(context: context).label = "new"
        context.processPendingChanges()
        #expect(mirror.takeCalls() == [] && mirror.text == controller.titles)
    }

    @Test("calls a delegate that takes differences, or snapshots, with nothing else")
    func forms() throws {
        let (a, b) = (book("a"), book("b"))
        try context.save()
        let (differences, snapshots) = (DifferenceMirror(), SnapshotMirror())
        let (first, second) = (controller(request()), controller(request(by: "pages", "title"), sections: "pages"))
        (first.delegate, second.delegate) = (differences, snapshots)
        try first.performFetch()
        try second.performFetch()
        differences.start(first)
        #expect(snapshots.snapshots.count == 1 && snapshots.sections == second.sectionIDs)
        a.title = "z"
        book("c")
        context.processPendingChanges()
        #expect(differences.ids == first.fetchedObjects?.map(\.objectID))
        #expect(differences.latest?.removals.count == 1 && differences.latest?.insertions.count == 2)
        let snapshot = try #require(snapshots.snapshots.last)
        #expect(snapshots.snapshots.count == 2 && snapshots.sections == second.sectionIDs)
        #expect(snapshot.reloadedItemIdentifiers.compactMap { $0 as? NSManagedObjectID } == [a.objectID])
        #expect(snapshot.numberOfItems == 3 && snapshot.index(ofItemIdentifier: b.objectID) == 0)
        #expect(snapshot.sectionIdentifier(forSectionContainingItemIdentifier: b.objectID) as? String == "1")
    }

    @Test("is known to its delegate as itself, with what it has")
    func erasedController() throws {
        final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
            var seen: [Any] = []
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                let objects = controller.fetchedObjects ?? []
                seen = [controller, objects.compactMap { ($0 as? Book)?.title }, controller.indexPath(forObject: objects[1])?.item ?? -1]
                seen.append((controller.object(at: IndexPath(item: 0, section: 0)) as? Book)?.title ?? "")
            }
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
                sectionIndexTitleForSectionName sectionName: String
            ) -> String? { "all" }
        }
        let (delegate, controller) = (Delegate(), controller(request()))
        controller.delegate = delegate
        try controller.performFetch()
        book("a")
        book("b")
        context.processPendingChanges()
        #expect(delegate.seen.first as AnyObject? === controller)
        #expect(delegate.seen[1] as? [String] == ["a", "b"] && delegate.seen[2] as? Int == 1 && delegate.seen[3] as? String == "a")
        #expect(controller.sectionIndexTitles == ["all"])
    }

    @Test("follows merged inserts, deletes, and updates of objects that the context has not read, with one statement")
    func merges() throws {
        let other = library.newContext()
        let gone = book("gone")
        book("hidden", 0)
        try context.save()
        let (controller, mirror) = try followed(request("pages > 0"))
        other.delete(other.object(with: gone.objectID))
        for index in 0..<50 { book("n\(index)", 2, in: other) }
        let hidden = try other.all(Book.self, "Book").first { $0.title == "hidden" }
        hidden?.pages = 7
        let saves = Notifications(.NSManagedObjectContextDidSave, from: other)
        try other.save()
        let saved = try #require(saves.received.last)
        library.store.cache.forgetAll()
        let statements = library.statements { context.mergeChanges(fromContextDidSave: saved) }
        #expect(statements.count <= 2, "\(statements)")
        #expect(controller.fetchedObjects?.count == 51 && controller.fetchedObjects?.first?.title == "hidden")
        #expect(mirror.text == controller.titles)
    }

    @Test("follows what is read across relationships, and related objects that change")
    func related() throws {
        let author = Author(context: context)
        (author.name, author.age) = ("A", 30)
        book("young").author = author
        book("alone")
        let (controller, mirror) = try followed(request("author.age > 20", by: "author.name", "title"), sections: "author.name")
        #expect(controller.titles == [#"A: ["young"]"#])
        author.name = "B"
        context.processPendingChanges()
        #expect(controller.titles == [#"B: ["young"]"#] && mirror.text == controller.titles)
        author.age = 10
        context.processPendingChanges()
        #expect(controller.titles == [] && mirror.text == [])
    }

    @Test("tells of a related object's change only members that move, come or go by it", arguments: [false, true])
    func relatedChangeIsNoUpdate(sections: Bool) throws {
        let author = Author(context: context)
        author.name = "A"
        let books = ["a", "b", "c"].map { book($0) }
        books.forEach { $0.author = author }
        try context.save()
        let (controller, mirror) = try followed(
            request("author.name != 'Z'", by: "author.name", "title"),
            sections: sections ? "author.name" : nil
        )
        author.age = 30
        context.processPendingChanges()
        #expect(mirror.takeCalls() == [])
        book("d").author = author
        context.processPendingChanges()
        #expect(mirror.takeCalls() == ["will", "insert d - 0.3", "did"])
        books[1].pages = 7
        author.age = 31
        context.processPendingChanges()
        #expect(mirror.takeCalls() == ["will", "update b 0.1 0.1", "did"])
        author.name = "Z"
        context.processPendingChanges()
        let deletes = mirror.takeCalls().filter { $0.hasPrefix("delete ") && !$0.hasPrefix("delete section") }
        #expect(controller.fetchedObjects?.isEmpty == true && deletes.count == 4)
    }

    @Test("does not bring in what its limit left out when a related object changes")
    func relatedChangeUnderLimit() throws {
        let author = Author(context: context)
        for title in ["a", "b", "c", "d"] { book(title).author = author }
        try context.save()
        let limited = request(by: "author.name", "title")
        limited.fetchLimit = 2
        let (controller, mirror) = try followed(limited)
        author.age = 30
        context.processPendingChanges()
        book("aa").author = author
        context.processPendingChanges()
        #expect(mirror.takeCalls() == ["will", "insert aa - 0.1", "did"])
        #expect(controller.fetchedObjects?.map(\.title) == ["a", "aa", "b"])
    }

    @Test(
        "follows a refresh that gives up what a related object was put into",
        arguments: ["books.@count > 1", "ANY books.title == 'new'"]
    )
    func refreshedPartner(predicate: String) throws {
        let (author, first) = (Author(context: context), book("first"))
        (author.name, first.author) = ("A", author)
        let new = book("new")
        try context.save()
        let request = NSFetchRequest<Author>(entityName: "Author")
        request.predicate = NSPredicate(format: predicate)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let list = NSFetchedResultsController(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let follower = Follower()
        list.delegate = follower
        try list.performFetch()
        new.author = author
        context.processPendingChanges()
        #expect(list.fetchedObjects == [author])
        context.refresh(new, mergeChanges: false)
        context.processPendingChanges()
        #expect(list.fetchedObjects == [] && author.books.map(\.title) == ["first"])
    }

    @Test("reports refreshed objects as updated, and has nothing after a reset until it fetches again")
    func refreshing() throws {
        let a = book("a")
        try context.save()
        let (controller, mirror) = try followed(request())
        context.refresh(a, mergeChanges: true)
        context.refreshAllObjects()
        #expect(mirror.takeCalls() == ["will", "update a 0.0 0.0", "did"])
        context.rollback()
        context.reset()
        #expect(mirror.takeCalls() == [] && controller.fetchedObjects == nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map(\.title) == ["a"])
    }

    @Test("stays as it was fetched without a delegate, and catches up silently when it gets one")
    func lateDelegate() throws {
        book("a")
        let (controller, mirror) = (controller(request()), CallMirror())
        try controller.performFetch()
        book("b")
        context.processPendingChanges()
        #expect(controller.fetchedObjects?.count == 1)
        controller.delegate = mirror
        #expect(controller.fetchedObjects?.count == 2 && mirror.calls == [])
        mirror.start(controller)
        book("c")
        context.processPendingChanges()
        #expect(mirror.takeCalls() == ["will", "insert c - 0.2", "did"])
    }

    @Test("bears that a delegate changes objects, which is told next")
    func changesByTheDelegate() throws {
        final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
            var calls: [String] = []
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                calls.append("\(controller.fetchedObjects?.count ?? 0)")
                if calls.count == 1 { Book(context: controller.managedObjectContext).title = "by the delegate" }
                controller.managedObjectContext.processPendingChanges()
                calls.append("end")
            }
        }
        let (delegate, controller) = (Delegate(), controller(request()))
        controller.delegate = delegate
        try controller.performFetch()
        book("a")
        context.processPendingChanges()
        #expect(delegate.calls == ["1", "end", "2", "end"])
    }

    @Test("of 5,000 objects takes a few dozen comparisons and no statement for a change", arguments: ["title", "pages"])
    func cost(key: String) throws {
        for index in 0..<5000 { book("t\(index)", Int32(index / 100)) }
        try context.save()
        let (controller, mirror) = try followed(request("pages >= 0", by: "pages", "title"), sections: "pages")
        let order = try #require(controller.results.list?.query.order)
        let objects = try #require(controller.fetchedObjects)
        let before = order.comparisonCount
        let statements = library.statementsOf {
            for index in 0..<100 {
                if key == "title" { objects[index * 45].title = "u\(index)" } else { objects[index * 45].pages = Int32(index) }
                context.processPendingChanges()
            }
        }
        #expect(statements == [])
        for object in objects.suffix(10) { context.delete(object) }
        context.processPendingChanges()
        #expect(order.comparisonCount - before < 100 * 40)
        #expect(mirror.text == controller.titles && controller.fetchedObjects?.count == 4990)
    }
}

/// A controller follows its context for a delegate only.
private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
}
