import Testing

@testable import CoreData

@Suite("Saving")
struct SavingTests {
    @Test("writes every attribute type as Core Data does, and a second coordinator reads it back")
    func roundTrip() throws {
        let library = try Library()
        let isbn = UUID()
        let book = Book(context: library.context)
        book.title = "Ein Buch über 🐘"
        book.pages = -7
        book.price = 12.5
        book.published = Date(timeIntervalSinceReferenceDate: 1000)
        book.isLent = true
        book.cover = Data([0, 1, 255])
        book.isbn = isbn
        book.copies = .max
        book.weight = 0.1
        try library.context.save()
        #expect(
            try library.sql("SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES, ZPRICE, ZPUBLISHED, ZISLENT, hex(ZCOVER), ZCOPIES FROM ZBOOK")
                == "1|1|1|Ein Buch über 🐘|-7|12.5|1000|1|0001FF|9223372036854775807"
        )

        let other = try library.separateContext()
        let read = try #require(try other.fetch(NSFetchRequest<Book>(entityName: "Book")).first)
        #expect(read.title == "Ein Buch über 🐘")
        #expect(read.pages == -7)
        #expect(read.price == 12.5)
        #expect(read.published == Date(timeIntervalSinceReferenceDate: 1000))
        #expect(read.isLent)
        #expect(read.cover == Data([0, 1, 255]))
        #expect(read.isbn == isbn)
        #expect(read.copies == .max)
        #expect(read.weight == 0.1)
    }

    @Test("a thousand inserts take a statement per fifty rows and a handful besides")
    func statementsOfInserts() throws {
        let library = try Library()
        for number in 0..<1000 {
            let tag = Tag(context: library.context)
            tag.label = "\(number)"
        }
        let statements = try library.statements { try library.context.save() }
        #expect(statements.count(where: { $0.hasPrefix("INSERT OR FAIL INTO ZTAG") }) == 20)
        #expect(statements.count <= 27)
        #expect(try library.sql("SELECT COUNT(*), MIN(Z_PK), MAX(Z_PK) FROM ZTAG") == "1000|1|1000")
    }

    @Test("leaves nothing of itself in the context, which stores 15 properties at most")
    func properties() throws {
        let library = try Library()
        let child = Layers.child(of: library.context, "child")
        #expect(Mirror(reflecting: child).children.count <= 15)
        Tag(context: child).label = "new"
        try child.save()
        try library.context.save()
        #expect(child.latestSave == nil)
        #expect(library.context.latestSave == nil)
    }
}
