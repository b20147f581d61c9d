import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A fetch")
struct FetchingTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library()
        let writer = library.newContext()
        for (number, label) in ["file10", "File2", "apple", "Äpfel", "zebra", nil, "École", "ecole", "file2"].enumerated() {
            let book = Book(context: writer)
            (book.title, book.pages) = (label ?? "none", Int32(number))
            book.price = label == nil ? nil : Double(number % 3)
            let tag = Tag(context: writer)
            tag.label = label
            if number < 4 { book.tags = [tag] }
        }
        for (number, name) in ["Ann", "Bob", "Cid"].enumerated() {
            let person = number == 1 ? Author(context: writer) : Person(context: writer)
            (person.name, person.age) = (name, Int16(number))
        }
        try writer.save()
        context = library.newContext()
    }

    private func labels(_ request: NSFetchRequest<Tag>) throws -> [String?] { try context.fetch(request).map(\.label) }

    private func tags(_ format: String, _ arguments: Any...) throws -> Set<String> {
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return Set(try labels(request).compactMap { $0 })
    }

    @Test("of an entity gives its subentities' objects too, unless asked not to")
    func subentities() throws {
        let request = NSFetchRequest<Person>(entityName: "Person")
        #expect(try Set(context.fetch(request).map(\.name)) == ["Ann", "Bob", "Cid"])
        #expect(try context.fetch(request).first { $0.name == "Bob" } is Author)
        request.includesSubentities = false
        #expect(try Set(context.fetch(request).map(\.name)) == ["Ann", "Cid"])
        #expect(try context.count(for: request) == 2)
        #expect(try context.fetch(NSFetchRequest<Author>(entityName: "Author")).map(\.name) == ["Bob"])
        request.includesSubentities = true
        request.predicate = NSPredicate(format: "entity == %@", NSEntityDescription.entity(forEntityName: "Author", in: context) as Any)
        #expect(try context.fetch(request).map(\.name) == ["Bob"])
        request.predicate = NSPredicate(format: "entity.name == 'Author'")
        #expect(try context.fetch(request).map(\.name) == ["Bob"])
        request.predicate = NSPredicate(format: "entity.nothing == 'Author'")
        cocoaError(134060) { try context.fetch(request) }
    }

    @Test("finds by every operator what evaluation in memory finds")
    func operators() throws {
        #expect(try tags("label == 'apple'") == ["apple"])
        #expect(try tags("label ==[cd] 'ECOLE'") == ["École", "ecole"])
        #expect(try tags("label != 'apple'").count == 7)
        #expect(try tags("label < 'b'") == ["File2", "apple"])
        #expect(try tags("label BEGINSWITH[c] 'FILE'") == ["file10", "File2", "file2"])
        #expect(try tags("label CONTAINS[cd] 'PF'") == ["Äpfel"])
        #expect(try tags("label ENDSWITH 'ra'") == ["zebra"])
        #expect(try tags("label LIKE[c] 'f?le*'") == ["file10", "File2", "file2"])
        #expect(try tags("label MATCHES '[a-z]+[0-9]{2}'") == ["file10"])
        #expect(try tags("label IN %@", ["apple", "zebra", "nobody"]) == ["apple", "zebra"])
        #expect(try tags("label IN {}") == [])
        #expect(try tags("label BETWEEN {'a', 'b'}") == ["apple"])
        #expect(try tags("NOT label BEGINSWITH 'f' AND (label == 'apple' OR label == 'zebra')") == ["apple", "zebra"])
        #expect(try tags("books.@count == 1 AND ANY books.pages > 1") == ["apple", "Äpfel"])
        #expect(try tags("SUBQUERY(books, $b, $b.pages < 2).@count == 1") == ["file10", "File2"])
        #expect(try tags("ALL books.pages < 2").contains("zebra"))
        let apple = try #require(try context.fetch(NSFetchRequest<Tag>(entityName: "Tag")).first { $0.label == "apple" })
        #expect(try tags("SELF == %@", apple) == ["apple"])
        #expect(try tags("SELF IN %@", [apple.objectID]) == ["apple"])
        #expect(try tags("ANY books == %@", try #require(apple.books.first)) == ["apple"])
        #expect(try tags("label == nil") == [])
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.predicate = NSPredicate(format: "label == nil")
        #expect(try context.count(for: request) == 1)
    }

    @Test("sorts by several keys, nil first, by letters regardless of case, and as people do")
    func sorting() throws {
        let books = NSFetchRequest<Book>(entityName: "Book")
        books.sortDescriptors = [NSSortDescriptor(key: "price", ascending: true), NSSortDescriptor(key: "pages", ascending: false)]
        #expect(try context.fetch(books).map(\.pages) == [5, 6, 3, 0, 7, 4, 1, 8, 2])
        let tags = NSFetchRequest<Tag>(entityName: "Tag")
        tags.predicate = NSPredicate(format: "label BEGINSWITH[c] 'f'")
        tags.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
        #expect(try labels(tags) == ["File2", "file10", "file2"])
        tags.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true, selector: Selector("localizedStandardCompare:"))]
        #expect(try labels(tags).last == "file10")
        tags.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true, selector: Selector("caseInsensitiveCompare:"))]
        #expect(try labels(tags).first == "file10")
        tags.predicate = nil
        tags.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
        #expect(try labels(tags).first == .some(nil))
    }

    @Test("does blocks and comparators in memory, limit and offset after them")
    func inMemory() throws {
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "label != nil"), NSPredicate { object, _ in ((object as? Tag)?.label?.count ?? 0) > 4 },
        ])
        request.sortDescriptors = [
            NSSortDescriptor(key: "label", ascending: true) { left, right in
                let (left, right) = ((left as? String ?? ""), (right as? String ?? ""))
                return left.count == right.count ? left.compare(right) : left.count < right.count ? .orderedAscending : .orderedDescending
            }
        ]
        #expect(try labels(request).compactMap { $0?.count } == [5, 5, 5, 5, 5, 5, 5, 6])
        (request.fetchLimit, request.fetchOffset) = (3, 6)
        #expect(try labels(request).compactMap { $0?.count } == [5, 6])
        #expect(try context.count(for: request) == 2)
    }

    @Test("runs one statement, and none more for its values; with IDs only, one more for each")
    func statements() throws {
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        var found: [Tag] = []
        #expect(try library.statements { found = try context.fetch(request) }.count == 1)
        #expect(found.allSatisfy { $0.isFault })
        #expect(library.statements { _ = found.map(\.label) }.isEmpty)
        #expect(!found[0].isFault)
        #expect(try library.statements { _ = try context.count(for: request) }.count == 1)

        let other = try library.separateContext()
        request.includesPropertyValues = false
        let unread = try other.fetch(request)
        #expect(unread.count == 9 && unread[0].isFault)
        #expect(Set(unread.map(\.label)).count == 9)
        request.includesPropertyValues = true
        request.returnsObjectsAsFaults = false
        #expect(try library.newContext().fetch(request).allSatisfy { !$0.isFault })
    }

    @Test("gives object IDs and counts in their result types")
    func resultTypes() throws {
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        ids.resultType = .managedObjectIDResultType
        ids.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        #expect(try context.fetch(ids).map { $0.entity.name } == ["Person", "Author", "Person"])
        let count = NSFetchRequest<NSNumber>(entityName: "Person")
        count.resultType = .countResultType
        #expect(try context.fetch(count) == [3])
        count.fetchLimit = 2
        #expect(try context.count(for: count) == 2)
    }

    @Test("keeps instances and unsaved values of objects that the context has")
    func uniquing() throws {
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
        let first = try context.fetch(request)
        first[1].label = "AAA"
        let second = try context.fetch(request)
        #expect(Set(first) == Set(second))
        #expect(first[1].label == "AAA")
        request.shouldRefreshRefetchedObjects = true
        _ = try context.fetch(request)
        #expect(first[1].label == "AAA" && first[1].isUpdated)
    }

    @Test("throws 134060 for a key that is none, naming entity and key; in predicate, order and path")
    func unknownKeys() throws {
        let request = NSFetchRequest<Book>(entityName: "Book")
        for (predicate, sort) in [
            ("colour == 1", nil), ("author.colour == 1", nil), ("ANY tags.colour == 1", nil), (nil, "colour"), (nil, "author.colour"),
        ]
            as [(String?, String?)]
        {
            request.predicate = predicate.map { NSPredicate(format: $0) }
            request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
            let error = cocoaError(134060) { try context.fetch(request) }
            #expect(error?.localizedDescription.contains("colour") == true)
            let entity = "\(predicate ?? sort ?? "")".contains("author") ? "Author" : predicate?.contains("tags") == true ? "Tag" : "Book"
            #expect(error?.localizedDescription.contains(entity) == true, "\(error?.localizedDescription ?? "")")
        }
    }

    @Test("of an entity that is none, or of another class, stops with a sentence")
    func misuse() async throws {
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            _ = try library.context.fetch(NSFetchRequest<Tag>(entityName: "Unicorn"))
        }
        let said = String(decoding: unknown?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("no entity named Unicorn"))
        let ofClass = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            _ = try library.context.fetch(NSFetchRequest<Tag>(entityName: "CoreDataTests.Tag"))
        }
        let ofClassSaid = String(decoding: ofClass?.standardErrorContent ?? [], as: UTF8.self)
        #expect(ofClassSaid.contains("Is “Tag” meant?"))
        let batch = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            _ = try library.context.execute(NSBatchInsertRequest(entityName: "Unicorn", objects: [["title": "a"]]))
        }
        let batchSaid = String(decoding: batch?.standardErrorContent ?? [], as: UTF8.self)
        #expect(batchSaid.contains("no entity named Unicorn, which a request names"))
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            _ = try library.context.fetch(NSFetchRequest<Book>(entityName: "Tag"))
        }
        let saidOfClass = String(decoding: other?.standardErrorContent ?? [], as: UTF8.self)
        #expect(saidOfClass.contains("gives objects of class Tag, not Book"))
    }
}

@Suite("A fetch of much")
struct LargeFetchTests {
    @Test("gives a thousand objects of two entities in turn, each of its class")
    func polymorphic() throws {
        let library = try Library()
        for number in 0..<1000 {
            let person = number % 2 == 0 ? Person(context: library.context) : Author(context: library.context)
            person.age = Int16(number)
        }
        try library.context.save()
        let context = try library.separateContext()
        let people = try context.all(Person.self, "Person", orderedBy: "age")
        #expect(people.map { Int($0.age) } == Array(0..<1000))
        #expect(people.enumerated().allSatisfy { ($1 is Author) == ($0 % 2 == 1) })
    }

    @Test("takes lists of 300,000 numbers, texts and dates, and conditions by the thousand")
    func longLists() throws {
        let library = try Library()
        for number in 0..<5 {
            let book = Book(context: library.context)
            (book.title, book.copies, book.published) = (
                "t\(number)", Int64(number), Date(timeIntervalSinceReferenceDate: Double(number) + 0.1)
            )
        }
        try library.context.save()
        let numbers = Array(3..<300_003)
        func count(_ predicate: NSPredicate) throws -> Int {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = predicate
            return try library.context.count(for: request)
        }
        #expect(try count(NSPredicate(format: "copies IN %@", numbers)) == 2)
        #expect(try count(NSPredicate(format: "NOT (copies IN %@)", numbers)) == 3)
        #expect(try count(NSPredicate(format: "title IN %@", numbers.map { "t\($0)" })) == 2)
        #expect(try count(NSPredicate(format: "title IN %@", numbers.map { "t\($0)" } + ["t0", "\0"])) == 3)
        let dates = numbers.map { Date(timeIntervalSinceReferenceDate: Double($0) + 0.1) }
        #expect(try count(NSPredicate(format: "published IN %@", dates)) == 2)
        let many = (1..<5000).map { NSPredicate(format: "copies == %ld", $0) }
        #expect(try count(NSCompoundPredicate(orPredicateWithSubpredicates: many)) == 4)
    }

    @Test("brings back huge, empty and strange texts and data as they were")
    func values() throws {
        let library = try Library()
        let texts = [
            String(repeating: "ä", count: 2_500_000), "", "\0", "a\0b\0", "👩‍👩‍👧‍👦🇨🇭", "e\u{301}", "\u{e9}", "\u{feff}x",
            "'; DROP TABLE ZBOOK; --", "\u{10FFFF}",
        ]
        let data = [Data(repeating: 7, count: 5_000_000), Data(), Data([0]), Data([0, 1, 0])]
        for (index, text) in texts.enumerated() {
            let book = Book(context: library.context)
            (book.title, book.pages, book.cover) = (text, Int32(index), data[index % data.count])
        }
        try library.context.save()
        let context = try library.separateContext()
        let books = try context.all(Book.self, "Book", orderedBy: "pages")
        for (index, book) in books.enumerated() {
            #expect(book.title.map { Array($0.unicodeScalars) == Array(texts[index].unicodeScalars) } == true, "\(index)")
            #expect(book.cover == data[index % data.count], "\(index)")
        }
        let request = NSFetchRequest<Book>(entityName: "Book")
        for (index, text) in texts.enumerated() {
            request.predicate = NSPredicate(format: "title == %@ AND pages == %d", text, index)
            #expect(try context.count(for: request) == 1, "\(index)")
        }
        request.predicate = NSPredicate(format: "title CONTAINS %@", "\0b")
        #expect(try context.fetch(request).map(\.pages) == [3])
    }

    @Test("works for entities with 200 attributes, with none, and with names of any letters")
    func entities() throws {
        let folder = try TemporaryFolder()
        func model() -> NSManagedObjectModel {
            let wide = LibraryModel.entity(
                "Wide",
                NSManagedObject.self,
                (0..<200).map { LibraryModel.attribute("a\($0)", $0 % 2 == 0 ? .integer64AttributeType : .stringAttributeType) }
            )
            let model = NSManagedObjectModel()
            model.entities = [
                wide, LibraryModel.entity("Empty", NSManagedObject.self, []),
                LibraryModel.entity(
                    "lower",
                    NSManagedObject.self,
                    [LibraryModel.attribute("größe", .integer16AttributeType), LibraryModel.attribute("名前", .stringAttributeType)]
                ),
            ]
            return model
        }
        let context = try Stack(folder.store, model()).newContext()
        let wide = (0..<120).map { number in
            let object = NSEntityDescription.insertNewObject(forEntityName: "Wide", into: context)
            for column in 0..<200 { object.setValue(column % 2 == 0 ? NSNumber(value: number) : "\(number)", forKey: "a\(column)") }
            return object
        }
        let empty = (0..<60).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Empty", into: context) }
        let lower = NSEntityDescription.insertNewObject(forEntityName: "lower", into: context)
        lower.setValue(7, forKey: "größe")
        lower.setValue("山田", forKey: "名前")
        try context.save()
        wide[3].setValue("changed", forKey: "a199")
        context.delete(empty[0])
        try context.save()

        let other = try Stack(folder.store, model()).newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Wide")
        request.predicate = NSPredicate(format: "a199 == 'changed' AND a198 == 3")
        let found = try other.fetch(request)
        #expect(found.count == 1)
        #expect((0..<199).allSatisfy { "\(found[0].value(forKey: "a\($0)") ?? "-")" == "3" })
        #expect(try other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Empty")) == 59)
        let unicode = NSFetchRequest<NSManagedObject>(entityName: "lower")
        unicode.predicate = NSPredicate(format: "%K == 7 AND %K BEGINSWITH '山'", "größe", "名前")
        #expect(try other.fetch(unicode).first?.value(forKey: "名前") as? String == "山田")
    }
}
