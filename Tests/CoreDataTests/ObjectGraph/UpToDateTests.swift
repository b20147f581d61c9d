import Foundation
import Testing

@testable import CoreData

@Suite("An object that is brought up to date, or set back")
struct UpToDateTests: TwoContextSuite {
    let contexts: TwoContexts

    init() throws { contexts = try TwoContexts() }

    @Test("by a merge is measured against the merged row, though it is a fault with edits of relationships")
    func faultWithEdits() throws {
        let book = try library.savedBook()
        context.refresh(book, mergeChanges: false)
        let tag = Tag(context: context)
        tag.books = [book]
        #expect(book.isFault && book.isUpdated)
        other.own(book).title = "theirs"
        try other.save()
        merge(book)
        #expect(book.isFault)
        try context.save()
        #expect(book.title == "theirs" && book.tags == [tag])
        #expect(try library.sql("SELECT ZTITLE, Z_OPT, (SELECT COUNT(*) FROM Z_1TAGS) FROM ZBOOK") == "theirs|3|1")
    }

    // * Others save it while its delete is pending here; that is merged, and the delete is taken back.
    @Test("after a delete has what was merged meanwhile, and can be changed and saved", arguments: [true, false])
    func takenBackDelete(isRollback: Bool) throws {
        let book = try library.savedBook()
        let tag = Tag(context: context)
        try context.save()
        #expect(book.tags.isEmpty)
        context.delete(book)
        context.processPendingChanges()
        let theirs = other.own(book)
        (theirs.title, theirs.pages, theirs.tags) = ("theirs", 7, [other.own(tag)])
        try other.save()
        merge(book)
        if isRollback { context.rollback() } else { context.insert(book) }
        #expect(book.title == "theirs" && book.pages == 7 && book.tags == [tag] && !book.isDeleted)
        book.pages += 1
        try context.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES, (SELECT COUNT(*) FROM Z_1TAGS) FROM ZBOOK") == "theirs|8|1")
    }

    @Test("by a refresh is tracked again at the next change, in the same event")
    func changedAgain() throws {
        let book = try library.savedBook()
        book.title = "first"
        context.refresh(book, mergeChanges: false)
        book.title = "second"
        #expect(context.hasChanges && book.isUpdated && book.changedValues() as NSDictionary == ["title": "second"])
        try context.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "second")
        // * And a relationship alone.
        book.title = "third"
        context.refresh(book, mergeChanges: false)
        book.mutableSetValue(forKey: "tags").add(Tag(context: context))
        #expect(book.isUpdated)
    }

    @Test("by a refresh and a rollback in one event lists no changes")
    func rolledBack() throws {
        let book = try library.savedBook()
        book.title = "first"
        context.refresh(book, mergeChanges: false)
        book.title = "second"
        context.rollback()
        #expect(book.title == "T" && !context.hasChanges && !book.hasChanges)
        #expect(book.changedValues().isEmpty && !book.hasPersistentChangedValues)
        book.title = "third"
        try context.save()
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "third")
    }

    @Test("by a refresh without merging becomes a fault, also where it was never saved: then it is in no save, and nobody refers to it")
    func refreshedInsertion() throws {
        let (book, tag, author) = (Book(context: context), Tag(context: context), Author(context: context))
        (book.title, book.author, book.tags) = ("new", author, [tag])
        context.processPendingChanges()
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        context.refresh(book, mergeChanges: false)
        #expect(book.isFault && !book.isInserted && !book.hasChanges && book.managedObjectContext === context)
        #expect(tag.books.isEmpty && author.books.isEmpty)
        context.processPendingChanges()
        #expect(changes.objects(NSDeletedObjectsKey) == [book])
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK; SELECT COUNT(*) FROM ZTAG") == "0\n1")
        // => It finds no row when it is used.
        #expect(book.title == nil && book.isDeleted)
        try context.save()
        #expect(!context.hasChanges && book.managedObjectContext == nil)
    }

    @Test("by a refresh without merging stays deleted where it was, and its relationships are as its delete has left them")
    func refreshedDelete() throws {
        let book = try library.savedBook()
        let author = Author(context: context)
        author.name = "a"
        (book.author, book.tags) = (author, [Tag(context: context)])
        try context.save()
        context.delete(book)
        context.processPendingChanges()
        context.refresh(book, mergeChanges: false)
        #expect(book.isFault && book.isDeleted && context.deletedObjects == [book] && author.books.isEmpty)
        #expect(book.title == "T")
        // * Also where the event of the delete has not ended.
        context.delete(author)
        context.refresh(author, mergeChanges: false)
        #expect(author.isDeleted)
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK; SELECT COUNT(*) FROM ZPERSON; SELECT COUNT(*) FROM Z_1TAGS") == "0\n0\n0")
    }

    @Test("by a refresh, and deleted, still meets what others have put under it")
    func refreshedDeleteConflicts() throws {
        let book = try library.savedBook()
        context.delete(book)
        context.processPendingChanges()
        other.own(book).title = "theirs"
        try other.save()
        context.refresh(book, mergeChanges: false)
        #expect(errorCode { try context.save() } == 133020)
    }

    @Test("by a reset is a fault without values")
    func reset() throws {
        let (book, new) = (try library.savedBook(), Tag(context: context))
        new.label = "new"
        book.tags = [new]
        context.reset()
        #expect(book.isFault && new.isFault && !book.hasChanges && !new.isInserted)
        #expect(book.title == nil && new.label == nil && book.tags.isEmpty && book.changedValues().isEmpty)
    }

    @Test("by the rollback policy loses its edits of to-many relationships too, and is announced as refreshed")
    func rollbackPolicy() throws {
        let book = try library.savedBook()
        let (kept, removed, chapter) = (Tag(context: context), Tag(context: context), Chapter(context: context))
        (kept.label, removed.label) = ("kept", "removed")
        book.tags = [kept, removed]
        book.chapters = [chapter]
        try context.save()
        other.own(book).title = "theirs"
        try other.save()
        let (added, free) = (Tag(context: context), Tag(context: context))
        (added.label, free.label) = ("added", "free")
        book.tags = [kept, added]
        book.title = "mine"
        context.mergePolicy = NSMergePolicy.rollback
        context.processPendingChanges()
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        try context.save()
        #expect(changes.objects(NSRefreshedObjectsKey) == [book])
        #expect(book.title == "theirs" && book.tags == [kept, removed] && added.books.isEmpty && removed.books == [book])
        #expect(did.objects(NSInsertedObjectsKey) == [added, free] && !did.objects(NSUpdatedObjectsKey).contains(book))
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "2")
        #expect(!context.hasChanges && !book.hasChanges)
    }

    @Test(
        "by a policy is announced as refreshed",
        arguments: [NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType]
    )
    func announced(policy: NSMergePolicyType) throws {
        let book = try library.savedBook()
        (other.own(book).title, other.own(book).pages) = ("theirs", 4)
        try other.save()
        book.title = "mine"
        context.mergePolicy = NSMergePolicy(merge: policy)
        context.processPendingChanges()
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
        try context.save()
        #expect(changes.received.count == 1 && changes.objects(NSRefreshedObjectsKey) == [book] && book.pages == 4)
    }
}

@Suite("An event says what happened in it")
struct EventKindTests {
    let library: Library
    let context: NSManagedObjectContext
    let changes: Notifications

    init() throws {
        library = try Library()
        context = library.context
        changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context)
    }

    private func tag(_ label: String) -> Tag {
        let tag = Tag(context: context)
        tag.label = label
        return tag
    }

    /// The latest event as text, and how many there were.
    private var latest: String {
        let info = changes.received.last?.userInfo ?? [:]
        let parts = ["inserted", "updated", "deleted", "refreshed"].compactMap { key -> String? in
            guard let set = info[key] as? Set<NSManagedObject> else { return nil }
            return "\(key) " + set.map { $0.primitiveValue(forKey: "label") as? String ?? "-" }.sorted().joined(separator: ",")
        }
        return "\(changes.received.count): " + parts.joined(separator: "; ")
    }

    @Test("of an unsaved object: inserted once, updated after later changes, deleted once")
    func unsaved() throws {
        let tag = tag("a")
        context.processPendingChanges()
        #expect(latest == "1: inserted a")
        tag.label = "b"
        context.processPendingChanges()
        #expect(latest == "2: updated b")
        context.delete(tag)
        context.processPendingChanges()
        #expect(latest == "3: deleted b")
        try context.save()
        #expect(changes.received.count == 3)
    }

    @Test("of a saved object: deleted once, though its relationships change afterwards")
    func deleted() throws {
        let (tag, book) = (tag("a"), Book(context: context))
        (book.title, book.tags) = ("t", [tag])
        try context.save()
        context.delete(tag)
        context.processPendingChanges()
        #expect(changes.objects(NSDeletedObjectsKey) == [tag])
        context.delete(book)
        tag.books = []
        context.processPendingChanges()
        #expect(changes.objects(NSDeletedObjectsKey) == [book] && changes.objects(NSUpdatedObjectsKey).isEmpty)
    }

    @Test("of what came and went in it: nothing")
    func cameAndWent() throws {
        context.delete(tag("a"))
        context.processPendingChanges()
        #expect(changes.received.isEmpty && !context.hasChanges)
    }

    @Test("of a delete that is taken back: inserted where the delete had been told, else updated")
    func takenBack() throws {
        let (told, untold) = (tag("told"), tag("untold"))
        try context.save()
        context.delete(told)
        context.processPendingChanges()
        context.insert(told)
        context.delete(untold)
        context.insert(untold)
        context.processPendingChanges()
        #expect(latest.hasSuffix("inserted told; updated untold"))
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "2")
    }

    @Test("of changes that a refresh has dropped: refreshed")
    func refreshed() throws {
        let tag = tag("a")
        try context.save()
        tag.label = "b"
        context.refresh(tag, mergeChanges: false)
        context.processPendingChanges()
        #expect(changes.objects(NSRefreshedObjectsKey) == [tag] && changes.objects(NSUpdatedObjectsKey).isEmpty)
    }

    @Test("and DidSave what is saved, where as many other objects changed in the latest event")
    func sameNumber() throws {
        let (first, second, third) = (tag("1"), tag("2"), tag("3"))
        try context.save()
        // * Two are updated, each in an event of its own; one of them and a third are not any more.
        first.label = "a"
        second.label = "b"
        context.processPendingChanges()
        third.label = "c"
        context.refresh(second, mergeChanges: false)
        context.processPendingChanges()
        let did = Notifications(.NSManagedObjectContextDidSave, from: context)
        try context.save()
        #expect(did.objects(NSUpdatedObjectsKey) == [first, third])
        // * One that was refreshed after the only event.
        first.label = "d"
        context.processPendingChanges()
        second.label = "e"
        context.refresh(first, mergeChanges: false)
        try context.save()
        #expect(did.objects(NSUpdatedObjectsKey) == [second])
    }

    @Test("and what came and went is not kept", arguments: [true, false])
    func released(isSaved: Bool) throws {
        // Without the notifications that the suite keeps.
        let library = try Library()
        defer { withExtendedLifetime(library) {} }
        let context = library.context
        weak var last: Tag?
        func tag(_ label: String) -> Tag {
            let tag = Tag(context: context)
            tag.label = label
            return tag
        }
        let kept = tag("kept")
        if !isSaved { context.processPendingChanges() }
        for _ in 0..<1000 {
            let tag = tag("x")
            if isSaved { try context.save() } else { context.processPendingChanges() }
            context.delete(tag)
            if isSaved { try context.save() } else { context.processPendingChanges() }
            last = tag
        }
        #expect(last == nil && context.registeredObjects == [kept])
        #expect(context.tracker.objects.count == (isSaved ? 0 : 1))
        // * All in one event.
        for _ in 0..<1000 { context.delete(tag("y")) }
        context.processPendingChanges()
        #expect(context.tracker.objects.count <= 1)
    }
}
