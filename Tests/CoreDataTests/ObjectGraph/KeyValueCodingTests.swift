import CoreData
import Foundation
import Testing

final class Remark: NSManagedObject {
    var mood = "good"
    var rating: Int?

    override func value(forUndefinedKey key: String) -> Any? { key == "length" ? -1 : super.value(forUndefinedKey: key) }
    override func setValue(_ value: Any?, forUndefinedKey key: String) {
        guard key == "mood", let value = value as? String else { return super.setValue(value, forUndefinedKey: key) }
        mood = value
    }
}

final class TrackedDraft: NSManagedObject {
    var mood = 1
    override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
}

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

    @Test("of Foundation's collections are those of their elements, and are set in all of them")
    func foundationCollections() {
        let books = [1, 2, 2].map { pages in
            let book = Book(context: context)
            book.pages = Int32(pages)
            return book
        }
        let (list, set) = (books as NSArray, books[0].mutableSetValue(forKey: "tags"))
        books[1].title = "B"
        let tag = Tag(context: context)
        (tag.label, books[0].tags) = ("a", [tag])
        #expect(list.value(forKey: "pages") as? [Int] == [1, 2, 2])
        #expect(list.value(forKey: "title") as? [NSObject] == [NSNull(), "B" as NSString, NSNull()])
        #expect(list.value(forKeyPath: "@sum.pages") as? Int == 5 && list.value(forKeyPath: "@count") as? Int == 3)
        #expect(list.value(forKey: "@count") as? Int == 3)
        #expect(NSSet(array: books).value(forKey: "pages") as? Set<Int> == [1, 2])
        #expect((NSOrderedSet(array: books).value(forKey: "pages") as? NSOrderedSet)?.array as? [Int] == [1, 2])
        #expect(set.value(forKey: "label") as? Set<String> == ["a"])
        #expect(([["author.name": "A"]] as NSArray).value(forKey: "author.name") as? [String] == ["A"])
        list.setValue(7, forKey: "pages")
        #expect(books.map(\.pages) == [7, 7, 7])
    }

    @Test("of a path keep the kind of the collection on the way: a set of a set, an ordered set of an ordered one")
    func collections() throws {
        let book = Book(context: context)
        for label in ["a", "b", "b", nil] {
            let tag = Tag(context: context)
            tag.label = label
            book.tags.insert(tag)
        }
        for heading in ["z", "y", "z"] {
            let chapter = Chapter(context: context)
            chapter.heading = heading
            book.chapters.append(chapter)
        }
        let (author, other) = (Author(context: context), Book(context: context))
        (author.books, book.pages, other.pages) = ([book, other], 5, 5)
        #expect(book.value(forKeyPath: "tags.label") as? Set<String> == ["a", "b"])
        #expect(book.value(forKeyPath: "tags.label") as? NSSet == NSSet(array: ["a", "b"]))
        #expect((book.value(forKeyPath: "chapters.heading") as? NSOrderedSet)?.array as? [String] == ["z", "y"])
        #expect(author.value(forKeyPath: "books.pages") as? Set<Int> == [5])
        #expect(book.value(forKeyPath: "author.books.pages") as? Set<Int> == [5])
        #expect(author.value(forKeyPath: "books.tags.label") as? Set<Set<String>> == [["a", "b"], []])
        #expect(author.value(forKeyPath: "books.tags") as? Set<Set<NSManagedObject>> == [book.tags, []])
        #expect(book.value(forKeyPath: "chapters.@count") as? Int == 3)
        #expect(book.value(forKeyPath: "tags.label.length") as? Set<Int> == [1])
        #expect((author.value(forKeyPath: "books.@unionOfObjects.pages") as? [Any])?.map { "\($0)" } == ["5", "5"])
        #expect((author.value(forKeyPath: "books.@distinctUnionOfObjects.pages") as? [Any])?.map { "\($0)" } == ["5"])
    }

    @Test("are known for what every object has: its ID, entity, context and state")
    func builtIn() throws {
        let book = try library.savedBook()
        #expect(book.value(forKey: "objectID") as? NSManagedObjectID == book.objectID)
        #expect(book.value(forKey: "entity") as? NSEntityDescription === book.entity)
        #expect(book.value(forKey: "managedObjectContext") as? NSManagedObjectContext === context)
        #expect(book.value(forKey: "self") as? Book === book)
        #expect(book["isDeleted"] as? Bool == false && book["deleted"] as? Bool == false && book["hasChanges"] as? Bool == false)
        book.title = "U"
        #expect(book["isUpdated"] as? Bool == true && book["hasChanges"] as? Bool == true && book["isInserted"] as? Bool == false)
        #expect(book.value(forKeyPath: "author.objectID") == nil && book.value(forKeyPath: "entity.name") as? String == "Book")
        context.delete(book)
        #expect(book["isDeleted"] as? Bool == true)
        try context.save()
        let other = try library.separateContext()
        let fault = try #require(try other.object(with: library.savedBook().objectID) as? Book)
        #expect(fault["isFault"] as? Bool == true && fault["faultingState"] as? Int == 1 && fault["objectID"] != nil && fault.isFault)
        #expect(NSPredicate(format: "isFault == YES AND faultingState == 1").evaluate(with: fault))
    }

    @Test("are those of the class' stored properties where the model has none, and of keys that an override knows")
    func unmodelled() throws {
        let stage = try Stage { [LibraryModel.entity("Remark", Remark.self, [LibraryModel.attribute("text", .stringAttributeType)])] }
        let remark = Remark(context: stage.context)
        try stage.context.save()
        #expect(remark.value(forKey: "mood") as? String == "good" && remark.value(forKey: "rating") == nil)
        remark.rating = 3
        #expect(remark.value(forKey: "rating") as? Int == 3 && remark.value(forKey: "length") as? Int == -1)
        remark.setValue("bad", forKey: "mood")
        #expect(remark.mood == "bad" && !remark.hasChanges)
        remark.willChangeValue(forKey: "mood")
        remark.didChangeValue(forKey: "mood")
        #expect(!remark.hasChanges && !stage.context.hasChanges)
        #expect(NSPredicate(format: "mood == 'bad' AND length < 0").evaluate(with: remark))
        #expect([remark].sorted(using: [NSSortDescriptor(key: "mood", ascending: true)]).count == 1)
        #expect(throws: CocoaError.self) { try NSPredicate(format: "nothing == 1").tree.evaluate(Book(context: context)) }
    }

    @Test("that are not in the model make the object changed where its class does not ignore them")
    func trackedUnmodelled() throws {
        let stage = try Stage { [LibraryModel.entity("Draft", TrackedDraft.self, [LibraryModel.attribute("text", .stringAttributeType)])] }
        let draft = TrackedDraft(context: stage.context)
        try stage.context.save()
        draft.willChangeValue(forKey: "mood")
        draft.mood = 2
        draft.didChangeValue(forKey: "mood")
        #expect(draft.isUpdated && draft.changedValues().isEmpty)
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

    @Test("that are no dates are refused with an error that can be printed, as the object can")
    func printedDates() throws {
        let book = Book(context: context)
        (book.title, book.published) = ("T", Date(timeIntervalSinceReferenceDate: .nan))
        #expect("\(book)".contains("published: nan"))
        do {
            try context.save()
            Issue.record("A date that is none was saved")
        } catch {
            #expect((error as NSError).code == NSValidationInvalidDateError && "\(error)".contains("published"))
        }
    }

    @Test("are set at the end of a key path of every object that it leads to, along to-many relationships too")
    func settingAlongToManys() throws {
        let author = Author(context: context)
        let books = ["a", "b"].map { title in
            let book = Book(context: context)
            (book.title, book.author) = (title, author)
            let chapter = Chapter(context: context)
            chapter.book = book
            return book
        }
        author.setValue(7, forKeyPath: "books.pages")
        author.setValue("H", forKeyPath: "books.chapters.heading")
        #expect(books.allSatisfy { $0.pages == 7 && $0.chapters.first?.heading == "H" })
        books[0].setValue("N", forKeyPath: "author.name")
        #expect(author.name == "N")
    }
}
