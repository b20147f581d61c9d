import Foundation
import Testing

@testable import CoreData

@Suite("A child context's save")
struct ChildSavingTests {
    let layers: Layers
    var library: Library { layers.library }

    init() throws { layers = try Layers() }

    @Test("reaches its parent as unsaved changes, one level at a time, and the file with the topmost save")
    func bubbles() throws {
        let (root, main, worker) = (layers.root, layers.main, layers.worker)
        Tag(context: worker).label = "new"
        #expect(try main.all(Tag.self).isEmpty)
        try worker.save()
        #expect(!worker.hasChanges && main.hasChanges && !root.hasChanges)
        #expect(try main.all(Tag.self).map(\.label) == ["new"])
        #expect(main.insertedObjects.count == 1)
        try main.save()
        #expect(!main.hasChanges && root.hasChanges)
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "0")
        try root.save()
        #expect(!root.hasChanges)
        #expect(try library.sql("SELECT Z_PK, Z_OPT, ZLABEL FROM ZTAG") == "1|1|new")
    }

    // * A child saves a new book with an author; what is new is as a program finds it above, with values that nobody has set beside others.
    @Test("says by their changed values what new objects have, one level at a time")
    func changedValues() throws {
        let (book, author) = (Book(context: layers.worker), Author(context: layers.worker))
        (book.title, book.pages, book.author, author.name) = ("T", 3, author, "A")
        let expected = Set(book.changedValues().keys)
        #expect(expected == ["title", "pages", "author"])
        for (child, parent) in [(layers.worker, layers.main), (layers.main, layers.root)] {
            var event: Set<String>?
            let events = Notifications(.NSManagedObjectContextObjectsDidChange, from: parent) { _ in
                event = Set(parent.own(book).changedValuesForCurrentEvent().keys)
            }
            try child.save()
            withExtendedLifetime(events) {}
            #expect(event == expected)
            #expect(Set(parent.own(book).changedValues().keys) == expected)
            #expect(parent.own(book).changedValues()["title"] as? String == "T")
            #expect(Set(parent.own(author).changedValues().keys) == ["name", "books"])
            #expect(child.own(book).changedValues().isEmpty)
        }
    }

    @Test("runs no statement, but for one that reads what the contexts above have let go of", arguments: [true, false])
    func statements(isHeld: Bool) throws {
        let (main, worker) = (layers.main, layers.worker)
        let tags = (0..<3).map { _ in Tag(context: worker) }
        try layers.saveAll()
        let held = isHeld ? tags.map { layers.root.own($0).label } : []
        let objects = isHeld ? Array(layers.root.registeredObjects) : []
        for tag in tags { tag.label = "b" }
        Tag(context: worker).label = "c"
        let statements = try library.statements {
            try worker.save()
            try main.save()
        }
        #expect(statements.count == (isHeld ? 0 : 1))
        withExtendedLifetime((held, objects)) {}
        try layers.root.save()
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG ORDER BY Z_PK") == "b\nb\nb\nc")
    }

    @Test("carries values of every type, nil, and text of any kind")
    func values() throws {
        let worker = layers.worker
        let book = Book(context: worker)
        book.title = "Ünï \u{1F600} \0 'quote'"
        (book.pages, book.price, book.isLent, book.copies, book.weight) = (-7, .infinity, true, .max, 1.5)
        (book.cover, book.isbn, book.published) = (Data([0, 255]), UUID(), Date(timeIntervalSinceReferenceDate: 0.25))
        try layers.saveAll()
        let reader = try library.separateContext()
        let read = try #require(try reader.one(Book.self))
        #expect(read.title == book.title && read.pages == -7 && read.price == .infinity && read.isLent && read.copies == .max)
        #expect(read.cover == book.cover && read.isbn == book.isbn && read.published == book.published && read.weight == 1.5)
        #expect(read.author == nil)
        book.price = nil
        try layers.saveAll()
        #expect(try library.sql("SELECT ZPRICE IS NULL, Z_OPT FROM ZBOOK") == "1|2")
    }

    @Test("writes again what it changed after an earlier save, with one version more each time that the file is written")
    func repeated() throws {
        let worker = layers.worker
        let tag = Tag(context: worker)
        for round in 1...4 {
            tag.label = "\(round)"
            try worker.save()
            tag.label = "\(round)!"
            try layers.saveAll()
            #expect(try library.sql("SELECT Z_OPT, ZLABEL FROM ZTAG") == "\(round)|\(round)!")
        }
    }

    @Test("of one property does not overwrite what a sibling changed in another; of the same, the later save wins")
    func siblings() throws {
        let (main, first, second) = (layers.main, layers.worker, layers.newWorker())
        let book = layers.book("t", in: main)
        try layers.saveAll()
        let (one, two) = (first.own(book), second.own(book))
        (one.pages, one.title) = (1, "first")
        (two.price, two.title) = (2, "second")
        try first.save()
        try second.save()
        #expect(book.pages == 1 && book.price == 2 && book.title == "second")
        try main.save()
        try layers.root.save()
        #expect(try library.sql("SELECT ZPAGES, ZPRICE, ZTITLE, Z_OPT FROM ZBOOK") == "1|2.0|second|2")
    }

    @Test("leaves unsaved edits of the parent alone but for what the child changed too")
    func editsOfParent() throws {
        let (main, worker) = (layers.main, layers.worker)
        let book = layers.book("t", in: main)
        try layers.saveAll()
        let child = worker.own(book)
        #expect(child.title == "t")
        (book.pages, book.title) = (9, "main")
        child.title = "worker"
        try worker.save()
        #expect(book.pages == 9 && book.title == "worker")
        #expect(child.pages == 0)
        try main.save()
        try layers.root.save()
        #expect(try library.sql("SELECT ZPAGES, ZTITLE FROM ZBOOK") == "9|worker")
    }

    @Test("of a delete deletes in every layer, without a trace where it was never saved")
    func deletes() throws {
        let (root, main, worker) = (layers.root, layers.main, layers.worker)
        let (old, new) = (Tag(context: worker), Tag(context: worker))
        old.label = "old"
        try worker.obtainPermanentIDs(for: [old])
        new.label = "new"
        try worker.save()
        worker.delete(new)
        try worker.save()
        #expect(try main.all(Tag.self).map(\.label) == ["old"])
        try layers.saveAll()
        worker.delete(old)
        try worker.save()
        #expect(try main.all(Tag.self).isEmpty && main.deletedObjects.count == 1)
        #expect(try root.all(Tag.self).count == 1)
        try main.save()
        try root.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "0")
    }

    @Test("of an object that the parent has deleted: the delete wins")
    func deleteWins() throws {
        let (main, worker) = (layers.main, layers.worker)
        let book = layers.book("t", in: main)
        try layers.saveAll()
        let child = worker.own(book)
        child.pages = 3
        main.delete(book)
        try layers.saveAll()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK") == "0")
    }

    @Test("with nothing to save does nothing")
    func empty() throws {
        try layers.worker.save()
        #expect(!layers.main.hasChanges)
    }

    @Test("can be discarded: nothing of it is anywhere")
    func discard() throws {
        let (main, worker) = (layers.main, layers.worker)
        let book = layers.book("t", in: main)
        try main.save()
        let child = worker.own(book)
        child.title = "x"
        Tag(context: worker).label = "y"
        worker.rollback()
        #expect(child.title == "t" && !worker.hasChanges)
        try layers.saveAll()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "t")
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "0")
    }

    @Test("works to any depth")
    func depth() throws {
        var contexts = [layers.worker]
        for level in 0..<20 { contexts.append(Layers.child(of: contexts[level], "level \(level)")) }
        let tag = Tag(context: try #require(contexts.last))
        tag.label = "deep"
        for context in contexts.reversed() { try context.save() }
        try layers.main.save()
        #expect(try layers.root.all(Tag.self).map(\.label) == ["deep"])
        try layers.root.save()
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG") == "deep")
        #expect(!tag.objectID.isTemporaryID)
        tag.label = "deeper"
        for context in contexts.reversed() { try context.save() }
        try layers.saveAll()
        #expect(try library.sql("SELECT ZLABEL, Z_OPT FROM ZTAG") == "deeper|2")
    }

    @Test("fails at the layer whose validation fails; the changes stay where they are")
    func validation() throws {
        let (main, worker) = (layers.main, layers.worker)
        let book = Book(context: worker)
        #expect { try worker.save() } throws: { ($0 as? CocoaError)?.code == .init(rawValue: 1570) }
        #expect(worker.hasChanges && !main.hasChanges)
        book.title = "t"
        try worker.save()
        main.own(book).title = nil
        #expect { try main.save() } throws: { ($0 as? CocoaError)?.code == .init(rawValue: 1570) }
        #expect(main.hasChanges && !layers.root.hasChanges)
        main.own(book).title = "u"
        try layers.saveAll()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "u")
    }

    @Test("leaves it to the parent to validate what the parent has inserted itself, and the child has read")
    func drafts() throws {
        let (main, worker) = (layers.main, layers.worker)
        let draft = Book(context: main)
        #expect(try worker.all(Book.self).map(\.pages) == [0])
        Tag(context: worker).label = "saved"
        try worker.save()
        #expect { try main.save() } throws: { ($0 as? CocoaError)?.code == .init(rawValue: 1570) }
        draft.title = "t"
        try layers.saveAll()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "t")
    }

    @Test("of ten thousand new objects with relationships arrives whole")
    func many() throws {
        let (main, worker) = (layers.main, layers.worker)
        let author = Author(context: worker)
        author.name = "a"
        for number in 0..<10_000 {
            let book = Book(context: worker)
            (book.title, book.pages, book.author) = ("\(number)", Int32(number), author)
        }
        try worker.save()
        #expect(try main.all(Author.self).first?.books.count == 10_000)
        try main.save()
        try layers.root.save()
        #expect(
            try library.sql("SELECT COUNT(*), SUM(ZPAGES), COUNT(DISTINCT ZAUTHOR), MIN(Z_OPT), MAX(Z_OPT) FROM ZBOOK")
                == "10000|49995000|1|1|1"
        )
    }
}
