import CSQLite
import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A save at SQLite's limits")
struct SaveLimitsTests {
    // * 300 objects change, each in another combination of properties; one of them was changed in the store.
    // => More statements than are kept, and a conflict that reads in between.
    @Test("with more kinds of changes than statements are kept, and a conflict", arguments: StoreKind.allCases)
    func manyKinds(kind: StoreKind) throws {
        let library = try Library(kind)
        for number in 0..<300 { book("\(number)", library.context) }
        try library.context.save()
        let books = try library.context.all(Book.self, "Book", orderedBy: "title").sorted { Int($0.title ?? "")! < Int($1.title ?? "")! }
        for (number, book) in books.enumerated() { change(book, number + 1) }
        _ = try library.sql("UPDATE ZBOOK SET ZTITLE = 'theirs', Z_OPT = 2 WHERE ZTITLE = '270'")
        #expect(throws: (any Error).self) { try library.context.save() }
        #expect(books[270].hasChanges && books[0].hasChanges)
        library.context.mergePolicy = NSMergePolicy.overwrite
        try library.context.save()
        #expect(try library.sql("SELECT count(*) FROM ZBOOK WHERE Z_OPT > 1") == "300")
        #expect(try library.sql("SELECT count(*) FROM ZBOOK WHERE ZPAGES = 7") == "\((1...300).count { $0 & 1 != 0 })")
    }

    @discardableResult private func book(_ title: String, _ context: NSManagedObjectContext) -> Book {
        let book = Book(context: context)
        book.title = title
        return book
    }

    /// Changes the properties whose bits are set.
    private func change(_ book: Book, _ bits: Int) {
        if bits & 1 != 0 { book.pages = 7 }
        if bits & 2 != 0 { book.price = 7 }
        if bits & 4 != 0 { book.published = Date(timeIntervalSinceReferenceDate: 7) }
        if bits & 8 != 0 { book.isLent = true }
        if bits & 16 != 0 { book.cover = Data([7]) }
        if bits & 32 != 0 { book.isbn = UUID() }
        if bits & 64 != 0 { book.copies = 7 }
        if bits & 128 != 0 { book.weight = 7 }
        if bits & 256 != 0 { book.title = "changed \(bits)" }
    }

    @Test("keeps the statements of a bounded number of kinds of changes")
    func keptKinds() throws {
        let library = try Library()
        let statements = library.store.saveStatements(try #require(library.model.entitiesByName["Book"]))
        let before = statements.update(SlotMask()).sql
        for number in 0..<1000 {
            var slots = SlotMask()
            for slot in 0..<9 where number & 1 << slot != 0 { slots.insert(slot) }
            _ = statements.update(slots)
        }
        #expect(statements.update(SlotMask()).sql == before)
        #expect(statements.updateCount <= 128)
    }

    @Test("throws where SQLite refuses a value, names entity and property, and keeps the change", arguments: StoreKind.allCases)
    func refusedValue(kind: StoreKind) throws {
        let library = try Library(kind)
        let old = try library.savedBook("old")
        try library.store.pool.write { _ = sqlite3_limit($0.handle, SQLITE_LIMIT_LENGTH, 20_000) }
        let large = String(repeating: "x", count: 30_000)
        for change in [{ old.title = large }, { old.cover = Data(large.utf8) }, { self.book(large, library.context) }] as [() -> Void] {
            change()
            let error = cocoaError(134030) { try library.context.save() }
            #expect(
                error?.localizedDescription.contains("Book.title") == true || error?.localizedDescription.contains("Book.cover") == true
            )
            #expect(library.context.hasChanges)
            #expect(try library.sql("SELECT ZTITLE, ZCOVER IS NULL FROM ZBOOK") == "old|1")
            library.context.rollback()
        }
    }

    @Test("asks how many parameters a statement takes", arguments: [10, 11, 29, 100, 32_766])
    func parameters(limit: Int32) throws {
        let library = try Library()
        try library.store.pool.write { _ = sqlite3_limit($0.handle, SQLITE_LIMIT_VARIABLE_NUMBER, limit) }
        for number in 0..<120 { Tag(context: library.context).label = "\(number)" }
        for number in 0..<20 where limit > 20 { book("\(number)", library.context) }
        try library.context.save()
        #expect(try library.sql("SELECT count(DISTINCT ZLABEL) FROM ZTAG") == "120")
        #expect(try library.sql("SELECT count(DISTINCT ZTITLE) FROM ZBOOK") == (limit > 20 ? "20" : "0"))
    }
}
