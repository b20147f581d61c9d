import Foundation
import Testing

@testable import CoreData

@Suite("A fetch for dictionaries")
struct DictionaryResultTests {
    private let library: Library
    private var context: NSManagedObjectContext { library.context }

    init() throws {
        library = try Library(.memory)
        let author = Author(context: library.context)
        (author.name, author.age) = ("Ann", 40)
        for (index, pages) in [10, 20, 20, 30].enumerated() {
            let book = Book(context: library.context)
            (book.title, book.pages, book.price) = ("b\(index)", Int32(pages), index == 3 ? nil : Double(index) + 0.5)
            if index < 2 { book.author = author }
            if index == 0 { book.tags = [Tag(context: library.context), Tag(context: library.context)] }
        }
        try library.context.save()
    }

    private func column(_ name: String, _ expression: CoreData.NSExpression, _ type: NSAttributeType = .undefinedAttributeType)
        -> NSExpressionDescription
    {
        let column = NSExpressionDescription()
        (column.name, column.expression, column.expressionResultType) = (name, expression, type)
        return column
    }

    private func aggregate(_ function: String, _ key: String, _ name: String? = nil) -> NSExpressionDescription {
        column(name ?? function, CoreData.NSExpression(forFunction: function, arguments: [CoreData.NSExpression(forKeyPath: key)]))
    }

    private func request(_ columns: Any..., by keys: [String] = []) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = columns
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    /// The rows as texts, keys in order.
    private func rows(_ request: NSFetchRequest<NSDictionary>, in context: NSManagedObjectContext? = nil) throws -> [String] {
        try (context ?? self.context).fetch(request).map { row in
            row.allKeys.compactMap { $0 as? String }.sorted().map { "\($0)=\(row[$0] ?? "")" }.joined(separator: " ")
        }
    }

    @Test("gives properties by name and by path, and leaves out what is nil")
    func properties() throws {
        let found = try rows(request("title", "price", "author.name", "tags.@count", by: ["title"]))
        #expect(found[0] == "author.name=Ann price=0.5 tags.@count=2 title=b0")
        #expect(found[3] == "tags.@count=0 title=b3")
        let description = try #require(library.model.entitiesByName["Book"]?.attributesByName["title"])
        #expect(try rows(request(description, by: ["title"])) == ["title=b0", "title=b1", "title=b2", "title=b3"])
        let all = request(by: ["title"])
        all.propertiesToFetch = nil
        let first = try #require(try context.fetch(all).first)
        #expect(first["title"] as? String == "b0" && (first["pages"] as? NSNumber)?.intValue == 10 && first["author"] == nil)
        #expect((first["isLent"] as? NSNumber)?.boolValue == false)
    }

    @Test("gives the object ID of a to-one, of the object itself too, with its own entity")
    func objectIDs() throws {
        let request = request(
            "author",
            column("id", CoreData.NSExpression.expressionForEvaluatedObject(), .objectIDAttributeType),
            by: ["title"]
        )
        let first = try #require(try context.fetch(request).first)
        let book = try #require(try context.all(Book.self, "Book", by: "title").first)
        #expect(first["id"] as? NSManagedObjectID == book.objectID)
        #expect(first["author"] as? NSManagedObjectID == book.author?.objectID)
        let people = NSFetchRequest<NSDictionary>(entityName: "Person")
        (people.resultType, people.propertiesToFetch) = (.dictionaryResultType, ["objectID"])
        #expect((try context.fetch(people).first?["objectID"] as? NSManagedObjectID)?.entity.name == "Author")
    }

    @Test("computes aggregates and arithmetic over all rows, or over groups")
    func aggregates() throws {
        let functions = ["count:", "sum:", "average:", "min:", "max:"]
        let whole = request()
        whole.propertiesToFetch = functions.map { aggregate($0, "pages") }
        #expect(try rows(whole) == ["average:=20.0 count:=4 max:=30 min:=10 sum:=80"])
        let ratio = CoreData.NSExpression(format: "sum:(price) / count:(price) + 1")
        let groups = request("pages", aggregate("count:", "title", "n"), column("ratio", ratio, .doubleAttributeType), by: ["n", "pages"])
        groups.propertiesToGroupBy = ["pages"]
        #expect(try rows(groups) == ["n=1 pages=10 ratio=1.5", "n=1 pages=30", "n=2 pages=20 ratio=3.0"])
        groups.havingPredicate = NSPredicate(format: "$n > 1 OR pages == 30")
        #expect(try rows(groups).count == 2)
        groups.havingPredicate = NSPredicate(format: "n == 2 AND sum:(pages) == 40")
        #expect(try rows(groups) == ["n=2 pages=20 ratio=3.0"])
    }

    @Test("sums the integers of a to-many relationship for each object, of none to 0")
    func sumsOfCollections() throws {
        let another = Author(context: context)
        another.name = "Bob"
        try context.save()
        let authors = NSFetchRequest<NSDictionary>(entityName: "Author")
        authors.resultType = .dictionaryResultType
        authors.propertiesToFetch = [
            "name", column("path", CoreData.NSExpression(format: "books.@sum.pages"), .integer64AttributeType),
            aggregate("sum:", "books.pages", "function"),
        ]
        authors.sortDescriptors = [NSSortDescriptor(key: "path", ascending: false)]
        #expect(try rows(authors) == ["function=30 name=Ann path=30", "function=0 name=Bob path=0"])
        authors.predicate = NSPredicate(format: "books.@sum.pages > 10")
        #expect(throws: CocoaError.self) { try context.fetch(authors) }
    }

    @Test("groups by a path, sorts by a result, and counts limit and offset in groups")
    func windows() throws {
        let groups = request("author.name", aggregate("sum:", "pages", "total"))
        groups.propertiesToGroupBy = ["author.name"]
        groups.sortDescriptors = [NSSortDescriptor(key: "total", ascending: false)]
        #expect(try rows(groups) == ["total=50", "author.name=Ann total=30"])
        (groups.fetchOffset, groups.fetchLimit) = (1, 1)
        #expect(try rows(groups) == ["author.name=Ann total=30"] && context.count(for: groups) == 1)
    }

    @Test("gives each row once where it is asked to")
    func distinct() throws {
        let request = request("pages", by: ["pages"])
        #expect(try rows(request).count == 4)
        request.returnsDistinctResults = true
        #expect(try rows(request) == ["pages=10", "pages=20", "pages=30"])
        request.predicate = NSPredicate(format: "pages > 10")
        #expect(try rows(request) == ["pages=20", "pages=30"])
    }

    @Test("asks the store only, also in a child, whatever is unsaved")
    func pendingChanges() throws {
        Book(context: context).title = "unsaved"
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        #expect(try rows(request("title")).count == 4 && rows(request("title"), in: child).count == 4)
    }

    @Test("runs one statement")
    func statements() throws {
        let groups = request("author.name", aggregate("average:", "pages"))
        groups.propertiesToGroupBy = ["author.name"]
        let statements = try library.statements { _ = try context.fetch(groups) }
        #expect(statements.count == 1, "\(statements)")
    }

    // * The number and the longest of the books are asked for by groups of authors, and then of books.
    // => The first is refused with the cure, which the second is.
    @Test("says where to group what a to-many relationship has")
    func groupsOfContents() throws {
        for contents in ["count:(books)", "max:(books.pages)", "books.@count", "books.@sum.pages"] {
            let authors = NSFetchRequest<NSDictionary>(entityName: "Author")
            authors.resultType = .dictionaryResultType
            authors.propertiesToFetch = ["name", column("n", CoreData.NSExpression(format: contents))]
            authors.propertiesToGroupBy = ["name"]
            let error = #expect(throws: CocoaError.self) { try context.fetch(authors) }
            #expect(error?.localizedDescription.contains("fetch the entity that the relationship leads to") == true)
        }
        let books = request("author.name", aggregate("count:", "title"), aggregate("max:", "pages"))
        (books.predicate, books.propertiesToGroupBy) = (NSPredicate(format: "author != nil"), ["author.name"])
        #expect(try rows(books) == ["author.name=Ann count:=2 max:=20"])
    }

    @Test("says what is wrong with columns, groups and order")
    func refusals() throws {
        func reason(_ request: NSFetchRequest<NSDictionary>) -> String {
            do { _ = try context.fetch(request) } catch let error as CocoaError {
                return error.code.rawValue == 134_060 ? error.localizedDescription : "\(error.code.rawValue)"
            } catch { return "\(error)" }
            return "nothing"
        }
        #expect(reason(request("nothing")).contains("Book has no property “nothing”"))
        #expect(reason(request("author.nothing")).contains("Author has no property “nothing”"))
        #expect(reason(request("chapters")).contains("to-many"))
        #expect(reason(request(7)).contains("Int"))
        #expect(reason(request("title", aggregate("count:", "pages"))).contains("neither an aggregate nor grouped"))
        let nested = CoreData.NSExpression(forFunction: "sum:", arguments: [CoreData.NSExpression(format: "count:(pages)")])
        #expect(reason(request(column("n", nested))).contains("inside of another"))
        #expect(reason(request(column("n", CoreData.NSExpression(forVariable: "x")))).contains("“n”"))
        let uppercase = column("n", CoreData.NSExpression(format: "uppercase:(title)"))
        #expect(reason(request(uppercase)).contains("“n” is nothing that a store can compute. It computes"))
        let having = request("title")
        having.havingPredicate = NSPredicate(format: "title == 'x'")
        #expect(reason(having).contains("propertiesToGroupBy"))
        having.propertiesToGroupBy = ["title"]
        having.havingPredicate = NSPredicate(format: "$missing == 1")
        #expect(reason(having).contains("havingPredicate"))
        let sorted = request("pages", aggregate("count:", "title"), by: ["title"])
        sorted.propertiesToGroupBy = ["pages"]
        #expect(reason(sorted).contains("sorted by “title”"))
        let block = request("title")
        block.predicate = NSPredicate { _, _ in true }
        #expect(reason(block).contains("memory"))
        let objects = NSFetchRequest<Book>(entityName: "Book")
        objects.propertiesToGroupBy = ["title"]
        #expect(errorCode { _ = try context.fetch(objects) } == 134_060)
    }

    @Test("of several stores merges rows, groups, averages and order")
    func severalStores() throws {
        let url = library.home.url("Other.sqlite")
        try library.coordinator.addPersistentStore(ofType: library.kind.type, configurationName: nil, at: url, options: nil)
        let other = try #require(library.coordinator.persistentStore(for: url))
        for pages in [20, 40] {
            let book = Book(context: context)
            context.assign(book, to: other)
            (book.title, book.pages) = ("o\(pages)", Int32(pages))
        }
        try context.save()
        let groups = request("pages", aggregate("count:", "title", "n"), by: ["pages"])
        groups.propertiesToGroupBy = ["pages"]
        groups.havingPredicate = NSPredicate(format: "$n < 9")
        #expect(try rows(groups) == ["n=1 pages=10", "n=3 pages=20", "n=1 pages=30", "n=1 pages=40"])
        (groups.fetchOffset, groups.fetchLimit) = (1, 1)
        #expect(try rows(groups) == ["n=3 pages=20"])
        try havingAcrossStores(other)
        #expect(try rows(request(aggregate("average:", "pages"), aggregate("max:", "pages"))) == ["average:=23.333333333333332 max:=40"])
        groups.affectedStores = [other]
        (groups.fetchOffset, groups.fetchLimit) = (0, 0)
        #expect(try rows(groups) == ["n=1 pages=20", "n=1 pages=40"])
        let ratio = request(column("r", CoreData.NSExpression(format: "sum:(pages) / count:(pages)")))
        #expect(errorCode { _ = try context.fetch(ratio) } == 134_060)
    }

    @Test("of several stores are of the type that was asked for once they are put together", arguments: [1, 2])
    func typesAcrossStores(stores: Int) throws {
        let url = library.home.url("Other.sqlite")
        try library.coordinator.addPersistentStore(ofType: library.kind.type, configurationName: nil, at: url, options: nil)
        let place = try #require(stores == 2 ? library.coordinator.persistentStore(for: url) : library.coordinator.persistentStores.first)
        for store in [place, library.coordinator.persistentStores[0]] {
            let book = Book(context: context)
            context.assign(book, to: store)
            (book.title, book.pages) = ("half", 3)
        }
        try context.save()
        let sum = NSExpressionDescription()
        (sum.name, sum.expressionResultType) = ("sum", .integer64AttributeType)
        sum.expression = CoreData.NSExpression(format: "sum:(pages * 0.5)")
        let request = request(sum)
        request.predicate = NSPredicate(format: "title == 'half'")
        #expect(try rows(request) == ["sum=3"])
    }

    /// A key path, and an aggregate that is nil in some group: as one store answers.
    private func havingAcrossStores(_ other: NSPersistentStore) throws {
        let (author, orphan) = (Author(context: context), Book(context: context))
        let book = Book(context: context)
        for object in [author, orphan, book] { context.assign(object, to: other) }
        (author.name, book.author, book.title, orphan.title) = ("Ann", author, "a", "b")
        try context.save()
        let request = request("author.name", aggregate("max:", "copies", "most"), by: ["author.name"])
        request.sortDescriptors = []
        request.propertiesToGroupBy = ["author.name"]
        request.havingPredicate = NSPredicate(format: "author.name != nil")
        #expect(try context.fetch(request).map { $0["author.name"] as? String } == ["Ann"])
        book.setValue(nil, forKey: "copies")
        try context.save()
        request.havingPredicate = NSPredicate(format: "$most > 100")
        #expect(try context.fetch(request).isEmpty)
        request.havingPredicate = NSPredicate(format: "$most == nil AND author.name != nil")
        #expect(try context.fetch(request).map { $0["author.name"] as? String } == ["Ann"])
        for comparison in ["NOT ($most == 5)", "$most != 5"] {
            request.havingPredicate = NSPredicate(format: "author.name != nil AND \(comparison)")
            #expect(try context.fetch(request).isEmpty)
        }
        for object in [author, orphan, book] { context.delete(object) }
        try context.save()
    }

    // * Books in two stores; an order by a closure, and one by a key path without a name.
    // => Refused as over one store: with a limit, other rows would come.
    @Test("of several stores refuses an order that only memory knows, as of one", arguments: [1, 2])
    func memoryOrder(stores: Int) throws {
        let url = library.home.url("Other.sqlite")
        if stores == 2 { try library.coordinator.addPersistentStore(ofType: library.kind.type, configurationName: nil, at: url) }
        let request = request("title")
        let byClosure = NSSortDescriptor(key: "title", ascending: true) { _, _ in .orderedSame }
        for descriptor in [byClosure, NSSortDescriptor(keyPath: \Book.pages, ascending: true)] {
            request.sortDescriptors = [descriptor]
            #expect(errorCode { _ = try context.fetch(request) } == 134_060)
        }
    }

    @Test("of several stores tells groups apart that nobody fetches, and counts a to-many for each object", arguments: [1, 2])
    func hiddenGroups(stores: Int) throws {
        let url = library.home.url("Other.sqlite")
        try library.coordinator.addPersistentStore(ofType: library.kind.type, configurationName: nil, at: url, options: nil)
        let store = try #require(stores == 2 ? library.coordinator.persistentStore(for: url) : library.coordinator.persistentStores.first)
        for (title, pages) in [("e\u{301}", 501), ("\u{e9}", 501), ("x", 502)] {
            for place in [store, library.coordinator.persistentStores[0]] {
                let (book, tag) = (Book(context: context), Tag(context: context))
                for object in [book, tag] { context.assign(object, to: place) }
                (book.title, book.pages, book.tags) = (title, Int32(pages), [tag])
            }
        }
        try context.save()
        func asked(_ columns: Any..., by groups: [Any]) -> NSFetchRequest<NSDictionary> {
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, columns)
            (request.predicate, request.propertiesToGroupBy) = (NSPredicate(format: "pages > 500"), groups.isEmpty ? nil : groups)
            return request
        }
        let count = aggregate("count:", "title", "n")
        let hidden = asked(count, by: ["title"])
        #expect(try context.fetch(hidden).map { $0["n"] as? Int } == [2, 2, 2])
        hidden.havingPredicate = NSPredicate(format: "title == 'x'")
        #expect(try context.fetch(hidden).count == 1)
        (hidden.havingPredicate, hidden.returnsDistinctResults) = (nil, true)
        #expect(try context.fetch(hidden).map { $0["n"] as? Int } == [2])
        #expect(try context.fetch(asked(aggregate("count:", "tags", "n"), by: [])).map { $0["n"] as? Int } == [1, 1, 1, 1, 1, 1])
        let byCount = asked("tags.@count", count, by: ["tags.@count"])
        #expect(try context.fetch(byCount).map { $0["n"] as? Int } == [6])
        hidden.havingPredicate = NSPredicate(format: "pages > 1")
        #expect(errorCode { _ = try context.fetch(hidden) } == 134_060)
    }
}
