import CoreData
import Foundation
import Testing

@Suite("Values by name")
struct KeyValueCodingTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    @Test("are NSNumbers for numbers, nil where there is none, and accept Swift's numbers")
    func numbers() throws {
        let (book, person) = (Book(context: context), Person(context: context))
        #expect(book.value(forKey: "pages") == nil && book.value(forKey: "isLent") as? NSNumber == false)
        book.setValue(5, forKey: "pages")
        book.setValue(NSNumber(value: 2.5), forKey: "price")
        book.setValue(true, forKey: "isLent")
        book.setValue(Float(0.5), forKey: "weight")
        book.setValue(Int8(-3), forKey: "copies")
        person.setValue(Int(41), forKey: "age")
        #expect(book.value(forKey: "pages") is NSNumber && book.value(forKey: "pages") as? Int == 5 && book.pages == 5)
        #expect(book.value(forKey: "price") as? NSNumber == 2.5 && book.price == 2.5)
        #expect(book.value(forKey: "isLent") as? Bool == true && book.isLent)
        #expect(book.weight == 0.5 && book.copies == -3 && person.age == 41)
        book.setValue(nil, forKey: "pages")
        #expect(book.pages == 0 && book.value(forKey: "pages") == nil)
        book.setValue(NSNull(), forKey: "price")
        #expect(book.price == nil)
        book.setValue("T", forKey: "title")
        book.setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "published")
        try context.save()
        #expect(try library.sql("SELECT ZPAGES IS NULL, ZISLENT, ZWEIGHT, ZCOPIES, ZPUBLISHED FROM ZBOOK") == "1|1|0.5|-3|1")
    }

    @Test(
        "that do not fit an integer attribute fail validation and are never cut to another number",
        arguments: [
            (70000, NSValidationNumberTooLargeError), (-40000, NSValidationNumberTooSmallError),
        ]
    )
    func overflow(age: Int, code: Int) throws {
        let person = Person(context: context)
        person.setValue(age, forKey: "age")
        #expect(errorCode { try context.save() } == code)
        person.setValue(7, forKey: "age")
        try context.save()
        #expect(try library.sql("SELECT ZAGE FROM ZPERSON") == "7")
    }

    @Test("of the wrong type trap with the attribute's name, unknown keys too")
    func misuse() async {
        await #expect(processExitsWith: .failure) { try Book(context: Library().context).setValue("five", forKey: "pages") }
        await #expect(processExitsWith: .failure) { try Book(context: Library().context).setValue(5, forKey: "title") }
        await #expect(processExitsWith: .failure) { try Book(context: Library().context).setValue("A", forKey: "author") }
        await #expect(processExitsWith: .failure) { _ = try Book(context: Library().context).value(forKey: "nothing") }
        await #expect(processExitsWith: .failure) { try Book(context: Library().context).setValue(1, forKey: "nothing") }
        await #expect(processExitsWith: .failure) {
            let library = try Library()
            Book(context: library.context).setValue(Tag(context: library.context), forKey: "author")
        }
        await #expect(processExitsWith: .failure) {
            let library = try Library()
            Book(context: library.context).author = Author(context: library.newContext())
        }
    }

    @Test("go along key paths, over to-many relationships, with @count and other collection operators")
    func keyPaths() throws {
        let author = Author(context: context)
        author.name = "A"
        for pages in [1, 2, 3] {
            let book = Book(context: context)
            book.pages = Int32(pages)
            book.author = author
        }
        let book = try #require(author.books.first)
        #expect(book.value(forKeyPath: "author.name") as? String == "A")
        #expect(author.value(forKeyPath: "books.@count") as? Int == 3)
        #expect((author.value(forKeyPath: "books.@sum.pages") as? NSNumber)?.intValue == 6)
        #expect(book.value(forKeyPath: "author.books.@count") as? Int == 3)
        #expect(book.value(forKeyPath: "author.boss.name") == nil)
        book.setValue("B", forKeyPath: "author.name")
        #expect(author.name == "B")
        book.setValue("nobody", forKeyPath: "author.boss.name")
    }

    @Test("come and go as dictionaries, and by subscript")
    func dictionaries() throws {
        let book = Book(context: context)
        book.setValuesForKeys(["title": "T", "pages": 3, "price": NSNull()])
        #expect(
            book.dictionaryWithValues(forKeys: ["title", "pages", "price"]) as NSDictionary == [
                "title": "T", "pages": 3, "price": NSNull(),
            ]
        )
        book["title"] = "U"
        #expect(book["title"] as? String == "U" && book.title == "U")
    }
}
