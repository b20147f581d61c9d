import Foundation
import Testing

@testable import CoreData

/// Two contexts that know the same book: on one coordinator, where the row cache knows of both, or on two, where only the store does.
struct Rivals {
    struct Place: CaseIterable, CustomTestStringConvertible {
        let kind: StoreKind
        let isOneCoordinator: Bool

        static let allCases = StoreKind.allCases.flatMap {
            [Place(kind: $0, isOneCoordinator: true), Place(kind: $0, isOneCoordinator: false)]
        }

        var testDescription: String { "\(kind), \(isOneCoordinator ? "one coordinator" : "two coordinators")" }
    }

    let library: Library
    let mine: NSManagedObjectContext
    let theirs: NSManagedObjectContext
    let myBook: Book
    let theirBook: Book

    init(_ place: Place) throws {
        library = try Library(place.kind)
        let book = Book(context: library.context)
        (book.title, book.pages, book.price) = ("title", 1, 1)
        try library.context.save()
        mine = library.newContext()
        theirs = place.isOneCoordinator ? library.newContext() : try library.separateContext()
        myBook = try #require(try mine.all(Book.self, "Book").first)
        theirBook = try #require(try theirs.all(Book.self, "Book").first)
        #expect(myBook.title == "title" && theirBook.title == "title")
    }

    func row() throws -> String { try library.sql("SELECT ZTITLE, ZPAGES, ZPRICE, Z_OPT FROM ZBOOK") }
}

@Suite("Optimistic locking")
struct OptimisticLockingTests {
    @Test(
        "under the error policy the second save throws 133020 with both sides, and nothing of it is written",
        arguments: Rivals.Place.allCases
    )
    func errorPolicy(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        let tag = Tag(context: rivals.mine)
        rivals.theirBook.title = "theirs"
        try rivals.theirs.save()
        rivals.myBook.title = "mine"
        let error = cocoaError(133020) { try rivals.mine.save() }
        let conflicts = try #require(error?.userInfo["conflictList"] as? [NSMergeConflict])
        #expect(conflicts.count == 1)
        let conflict = conflicts[0]
        #expect(conflict.sourceObject === rivals.myBook)
        #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
        #expect(conflict.objectSnapshot?["title"] as? String == "title")
        let (cached, persisted) = (conflict.cachedSnapshot?["title"] as? String, conflict.persistedSnapshot?["title"] as? String)
        #expect(place.isOneCoordinator ? (cached == "theirs" && persisted == nil) : (cached == "title" && persisted == "theirs"))
        // => Mine is as it was, theirs is saved.
        #expect(rivals.myBook.title == "mine" && rivals.myBook.isUpdated && tag.isInserted)
        #expect(!rivals.theirs.hasChanges)
        #expect(try rivals.row() == "theirs|1|1.0|2")
        #expect(try rivals.library.sql("SELECT COUNT(*) FROM ZTAG") == "0")
        // => Another try meets the same conflict; after a merge it passes.
        cocoaError(133020) { try rivals.mine.save() }
        rivals.mine.refresh(rivals.myBook, mergeChanges: true)
        if place.isOneCoordinator {
            #expect(rivals.myBook.title == "mine")
            try rivals.mine.save()
            #expect(try rivals.row() == "mine|1|1.0|3")
        }
    }

    @Test(
        "tells the row of another context of the coordinator as the cached one, also where nobody holds it any more",
        arguments: [false, true]
    )
    func snapshotsWithoutHolder(deletes: Bool) throws {
        let rivals = try Rivals(Rivals.Place(kind: .file, isOneCoordinator: true))
        rivals.theirBook.title = "theirs"
        if deletes { rivals.theirs.delete(rivals.theirBook) }
        try rivals.theirs.save()
        rivals.theirs.reset()
        rivals.myBook.title = "mine"
        let error = cocoaError(133020) { try rivals.mine.save() }
        let conflict = try #require((error?.userInfo["conflictList"] as? [NSMergeConflict])?.first)
        #expect(conflict.objectSnapshot?["title"] as? String == "title" && conflict.persistedSnapshot == nil)
        #expect(conflict.cachedSnapshot?["title"] as? String == (deletes ? nil : "theirs"))
    }

    @Test("store-trump keeps theirs where both changed a property, and each side's other edits", arguments: Rivals.Place.allCases)
    func storeTrump(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        (rivals.theirBook.title, rivals.theirBook.pages) = ("theirs", 2)
        try rivals.theirs.save()
        (rivals.myBook.title, rivals.myBook.price) = ("mine", 9)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try rivals.mine.save()
        #expect(try rivals.row() == "theirs|2|9.0|3")
        #expect(rivals.myBook.title == "theirs" && rivals.myBook.pages == 2 && rivals.myBook.price == 9)
        #expect(!rivals.mine.hasChanges)
    }

    @Test("object-trump keeps mine where both changed a property, and each side's other edits", arguments: Rivals.Place.allCases)
    func objectTrump(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        (rivals.theirBook.title, rivals.theirBook.pages) = ("theirs", 2)
        try rivals.theirs.save()
        (rivals.myBook.title, rivals.myBook.price) = ("mine", 9)
        rivals.mine.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        try rivals.mine.save()
        #expect(try rivals.row() == "mine|2|9.0|3")
        #expect(rivals.myBook.title == "mine" && rivals.myBook.pages == 2 && rivals.myBook.price == 9)
    }

    @Test("overwrite writes all of mine", arguments: Rivals.Place.allCases)
    func overwrite(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        (rivals.theirBook.title, rivals.theirBook.pages) = ("theirs", 2)
        try rivals.theirs.save()
        rivals.myBook.price = 9
        rivals.mine.mergePolicy = NSMergePolicy.overwrite
        try rivals.mine.save()
        #expect(try rivals.row() == "title|1|9.0|3")
        #expect(rivals.myBook.title == "title")
    }

    @Test("rollback drops mine, and saves what is not in conflict", arguments: Rivals.Place.allCases)
    func rollback(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        rivals.theirBook.title = "theirs"
        try rivals.theirs.save()
        (rivals.myBook.title, rivals.myBook.price) = ("mine", 9)
        let tag = Tag(context: rivals.mine)
        tag.label = "other"
        rivals.mine.mergePolicy = NSMergePolicy.rollback
        try rivals.mine.save()
        #expect(try rivals.row() == "theirs|1|1.0|2")
        #expect(rivals.myBook.title == "theirs" && rivals.myBook.price == 1)
        #expect(!rivals.myBook.hasChanges && !rivals.mine.hasChanges)
        #expect(try rivals.library.sql("SELECT ZLABEL FROM ZTAG") == "other")
    }

    @Test("a relationship is merged as any property", arguments: Rivals.Place.allCases)
    func relationship(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        let author = Author(context: rivals.theirs)
        author.name = "theirs"
        rivals.theirBook.author = author
        try rivals.theirs.save()
        rivals.myBook.title = "mine"
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try rivals.mine.save()
        #expect(rivals.myBook.author?.name == "theirs")
        #expect(try rivals.library.sql("SELECT ZTITLE, ZAUTHOR FROM ZBOOK") == "mine|1")
    }

    @Test("who was led to a row that they deleted is saved once that is refreshed", arguments: Rivals.Place.allCases, [true, false])
    func ledToDeleted(place: Rivals.Place, merges: Bool) throws {
        let rivals = try Rivals(place)
        let theirBoss = Person(context: rivals.theirs)
        try rivals.theirs.save()
        let boss = try #require(try rivals.mine.all(Person.self, "Person").first)
        rivals.mine.refresh(boss, mergeChanges: false)
        let report = Person(context: rivals.mine)
        report.boss = boss
        rivals.theirs.delete(theirBoss)
        try rivals.theirs.save()
        rivals.mine.mergePolicy = NSMergePolicy.error
        cocoaError(133020) { try rivals.mine.save() }
        rivals.mine.refresh(boss, mergeChanges: merges)
        try rivals.mine.save()
        #expect(report.boss == nil && boss.managedObjectContext == nil && !rivals.mine.hasChanges)
        #expect(try rivals.library.sql("SELECT COUNT(*), COUNT(ZBOSS) FROM ZPERSON") == "1|0")
    }

    @Test(
        "a row that they deleted and I edited comes back under its key, or I lose the object",
        arguments: Rivals.Place.allCases,
        NSMergePolicyType.all
    )
    func editAgainstDelete(place: Rivals.Place, policy: NSMergePolicyType) throws {
        let rivals = try Rivals(place)
        let id = rivals.myBook.objectID
        rivals.theirs.delete(rivals.theirBook)
        try rivals.theirs.save()
        rivals.myBook.title = "mine"
        rivals.mine.mergePolicy = NSMergePolicy(merge: policy)
        switch policy {
        case .errorMergePolicyType:
            let error = cocoaError(133020) { try rivals.mine.save() }
            let conflict = try #require((error?.userInfo["conflictList"] as? [NSMergeConflict])?.first)
            #expect(conflict.newVersionNumber == 0)
            #expect(
                place.isOneCoordinator
                    ? conflict.cachedSnapshot == nil || conflict.persistedSnapshot == nil : conflict.persistedSnapshot == nil
            )
            #expect(rivals.myBook.isUpdated && rivals.myBook.title == "mine")
            #expect(try rivals.row().isEmpty)
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            try rivals.mine.save()
            #expect(try rivals.library.sql("SELECT Z_PK, ZTITLE, ZPAGES, ZPRICE FROM ZBOOK") == "1|mine|1|1.0")
            #expect(rivals.myBook.objectID == id && !rivals.myBook.hasChanges)
            rivals.myBook.title = "again"
            try rivals.mine.save()
            #expect(try rivals.library.sql("SELECT ZTITLE FROM ZBOOK") == "again")
        default:
            try rivals.mine.save()
            #expect(try rivals.row().isEmpty)
            #expect(rivals.myBook.managedObjectContext == nil || rivals.myBook.isDeleted)
            #expect(!rivals.mine.hasChanges)
            #expect(try rivals.mine.all(Book.self, "Book").isEmpty)
        }
    }

    @Test(
        "a row that they edited and I delete is in conflict; the delete stands, or is taken back",
        arguments: Rivals.Place.allCases,
        NSMergePolicyType.all
    )
    func deleteAgainstEdit(place: Rivals.Place, policy: NSMergePolicyType) throws {
        let rivals = try Rivals(place)
        rivals.theirBook.title = "theirs"
        try rivals.theirs.save()
        rivals.mine.delete(rivals.myBook)
        rivals.mine.mergePolicy = NSMergePolicy(merge: policy)
        switch policy {
        case .errorMergePolicyType:
            cocoaError(133020) { try rivals.mine.save() }
            #expect(rivals.myBook.isDeleted)
            #expect(try rivals.row() == "theirs|1|1.0|2")
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            try rivals.mine.save()
            #expect(try rivals.row().isEmpty)
            #expect(rivals.myBook.managedObjectContext == nil)
        default:
            try rivals.mine.save()
            #expect(try rivals.row() == "theirs|1|1.0|2")
            #expect(!rivals.myBook.isDeleted && rivals.myBook.title == "theirs")
        }
    }

    @Test("deleting what they deleted is no conflict", arguments: Rivals.Place.allCases)
    func deleteAgainstDelete(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        rivals.theirs.delete(rivals.theirBook)
        try rivals.theirs.save()
        rivals.mine.delete(rivals.myBook)
        try rivals.mine.save()
        #expect(try rivals.row().isEmpty)
        #expect(!rivals.mine.hasChanges)
    }

    @Test("a policy of one's own decides with the snapshots at hand", arguments: Rivals.Place.allCases)
    func ownPolicy(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        rivals.theirBook.pages = 10
        try rivals.theirs.save()
        rivals.myBook.pages = 5
        rivals.mine.mergePolicy = AddingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try rivals.mine.save()
        // 10 of theirs, 5 - 1 of mine.
        #expect(try rivals.row() == "title|14|1.0|3")
        #expect(rivals.myBook.pages == 14)
    }

    @Test("three contexts in a row merge what each changed", arguments: Rivals.Place.allCases)
    func threeContexts(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        let third = try rivals.library.separateContext()
        let thirdBook = try #require(try third.all(Book.self, "Book").first)
        #expect(thirdBook.price == 1)
        for context in [rivals.mine, third] { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        rivals.theirBook.title = "theirs"
        try rivals.theirs.save()
        rivals.myBook.pages = 7
        try rivals.mine.save()
        thirdBook.price = 3
        try third.save()
        #expect(try rivals.row() == "theirs|7|3.0|4")
        #expect(thirdBook.title == "theirs" && thirdBook.pages == 7)
    }

    @Test(
        "a save leaves the versions in the file: 1 for an insert, one more for each update, none for nothing",
        arguments: StoreKind.allCases
    )
    func versions(kind: StoreKind) throws {
        let library = try Library(kind)
        let author = Author(context: library.context)
        let book = Book(context: library.context)
        (book.title, author.name) = ("t", "n")
        try library.context.save()
        func versions() throws -> String { try library.sql("SELECT (SELECT Z_OPT FROM ZBOOK), (SELECT Z_OPT FROM ZPERSON)") }
        #expect(try versions() == "1|1")
        book.title = "t"
        try library.context.save()
        #expect(try versions() == "1|1")
        book.title = "u"
        book.title = "v"
        try library.context.save()
        #expect(try versions() == "2|1")
        // * The to-many side counts once, however much is put in.
        book.author = author
        let second = Book(context: library.context)
        (second.title, second.author) = ("w", author)
        try library.context.save()
        #expect(try library.sql("SELECT group_concat(Z_OPT) FROM ZBOOK") == "3,1")
        #expect(try library.sql("SELECT Z_OPT FROM ZPERSON") == "2")
    }

    @Test(
        "the version goes on rising after a merge, and the merged object saves again without a conflict",
        arguments: Rivals.Place.allCases
    )
    func versionsAfterMerge(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        for number in 1...3 {
            rivals.theirBook.pages = Int32(number) + 10
            rivals.theirs.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try rivals.theirs.save()
            rivals.myBook.price = Double(number) * 2
            try rivals.mine.save()
        }
        rivals.mine.mergePolicy = NSMergePolicy.error
        rivals.myBook.title = "quiet"
        try rivals.mine.save()
        #expect(try rivals.row() == "quiet|13|6.0|8")
    }
}

/// Adds up what both sides did to the number of pages.
private final class AddingPolicy: NSMergePolicy, @unchecked Sendable {
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        var sums: [(book: Book, pages: Int32)] = []
        for conflict in list {
            guard let book = conflict.sourceObject as? Book,
                let now = (conflict.persistedSnapshot ?? conflict.cachedSnapshot)?["pages"] as? NSNumber,
                let base = conflict.objectSnapshot?["pages"] as? NSNumber
            else { continue }
            sums.append((book, book.pages + now.int32Value - base.int32Value))
        }
        try super.resolve(optimisticLockingConflicts: list)
        for (book, pages) in sums { book.pages = pages }
    }
}

@Suite("The row cache")
struct RowCacheSharingTests {
    @Test(
        "fills another context's faults with what was saved last, without a statement; realised objects keep their values until refreshed",
        arguments: StoreKind.allCases
    )
    func sharing(kind: StoreKind) throws {
        let library = try Library(kind)
        let tag = Tag(context: library.context)
        tag.label = "old"
        try library.context.save()
        let (first, second) = (library.newContext(), library.newContext())
        let realised = try #require(try first.all(Tag.self, "Tag").first)
        #expect(realised.label == "old")
        let fault = second.object(with: tag.objectID)
        tag.label = "new"
        try library.context.save()
        let statements = library.statements { #expect((fault as? Tag)?.label == "new") }
        #expect(statements.isEmpty)
        #expect(realised.label == "old")
        // => A fetch does not overwrite either, unless asked to.
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.predicate = NSPredicate(format: "label == 'new'")
        #expect(try first.fetch(request).first === realised)
        #expect(realised.label == "old")
        request.shouldRefreshRefetchedObjects = true
        #expect(try first.fetch(request).first?.label == "new")
        #expect(realised.label == "new")
    }

    @Test("refresh drops or keeps edits, and takes the newest row", arguments: StoreKind.allCases)
    func refreshing(kind: StoreKind) throws {
        let library = try Library(kind)
        let book = Book(context: library.context)
        (book.title, book.pages) = ("old", 1)
        try library.context.save()
        let other = library.newContext()
        let mine = try #require(try other.all(Book.self, "Book").first)
        mine.pages = 5
        book.title = "new"
        try library.context.save()
        other.refresh(mine, mergeChanges: true)
        #expect(mine.title == "new" && mine.pages == 5 && mine.isUpdated)
        try other.save()
        #expect(try library.sql("SELECT ZTITLE, ZPAGES, Z_OPT FROM ZBOOK") == "new|5|3")
        mine.pages = 6
        other.refresh(mine, mergeChanges: false)
        #expect(mine.isFault && !mine.hasChanges && !other.hasChanges)
        #expect(mine.pages == 5)
        book.title = "mine"
        library.context.rollback()
        #expect(book.title == "new")
    }
}
