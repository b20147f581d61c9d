import CoreData
import Foundation
import Testing

@Suite("Objects made in no context")
struct UninsertedObjectTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func make<Object: NSManagedObject>(_ make: (NSEntityDescription, NSManagedObjectContext?) -> Object) throws -> Object {
        make(try #require(library.model.entitiesByName["\(Object.self)"]), nil)
    }

    @Test("are related as others are, both ends at once")
    func relating() throws {
        let (author, other, book, tag) = try (
            make(Author.init(entity:insertInto:)), make(Author.init(entity:insertInto:)), make(Book.init(entity:insertInto:)),
            make(Tag.init(entity:insertInto:))
        )
        let (person, desk) = try (make(Person.init(entity:insertInto:)), make(Desk.init(entity:insertInto:)))
        book.author = author
        #expect(book.author === author && author.books == [book])
        other.addToBooks(book)
        #expect(book.author === other && author.books.isEmpty && other.books == [book])
        book.tags = [tag]
        #expect(tag.books == [book])
        person.desk = desk
        #expect(desk.owner === person && desk.value(forKey: "owner") as? Person === person)
        desk.owner = nil
        #expect(person.desk == nil && person.primitiveValue(forKey: "desk") == nil)
        book.author = nil
        #expect(other.books.isEmpty && book.managedObjectContext == nil)
    }

    @Test("come into a context with all that they lead to, and are saved")
    func inserting() throws {
        let (author, book, chapter, tag) = try (
            make(Author.init(entity:insertInto:)), make(Book.init(entity:insertInto:)), make(Chapter.init(entity:insertInto:)),
            make(Tag.init(entity:insertInto:))
        )
        (author.name, book.title, chapter.heading, tag.label) = ("a", "b", "c", "t")
        book.author = author
        book.chapters = [chapter]
        tag.books = [book]
        context.insert(author)
        #expect(context.insertedObjects == [author, book, chapter, tag])
        #expect(book.author === author && author.books == [book] && chapter.book === book && book.tags == [tag])
        #expect(!author.isUpdated && author.objectID.isTemporaryID && author.objectID != book.objectID)
        context.insert(book)
        try context.save()
        #expect(
            try library.sql(
                "SELECT ZNAME, ZTITLE, ZHEADING FROM ZPERSON a JOIN ZBOOK b ON b.ZAUTHOR = a.Z_PK JOIN ZCHAPTER c ON c.ZBOOK = b.Z_PK"
            ) == "a|b|c"
        )
        let other = try library.separateContext()
        #expect(try other.only(Tag.self, "Tag").books.first?.title == "b")
    }

    @Test("are inserted where an object is that they are related to, from either side")
    func joining() throws {
        let author = Author(context: context)
        author.name = "a"
        let (first, second, tag) = try (
            make(Book.init(entity:insertInto:)), make(Book.init(entity:insertInto:)), make(Tag.init(entity:insertInto:))
        )
        (first.title, second.title) = ("1", "2")
        second.tags = [tag]
        first.author = author
        author.addToBooks(second)
        #expect(context.insertedObjects == [author, first, second, tag] && author.books == [first, second])
        try context.save()
        #expect(try library.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR = 1") == "2")
    }

    @Test("are equal in a predicate to themselves, and to nobody else")
    func predicates() throws {
        let (one, other, book) = try (
            make(Author.init(entity:insertInto:)), make(Author.init(entity:insertInto:)), make(Book.init(entity:insertInto:))
        )
        book.author = one
        func holds(_ format: String, _ argument: Any, _ object: NSManagedObject) -> Bool {
            NSPredicate(format: format, argumentArray: [argument]).evaluate(with: object)
        }
        #expect(holds("SELF == %@", one, one) && !holds("SELF == %@", other, one))
        #expect(holds("SELF IN %@", [one], one) && !holds("SELF IN %@", [other], one))
        #expect(holds("author == %@", one, book) && !holds("author == %@", other, book))
        #expect(holds("books CONTAINS %@", book, one) && holds("ANY books == %@", book, one) && !holds("ANY books == %@", book, other))
    }

    @Test("have IDs of their own, which stay theirs in the context that they come into")
    func identities() throws {
        let (one, other) = try (make(Tag.init(entity:insertInto:)), make(Tag.init(entity:insertInto:)))
        (one.label, other.label) = ("1", "2")
        let ids = [one.objectID, other.objectID]
        #expect(ids[0] != ids[1] && ids[0].uriRepresentation() != ids[1].uriRepresentation())
        #expect(ids.allSatisfy(\.isTemporaryID) && context.registeredObject(for: ids[0]) == nil)
        context.insert(one)
        #expect(one.objectID == ids[0] && one.objectID.uriRepresentation() == ids[0].uriRepresentation())
        #expect(context.registeredObject(for: ids[0]) === one && context.registeredObject(for: ids[1]) == nil)
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        #expect((try child.existingObject(with: ids[0]) as? Tag)?.label == "1")
        try context.save()
        #expect(!one.objectID.isTemporaryID && one.objectID == ids[0] && ids[0].isTemporaryID)
        #expect(context.object(with: ids[0]) === one)
    }

    @Test("a chain of 100,000 of them is inserted without overflowing the stack")
    func chain() throws {
        var people = [try make(Person.init(entity:insertInto:))]
        for _ in 0..<100_000 {
            let next = try make(Person.init(entity:insertInto:))
            next.boss = people.last
            people.append(next)
        }
        context.insert(people[0])
        #expect(context.insertedObjects.count == people.count)
    }

    @Test("of a deleted object nothing comes back by relating it: it is refused")
    func deleted() async {
        await #expect(processExitsWith: .failure) {
            let library = try Library()
            let author = Author(context: library.context)
            try library.context.save()
            library.context.delete(author)
            try library.context.save()
            Book(context: library.context).author = author
        }
    }
}
