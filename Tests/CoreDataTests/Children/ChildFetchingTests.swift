import Foundation
import Testing

@testable import CoreData

@Suite("A child context's fetches")
struct ChildFetchingTests {
    let layers: Layers
    var library: Library { layers.library }

    init() throws { layers = try Layers() }

    @discardableResult private func book(_ title: String, _ pages: Int32, in context: NSManagedObjectContext) -> Book {
        let book = layers.book(title, in: context)
        book.pages = pages
        return book
    }

    @Test("see the unsaved changes of every context above, in order, within limit and offset")
    func overlay() throws {
        let (root, main, worker) = (layers.root, layers.main, layers.worker)
        for number in 0..<10 { book("stored", Int32(number * 10), in: root) }
        try root.save()
        book("root", 5, in: root)
        book("main", 15, in: main)
        book("worker", 25, in: worker)
        let moved = try #require(try main.one(Book.self, where: "pages == 90"))
        moved.pages = 1
        let deleted = try #require(try root.one(Book.self, where: "pages == 20"))
        root.delete(deleted)
        let pages = try worker.all(Book.self, sortedBy: "pages").map(\.pages)
        #expect(pages == [0, 1, 5, 10, 15, 25, 30, 40, 50, 60, 70, 80])
        let request = NSFetchRequest<Book>()
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
        (request.fetchLimit, request.fetchOffset) = (4, 2)
        #expect(try worker.fetch(request).map(\.pages) == [5, 10, 15, 25])
        (request.fetchLimit, request.fetchOffset) = (0, 0)
        request.predicate = NSPredicate(format: "pages < 20")
        #expect(try worker.count(for: request) == 5)
        #expect(try worker.fetch(request).map(\.pages) == [0, 1, 5, 10, 15])
        #expect(try main.count(for: request) == 5)
        #expect(try root.all(Book.self, where: "pages < 20").count == 3)
    }

    @Test("find by key paths what contexts above have changed elsewhere")
    func keyPaths() throws {
        let (root, main, worker) = (layers.root, layers.main, layers.worker)
        let author = Author(context: root)
        author.name = "old"
        book("b", 1, in: root).author = author
        book("c", 1, in: root)
        try root.save()
        main.own(author).name = "new"
        #expect(try worker.all(Book.self, where: "author.name == 'new'").map(\.title) == ["b"])
        #expect(try worker.all(Book.self, where: "author.name == 'old'").isEmpty)
        #expect(try root.all(Book.self, where: "author.name == 'old'").map(\.title) == ["b"])
        let found = try #require(try main.one(Book.self, where: "title == 'c'"))
        found.author = main.own(author)
        #expect(try worker.all(Author.self, where: "ANY books.title == 'c'").count == 1)
        #expect(try worker.all(Book.self, where: "author.name == 'new'").count == 2)
    }

    // * Main deletes a book, and an author with his books, and no event of it has ended when the worker reads.
    @Test("lead to nothing that a context above has deleted")
    func deletedAbove() throws {
        let (root, main, worker) = (layers.root, layers.main, layers.worker)
        let (author, other, tag) = (Author(context: root), Author(context: root), Tag(context: root))
        let (deleted, cascaded) = (book("b", 1, in: root), book("o", 1, in: root))
        (deleted.author, deleted.tags, cascaded.author) = (other, [tag], author)
        try root.save()
        main.delete(main.own(author))
        main.delete(main.own(deleted))
        #expect(worker.own(other).books.isEmpty && worker.own(tag).books.isEmpty)
        worker.own(other).age = 50
        #expect(try worker.all(Book.self, sortedBy: "author.age").isEmpty)
        #expect(try worker.all(Book.self, where: "author.age == 50").isEmpty)
    }

    @Test("match by the parent's unsaved values, while an object read before keeps its own until it is refreshed")
    func staleness() throws {
        let (main, worker) = (layers.main, layers.worker)
        let book = book("b", 1, in: main)
        try layers.saveAll()
        let child = worker.own(book)
        #expect(child.pages == 1)
        book.pages = 2
        #expect(try worker.one(Book.self, where: "pages == 2") === child)
        #expect(try worker.all(Book.self, where: "pages == 1").isEmpty)
        #expect(child.pages == 1)
        worker.refresh(child, mergeChanges: true)
        #expect(child.pages == 2)
    }

    @Test("fill faults with the parent's unsaved values")
    func faults() throws {
        let (main, worker) = (layers.main, layers.worker)
        let book = book("b", 1, in: main)
        try layers.saveAll()
        book.pages = 7
        let child = worker.own(book)
        #expect(child.isFault)
        #expect(child.pages == 7)
        book.pages = 8
        #expect(child.pages == 7)
        let new = self.book("n", 3, in: main)
        let below = worker.own(new)
        #expect(below.title == "n")
        new.title = "m"
        #expect(below.title == "n" && new.title == "m")
        main.delete(book)
        #expect(throws: CocoaError.self) { try layers.newWorker().existingObject(with: book.objectID) }
    }

    @Test("give objects by ID that only a context above knows")
    func existing() throws {
        let new = book("n", 3, in: layers.main)
        let id = new.objectID
        let found = try #require(try layers.worker.existingObject(with: id) as? Book)
        #expect(found.title == "n" && found.objectID == id)
        #expect(throws: CocoaError.self) { try layers.root.existingObject(with: id) }
    }

    @Test("read a to-many relationship with the unsaved members of every context above")
    func members() throws {
        let (root, main, worker) = (layers.root, layers.main, layers.worker)
        let author = Author(context: root)
        author.name = "a"
        book("1", 1, in: root).author = author
        book("2", 2, in: root).author = author
        try root.save()
        book("3", 3, in: root).author = author
        book("4", 4, in: main).author = main.own(author)
        let gone = try #require(try main.one(Book.self, where: "pages == 2"))
        gone.author = nil
        #expect(Set(worker.own(author).books.map(\.pages)) == [1, 3, 4])
        #expect(Set(root.own(author).books.map(\.pages)) == [1, 2, 3])
    }

    @Test("of one object by its new key after the file has it, and by its old one")
    func forwarding() throws {
        let (main, worker) = (layers.main, layers.worker)
        let mine = book("b", 1, in: worker)
        let temporary = mine.objectID
        #expect(temporary.isTemporaryID)
        try layers.saveAll()
        #expect(!mine.objectID.isTemporaryID)
        #expect(try worker.all(Book.self).first === mine)
        #expect(worker.object(with: temporary) === mine)
        let above = main.own(mine)
        #expect(main.object(with: temporary) === above)
        #expect(main.registeredObject(for: temporary) === above)
    }

    @Test("IDs are permanent with the child's save once keys are at hand")
    func pooledKeys() throws {
        let worker = layers.worker
        let first = book("1", 1, in: worker)
        try worker.save()
        #expect(first.objectID.isTemporaryID)
        try layers.saveAll()
        let second = book("2", 2, in: worker)
        try worker.save()
        #expect(!second.objectID.isTemporaryID)
        #expect(layers.main.own(second).objectID == second.objectID)
        try layers.saveAll()
        #expect(try library.sql("SELECT COUNT(*), COUNT(DISTINCT Z_PK) FROM ZBOOK") == "2|2")
        #expect(try library.sql("SELECT MAX(ZBOOK.Z_PK) <= Z_MAX FROM ZBOOK, Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == "1")
    }

    // * A fault with unsaved members, which the child has had the row of; a sibling deletes the object.
    // => No fetch gives an object that is deleted, without values.
    @Test("leave out what was deleted above, also where a fault has changed members", arguments: [false, true])
    func deletedAbove(isSorted: Bool) throws {
        let (worker, sibling) = (layers.worker, layers.newWorker())
        for title in ["a", "b"] { book(title, 1, in: layers.root) }
        try layers.root.save()
        let known = try #require(try worker.one(Book.self, where: "title == 'a'"))
        worker.refresh(known, mergeChanges: false)
        let tag = Tag(context: worker)
        tag.label = "t"
        known.mutableSetValue(forKey: "tags").add(tag)
        #expect(known.isFault)
        sibling.delete(sibling.own(known))
        try sibling.save()
        #expect(try worker.all(Book.self, sortedBy: isSorted ? "title" : nil).map(\.title) == ["b"])
        #expect(known.isDeleted)
    }
}
