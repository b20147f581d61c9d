import Foundation
import Testing

@testable import CoreData

@Suite("A batch delete")
struct BatchDeleteTests {
    @Test("deletes what its request finds, and says how many", arguments: StoreKind.allCases)
    func count(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1, "B": 2, "C": 3])
        #expect(try library.context.batchDelete("Book", "pages >= 2").count == 2)
        #expect(try library.books() == "A|1|1")
        let result = try library.context.batchDelete("Book", type: .resultTypeStatusOnly)
        #expect(result.result as? Bool == true && result.resultType == .resultTypeStatusOnly)
        #expect(try library.books() == "")
    }

    @Test("deletes what its own request finds, as changed before it runs, not the one that it was given", arguments: StoreKind.allCases)
    func ownRequest(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1, "B": 2, "C": 3])
        let given = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        let request = NSBatchDeleteRequest(fetchRequest: given)
        request.fetchRequest.predicate = NSPredicate(format: "title == 'A'")
        given.predicate = NSPredicate(format: "title == 'B'")
        try library.context.execute(request)
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK ORDER BY ZTITLE") == "B\nC")
    }

    @Test("says the IDs of what it deleted, also of what went with that", arguments: StoreKind.allCases)
    func ids(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let book = try #require(try library.save(["A": 1, "B": 2]).first)
        let chapter = Chapter(context: library.context)
        (chapter.heading, chapter.book) = ("I", book)
        try library.context.save()
        let result = try library.context.batchDelete("Book", "title == 'A'", type: .resultTypeObjectIDs)
        #expect(Set(try #require(result.result as? [NSManagedObjectID])) == [book.objectID, chapter.objectID])
        #expect(try library.sql("SELECT COUNT(*) FROM ZCHAPTER") == "0")
    }

    @Test("keeps to order, limit and offset", arguments: StoreKind.allCases)
    func window(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 5, "B": 4, "C": 3, "D": 2, "E": 1])
        try library.context.batchDelete("Book") { fetch in
            fetch.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            (fetch.fetchOffset, fetch.fetchLimit) = (1, 2)
        }
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK ORDER BY ZTITLE") == "A\nB\nE")
    }

    @Test("deletes objects of subentities unless told not to", arguments: StoreKind.allCases)
    func subentities(_ kind: StoreKind) throws {
        let library = try Library(kind)
        for _ in 0..<2 { _ = (Person(context: library.context), Author(context: library.context)) }
        try library.context.save()
        #expect(try library.context.batchDelete("Person") { $0.includesSubentities = false }.count == 2)
        #expect(try library.sql("SELECT COUNT(*) FROM ZPERSON") == "2")
        #expect(try library.context.batchDelete("Person").count == 2)
    }

    @Test("finds by key paths, along to-many relationships too", arguments: StoreKind.allCases)
    func keyPaths(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let books = try library.save(["A": 1, "B": 2, "C": 3])
        let (author, tag) = (Author(context: library.context), Tag(context: library.context))
        (author.name, tag.label) = ("Ada", "old")
        (books[0].author, books[1].tags) = (author, [tag])
        try library.context.save()
        #expect(try library.context.batchDelete("Book", "author.name == 'Ada' OR ANY tags.label == 'old'").count == 2)
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "C")
        #expect(try library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "0")
    }

    @Test("nullifies: versions of those that lose an object rise once, foreign keys and pairs go", arguments: StoreKind.allCases)
    func nullify(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.context
        let (ada, bob, desk) = (Author(context: context), Person(context: context), Desk(context: context))
        (ada.name, bob.name, bob.boss, ada.desk, ada.boss) = ("Ada", "Bob", ada, desk, bob)
        let tag = Tag(context: context)
        let books = try library.save(["A": 1, "B": 2])
        for book in books { (book.author, book.tags) = (ada, [tag]) }
        try context.save()
        let before = try library.sql("SELECT Z_OPT FROM ZPERSON ORDER BY Z_PK; SELECT Z_OPT FROM ZTAG")
        try context.batchDelete("Book")
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK; SELECT COUNT(*) FROM Z_1TAGS") == "0\n0")
        let after = try library.sql("SELECT Z_OPT FROM ZPERSON ORDER BY Z_PK; SELECT Z_OPT FROM ZTAG")
        #expect(before == "2\n1\n2" && after == "3\n1\n3", "\(before), \(after)")
        try context.batchDelete("Author")
        #expect(
            try library.sql("SELECT ZNAME, ZBOSS IS NULL, Z_OPT FROM ZPERSON; SELECT ZOWNER IS NULL, Z_OPT FROM ZDESK") == "Bob|1|2\n1|2"
        )
    }

    @Test("cascades to any depth, with the same statements for many rows", arguments: StoreKind.allCases)
    func cascade(_ kind: StoreKind) throws {
        let library = try Library(kind)
        func fill(_ count: Int) throws {
            for number in 0..<count {
                let (author, book) = (Author(context: library.context), Book(context: library.context))
                (author.penName, book.title, book.author) = ("\(number)", "\(number)", author)
                for _ in 0..<2 { Chapter(context: library.context).book = book }
            }
            try library.context.save()
        }
        var counts: [Int] = []
        for count in [3, 60] {
            try fill(count)
            let statements = try library.statements {
                let deleted = try library.context.batchDelete("Author").count
                #expect(deleted == 4 * count)
            }
            counts.append(statements.count)
        }
        #expect(counts[0] == counts[1])
        #expect(try library.sql("SELECT COUNT(*) FROM ZPERSON; SELECT COUNT(*) FROM ZBOOK; SELECT COUNT(*) FROM ZCHAPTER") == "0\n0\n0")
    }

    @Test("is refused by a deny rule where somebody denies, and deletes nothing", arguments: StoreKind.allCases)
    func deny(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let (person, desk) = (Person(context: library.context), Desk(context: library.context))
        (desk.room, desk.owner) = ("12", person)
        Desk(context: library.context).room = "13"
        try library.context.save()
        expectError(.validationRelationshipDeniedDelete, "Desk.owner", "Deny") { try library.context.batchDelete("Desk") }
        #expect(try library.sql("SELECT COUNT(*) FROM ZDESK") == "2")
        // Nobody sits at that one.
        #expect(try library.context.batchDelete("Desk", "room == '13'").count == 1)
    }

    @Test("takes IDs of one entity, and no others", arguments: StoreKind.allCases)
    func objectIDs(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let books = try library.save(["A": 1, "B": 2, "C": 3])
        let tag = Tag(context: library.context)
        try library.context.save()
        let request = NSBatchDeleteRequest(objectIDs: [books[0].objectID, books[2].objectID])
        request.resultType = .resultTypeCount
        #expect((try library.context.execute(request) as? NSBatchDeleteResult)?.count == 2)
        #expect(try library.books() == "B|2|1")
        expectError(.coreData, "Book", "Tag") {
            try library.context.execute(NSBatchDeleteRequest(objectIDs: [books[1].objectID, tag.objectID]))
        }
        #expect(try library.books() == "B|2|1")
        try library.context.execute(NSBatchDeleteRequest(objectIDs: []))
        try library.context.execute(NSBatchDeleteRequest(objectIDs: [Book(context: library.context).objectID]))
        #expect(try library.books() == "B|2|1")
        library.context.rollback()
    }

    @Test("takes requests for objects of a class")
    func typedRequests() throws {
        let library = try Library()
        try library.save(["A": 1])
        try library.context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<Book>(entityName: "Book")))
        #expect(try library.books() == "")
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<Book>(entityName: "Book"))
        #expect(request.fetchRequest.entityName == "Book" && request.requestType == .batchDeleteRequestType)
    }

    @Test("leaves contexts as they are until they merge what it did", arguments: StoreKind.allCases)
    func merging(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.context
        let books = try library.save(["A": 1, "B": 2])
        let author = Author(context: context)
        for book in books { book.author = author }
        try context.save()
        let result = try context.batchDelete("Book", "title == 'A'", type: .resultTypeObjectIDs)
        #expect(!books[0].isDeleted && author.books.count == 2)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: result.changedObjectIDs, into: [context])
        #expect(author.books == [books[1]])
        author.name = "Ada"
        try context.save()
        #expect(try library.sql("SELECT ZNAME FROM ZPERSON; SELECT ZTITLE FROM ZBOOK") == "Ada\nB")
    }

    @Test("fails with a key that the entity does not have, and deletes nothing")
    func unknownKey() throws {
        let library = try Library()
        try library.save(["A": 1])
        expectError(.coreData, "nothingThere") { try library.context.batchDelete("Book", "nothingThere == 1") }
        #expect(try library.books() == "A|1|1")
    }
}
