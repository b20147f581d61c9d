import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("A batch request with a predicate or an order that only memory can follow")
struct BatchDecisionTests {
    private let isOdd = NSPredicate { object, _ in ((object as? Book)?.pages ?? 0) % 2 == 1 }

    @Test("deletes what a block says, and what goes with that", arguments: StoreKind.allCases)
    func delete(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let books = try library.save(["A": 1, "B": 2, "C": 3])
        Chapter(context: library.context).book = books[0]
        try library.context.save()
        let result = try library.context.batchDelete("Book", type: .resultTypeObjectIDs) { $0.predicate = isOdd }
        #expect(result.changedObjectIDs.values.compactMap { ($0 as? [NSManagedObjectID])?.count } == [3])
        #expect(try library.books() == "B|2|1")
        #expect(try library.sql("SELECT COUNT(*) FROM ZCHAPTER") == "0")
        #expect(try library.context.batchDelete("Book") { $0.predicate = isOdd }.count == 0)
    }

    @Test("updates what a block says, beside what SQL says", arguments: StoreKind.allCases)
    func update(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1, "B": 2, "C": 3])
        let predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [isOdd, NSPredicate(format: "title != 'A'")])
        let result = try library.context.batchUpdate("Book", ["pages": NSExpression(format: "pages + 10")]) { $0.predicate = predicate }
        #expect(result.count == 1)
        #expect(try library.books() == "A|1|1\nB|2|1\nC|13|2")
    }

    @Test("asks only about rows of which SQL cannot tell", arguments: StoreKind.allCases)
    func candidates(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1, "B": 2, "C": 3])
        let asked = Mutex<[String]>([])
        let block = NSPredicate { object, _ in
            asked.withLock { $0.append((object as? Book)?.title ?? "") }
            return false
        }
        try library.context.batchDelete("Book") {
            $0.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "pages > 1"), block])
        }
        #expect(asked.withLock { $0.sorted() } == ["B", "C"])
    }

    @Test("counts limit and offset in the order of a comparator, or of SQL", arguments: StoreKind.allCases)
    func windows(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 5, "B": 4, "C": 3, "D": 2, "E": 1])
        // A block makes it memory's, the order is SQL's.
        try library.context.batchDelete("Book") { fetch in
            fetch.predicate = isOdd
            fetch.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            (fetch.fetchOffset, fetch.fetchLimit) = (1, 1)
        }
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK ORDER BY ZTITLE") == "A\nB\nD\nE")
        // By a comparator: the other way round.
        try library.context.batchDelete("Book") { fetch in
            fetch.sortDescriptors = [
                NSSortDescriptor(key: "pages", ascending: true) { left, right in
                    ((right as? NSNumber)?.intValue ?? 0) < ((left as? NSNumber)?.intValue ?? 0) ? .orderedAscending : .orderedDescending
                }
            ]
            (fetch.fetchOffset, fetch.fetchLimit) = (1, 2)
        }
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK ORDER BY ZTITLE") == "A\nE")
    }

    @Test("takes the store's values, not those of contexts", arguments: StoreKind.allCases)
    func unsaved(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let books = try library.save(["A": 1, "B": 2])
        (books[0].pages, books[1].pages) = (2, 1)
        try library.context.batchDelete("Book") { $0.predicate = isOdd }
        #expect(try library.books() == "B|2|1")
    }

    @Test("decides again where the rows are others by the time they are written", arguments: StoreKind.allCases)
    func overtaken(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1, "B": 2])
        let other = try library.separateContext()
        let turns = Mutex(0)
        let predicate = NSPredicate { object, _ in
            // * Somebody makes B odd as well, and adds C.
            if turns.withLock({
                $0 += 1; return $0
            }) == 1 {
                _ = try? other.batchUpdate("Book", ["pages": 5], where: "title == 'B'")
                _ = try? other.batchInsert("Book", [["title": "C", "pages": 7]])
            }
            return ((object as? Book)?.pages ?? 0) % 2 == 1
        }
        #expect(try library.context.batchDelete("Book") { $0.predicate = predicate }.count == 3)
        #expect(try library.books() == "")
    }

    @Test("decides again where a row that the predicate was led to is another one", arguments: StoreKind.allCases)
    func overtakenPremise(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let author = Author(context: library.context)
        author.name = "Ada"
        for book in try library.save(["A": 1, "B": 2]) { book.author = author }
        try library.context.save()
        let other = try library.separateContext()
        let turns = Mutex(0)
        let predicate = NSPredicate { object, _ in
            let isAda = (object as? Book)?.author?.name == "Ada"
            if turns.withLock({
                $0 += 1; return $0
            }) == 2 {
                _ = try? other.batchUpdate("Author", ["name": "Bob"])
            }
            return isAda
        }
        #expect(try library.context.batchDelete("Book") { $0.predicate = predicate }.count == 0)
        #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == "A\nB")
    }

    @Test("gives up where the rows are others each time, says so, and writes nothing")
    func neverInTime() throws {
        let library = try Library()
        try library.save(["A": 1])
        let other = try library.separateContext()
        let predicate = NSPredicate { _, _ in
            _ = try? other.batchUpdate("Book", ["pages": NSExpression(format: "pages + 1")])
            return true
        }
        expectError(.managedObjectMerge, "Book", "NSBatchDeleteRequest", "try again") {
            try library.context.batchDelete("Book") { $0.predicate = predicate }
        }
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK") == "1")
    }

    @Test("lets a block fetch and save, in a store in memory too", arguments: StoreKind.allCases)
    func reentrant(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1, "B": 2])
        let context = library.newContext()
        let predicate = NSPredicate { object, _ in
            let count = (try? context.count(for: NSFetchRequest<Book>(entityName: "Book"))) ?? 0
            Tag(context: context).label = "seen"
            return (try? context.save()) != nil && count == 2
        }
        #expect(try library.context.batchDelete("Book") { $0.predicate = predicate }.count == 2)
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "2")
    }

    @Test("finds among thousands, with the same statements for each thousand")
    func many() throws {
        let library = try Library()
        try library.context.batchInsert("Book", (0..<2500).map { ["title": "\($0)", "pages": $0] })
        let statements = try library.statements {
            let count = try library.context.batchDelete("Book") { $0.predicate = isOdd }.count
            #expect(count == 1250)
        }
        #expect(statements.filter { $0.hasPrefix("SELECT") }.count < 20, "\(statements)")
    }
}
