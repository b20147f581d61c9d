import Foundation
import Testing

@testable import CoreData

/// Notes what it is told, with the name of its context.
private final class LayerWitness: NSManagedObject {
    static let journal = Lock<[String]>([])

    private func note(_ what: String) {
        let context = managedObjectContext?.name ?? "-"
        Self.journal.withLock { $0.append("\(context) \(what)") }
    }
    override func awakeFromInsert() { note("awakeFromInsert") }
    override func prepareForDeletion() { note("prepareForDeletion") }
    override func willSave() { note("willSave") }
    override func didSave() { note("didSave") }
    override func validateForInsert() throws {
        note("validateForInsert")
        try super.validateForInsert()
    }
    override func validateForUpdate() throws {
        note("validateForUpdate")
        try super.validateForUpdate()
    }
    override func validateForDelete() throws {
        note("validateForDelete")
        try super.validateForDelete()
    }

    static func noting(_ body: () throws -> Void) rethrows -> [String] {
        journal.withLock { $0 = [] }
        try body()
        return journal.withLock { $0 }
    }
}

@Suite("Objects that pass through layers", .serialized)
struct ChildLifeCycleTests {
    let stage: Stage
    let main: NSManagedObjectContext
    let worker: NSManagedObjectContext

    init() throws {
        stage = try Stage {
            [
                LibraryModel.entity(
                    "LayerWitness",
                    LayerWitness.self,
                    [LibraryModel.attribute("name", .stringAttributeType, isOptional: false)]
                )
            ]
        }
        stage.context.name = "root"
        main = Layers.child(of: stage.context, "main")
        worker = Layers.child(of: main, "worker")
    }

    private func saveAll() throws {
        for context in [worker, main, stage.context] { try context.save() }
    }

    @Test("are asked and told in each layer, and awake once")
    func hooks() throws {
        let object = LayerWitness(context: worker)
        object.setValue("a", forKey: "name")
        let layers = ["worker", "main", "root"]
        #expect(
            try LayerWitness.noting(saveAll) == layers.flatMap { ["\($0) willSave", "\($0) validateForInsert", "\($0) didSave"] }
        )
        object.setValue("b", forKey: "name")
        #expect(
            try LayerWitness.noting(saveAll) == layers.flatMap { ["\($0) willSave", "\($0) validateForUpdate", "\($0) didSave"] }
        )
        let deleted = try LayerWitness.noting {
            worker.delete(object)
            try saveAll()
        }
        #expect(deleted.filter { $0.hasSuffix("prepareForDeletion") } == layers.map { "\($0) prepareForDeletion" })
        #expect(deleted.filter { $0.hasSuffix("validateForDelete") } == layers.map { "\($0) validateForDelete" })
        #expect(deleted.filter { $0.hasSuffix("willSave") } == layers.map { "\($0) willSave" })
        #expect(try stage.sql("SELECT COUNT(*) FROM ZLAYERWITNESS") == "0")
    }

    @Test("that are set to what they are reach no other layer")
    func unchanged() throws {
        let object = LayerWitness(context: worker)
        object.setValue("a", forKey: "name")
        try saveAll()
        object.setValue("a", forKey: "name")
        let saved = Notifications(.NSManagedObjectContextDidSave, from: worker)
        try worker.save()
        #expect(saved.objects(NSUpdatedObjectsKey) == [object] && !main.hasChanges)
        try saveAll()
        #expect(try stage.sql("SELECT Z_OPT FROM ZLAYERWITNESS") == "1")
    }
}

@Suite("Saves of layers that meet")
struct LayerMeetingTests {
    let layers: Layers
    var library: Library { layers.library }

    init() throws { layers = try Layers() }

    @Test("an edit of what was only added to since does not conflict with the stack's own save")
    func ownVersions() throws {
        let writer = layers.worker
        let (other, book) = (layers.newWorker(), layers.book("b", in: writer))
        try layers.saveAll()
        let mine = other.own(book)
        #expect(mine.title == "b")
        layers.root.reset()
        let chapter = Chapter(context: layers.root)
        (chapter.heading, chapter.book) = ("c", layers.root.own(book))
        try layers.root.save()
        mine.title = "edited"
        try other.save()
        try layers.saveAll()
        #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK") == "edited|3")
    }

    @Test("only a to-many changed: the owner's version is bumped once")
    func toManyOnly() throws {
        let book = layers.book("b", in: layers.worker)
        try layers.saveAll()
        for _ in 0..<3 {
            let chapter = Chapter(context: layers.worker)
            (chapter.heading, chapter.book) = ("c", book)
            try layers.worker.save()
        }
        try layers.saveAll()
        #expect(try library.sql("SELECT Z_OPT FROM ZBOOK") == "2")
    }

    @Test("a delete that comes late takes along what was put under the object meanwhile")
    func lateDelete() throws {
        let book = layers.book("b", in: layers.main)
        try layers.saveAll()
        layers.worker.delete(layers.worker.own(book))
        layers.worker.processPendingChanges()
        let chapter = Chapter(context: layers.root)
        (chapter.heading, chapter.book) = ("c", layers.root.own(book))
        try layers.root.save()
        try layers.saveAll()
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK), (SELECT COUNT(*) FROM ZCHAPTER)") == "0|0")
    }

    @Test("a member moved away and back stands at the end, in every layer")
    func movedToEnd() throws {
        let (book, other) = (layers.book("b", in: layers.worker), layers.book("o", in: layers.worker))
        let chapters = ["1", "2", "3"].map {
            let chapter = Chapter(context: layers.worker)
            (chapter.heading, chapter.book) = ($0, book)
            return chapter
        }
        try layers.saveAll()
        #expect(book.chapters.count == 3)
        chapters[0].book = other
        chapters[0].book = book
        #expect(book.chapters.map(\.heading) == ["2", "3", "1"])
        try layers.worker.save()
        #expect(layers.main.own(book).chapters.map(\.heading) == ["2", "3", "1"])
        try layers.saveAll()
        #expect(try library.sql("SELECT group_concat(ZHEADING, '') FROM (SELECT * FROM ZCHAPTER ORDER BY Z_FOK_BOOK)") == "231")
    }

    @Test("a relationship read below a layer shows the layer's edits of members that it got from above")
    func membersAsHere() throws {
        let author = Author(context: layers.root)
        author.name = "a"
        let books = ["1", "2", "3"].map { layers.book($0, in: layers.root) }
        for book in books { book.author = author }
        try layers.root.save()
        layers.main.own(books[0]).title = "edited"
        layers.main.delete(layers.main.own(books[1]))
        layers.main.own(books[2]).author = nil
        layers.main.processPendingChanges()
        #expect(layers.worker.own(author).books.map(\.title) == ["edited"])
        let reader = Layers.child(of: layers.worker, "reader")
        #expect(reader.own(author).books.map(\.title) == ["edited"])
    }

    @Test("a refresh lays unsaved changes of a relationship over the newest members, and keeps the order that was given")
    func refreshedRelationship() throws {
        let book = layers.book("b", in: layers.main)
        book.chapters = ["1", "2", "3"].map {
            let chapter = Chapter(context: layers.main)
            chapter.heading = $0
            return chapter
        }
        try layers.saveAll()
        let mine = layers.worker.own(book)
        mine.chapters = mine.chapters.reversed()
        let late = Chapter(context: layers.main)
        (late.heading, late.book) = ("4", book)
        layers.worker.refresh(mine, mergeChanges: true)
        #expect(mine.chapters.map(\.heading) == ["3", "2", "1", "4"])
        try layers.saveAll()
        #expect(book.chapters.map(\.heading) == ["3", "2", "1", "4"])
    }

    @Test(
        "after a rollback above, an object inserted in a child counts as deleted in the store",
        arguments: NSMergePolicyType.all
    )
    func rollbackAbove(policy: NSMergePolicyType) throws {
        let (main, worker) = (layers.main, layers.worker)
        worker.mergePolicy = NSMergePolicy(merge: policy)
        let tag = Tag(context: worker)
        tag.label = "t"
        try worker.save()
        main.rollback()
        tag.label = "edited"
        switch policy {
        case .errorMergePolicyType:
            #expect { try worker.save() } throws: { ($0 as? CocoaError)?.code.rawValue == NSManagedObjectMergeError }
            #expect(worker.hasChanges)
            return
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            try layers.saveAll()
            #expect(try library.sql("SELECT ZLABEL FROM ZTAG") == "edited")
        default:
            try layers.saveAll()
            #expect(tag.managedObjectContext == nil)
            #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "0")
        }
    }

    @Test("what was put under an object that never reached a file and is gone above goes with it")
    func underTheGone() throws {
        layers.worker.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let book = layers.book("b", in: layers.main)
        let chapter = Chapter(context: layers.worker)
        (chapter.heading, chapter.book) = ("c", layers.worker.own(book))
        layers.main.delete(book)
        layers.main.processPendingChanges()
        try layers.saveAll()
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZBOOK), (SELECT COUNT(*) FROM ZCHAPTER)") == "0|0")
    }

    @Test("a reference to an object that got its ID above before it was saved is written with that ID")
    func obtainedAbove() throws {
        let author = Author(context: layers.main)
        author.name = "a"
        let book = layers.book("b", in: layers.worker)
        book.author = layers.worker.own(author)
        try layers.worker.save()
        try layers.main.obtainPermanentIDs(for: [author])
        try layers.saveAll()
        #expect(try library.sql("SELECT ZNAME FROM ZBOOK JOIN ZPERSON ON ZPERSON.Z_PK = ZAUTHOR") == "a")
    }

    // * An object is inserted below, saved into the middle, and the middle rolls back. Whoever saves what is about it is told.
    @Test(
        "an insertion that a middle layer has dropped fails whoever saves changes of it, and no other save",
        arguments: [0, 1, 2],
        [true, false]
    )
    func droppedInTheMiddle(keys: Int, isEdited: Bool) throws {
        // * With a temporary key, one that was obtained, and one that the worker's save has got.
        if keys == 2 {
            for number in 0..<3 {
                _ = layers.book("\(number)", in: layers.worker)
                try layers.saveAll()
            }
        }
        let book = layers.book("dropped", in: layers.worker)
        if keys == 1 { try layers.worker.obtainPermanentIDs(for: [book]) }
        try layers.worker.save()
        #expect(book.objectID.isTemporaryID == (keys == 0))
        layers.main.rollback()
        if isEdited { book.pages = 4 } else { layers.worker.delete(book) }
        #expect(errorCode { try layers.worker.save() } == (isEdited ? 133020 : 0))
        Tag(context: layers.root).label = "other"
        try layers.main.save()
        try layers.root.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "1")
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZTITLE = 'dropped'") == "0")
    }

    @Test("a reference to an insertion that a middle layer has dropped leads nowhere", arguments: [true, false])
    func referenceToDropped(isPermanent: Bool) throws {
        let author = Author(context: layers.worker)
        author.name = "dropped"
        if isPermanent { try layers.worker.obtainPermanentIDs(for: [author]) }
        try layers.worker.save()
        layers.main.rollback()
        layers.book("T", in: layers.worker).author = author
        #expect(errorCode { try layers.worker.save() } == 133020)
        layers.worker.rollback()
        Tag(context: layers.root).label = "other"
        try layers.main.save()
        try layers.root.save()
        #expect(try library.sql("SELECT (SELECT COUNT(*) FROM ZTAG), (SELECT COUNT(*) FROM ZBOOK)") == "1|0")
    }
}
