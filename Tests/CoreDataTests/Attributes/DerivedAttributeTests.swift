import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Without a delegate, a controller follows nothing.
private final class Follower: NSObject, NSFetchedResultsControllerDelegate {}

@Suite("A derived attribute")
struct DerivedAttributeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    // * A book with an author of a country, two pages, tags, a part and a friend; then the author is renamed, a page goes, another book gets a tag.
    // => Each form has its value once it is saved, in this context at once, and in another coordinator's.
    @Test("has what its expression says of the object that was saved", arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func forms(type: String) throws {
        let stack = Stack(DerivedShelf.make())
        try stack.coordinator.addPersistentStore(ofType: type, configurationName: nil, at: type == NSSQLiteStoreType ? folder.store : nil)
        let context = stack.newContext()
        let author = DerivedShelf.new(
            "Author",
            context,
            ["name": "Zoë", "country": DerivedShelf.new("Country", context, ["name": "Chad"])]
        )
        let book = DerivedShelf.new("Book", context, ["title": "Ein Über-Buch", "author": author])
        let pages = [(100, 0.5), (23, 0.25)].map { DerivedShelf.new("Page", context, ["words": $0.0, "weight": $0.1, "book": book]) }
        let tag = DerivedShelf.new("Tag", context, ["points": 3, "books": Set([book])])
        let part = DerivedShelf.new("Book", context, ["title": "II", "part": book, "friends": Set([book])])
        let start = Date()
        try context.save()
        for book in [book, part] { #expect(DerivedShelf.found(book) == DerivedShelf.expected(book)) }
        #expect(book.value(forKey: "search") as? String == "ein uber-buch")
        #expect(book.value(forKey: "wordCount") as? Int == 123)
        let saved = try #require(book.value(forKey: "saved") as? Date)
        #expect(saved >= start && saved <= Date())

        author.setValue("Ada", forKey: "name")
        context.delete(pages[0])
        part.setValue(Set([tag]), forKey: "tags")
        tag.setValue(5, forKey: "points")
        try context.save()
        let other = stack.newContext()
        for book in try DerivedShelf.books(other) { #expect(DerivedShelf.found(book) == DerivedShelf.expected(book)) }
        // Who did not change has to be read again.
        context.refreshAllObjects()
        #expect(book.value(forKey: "authorName") as? String == "Ada")
        #expect(
            try DerivedShelf.books(context, NSPredicate(format: "search BEGINSWITH 'ein' AND tagPoints == 5 AND pageCount == 1")) == [book]
        )
        try stack.close()
    }

    // * Eight seeds of 60 steps: everything that changes a value, also by batch requests, with a save after some of them.
    // => The file has what follows from its other values, for a stranger and for who reads again.
    @Test("follows whatever is done", arguments: 1...8)
    func walk(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let stack = try Stack(folder.store, DerivedShelf.make())
        let context = stack.newContext()
        func any(_ name: String) throws -> NSManagedObject? {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)).randomElement(using: &random)
        }
        for step in 0..<60 {
            let number = Int.random(in: 0..<100, using: &random)
            switch Int.random(in: 0..<14, using: &random) {
            case 0, 1: DerivedShelf.new("Book", context, ["title": "Bé \(number)", "author": try any("Author")])
            case 2: DerivedShelf.new("Page", context, ["words": number, "weight": Double(number) / 4, "book": try any("Book")])
            case 3: DerivedShelf.new("Tag", context, ["points": number])
            case 4: DerivedShelf.new("Author", context, ["name": "é\(number)", "country": try any("Country")])
            case 5: try any(["Page", "Book", "Tag", "Author", "Country"].randomElement(using: &random)!).map(context.delete)
            case 6: try any("Page")?.setValue(try any("Book"), forKey: "book")
            case 7: try any("Page")?.setValue(number, forKey: "words")
            case 8: try any("Book")?.setValue(try any("Book"), forKey: "part")
            case 9: try any("Book")?.mutableSetValue(forKey: "friends").addObjects(from: [try any("Book")].compactMap { $0 })
            case 10: try any("Book")?.mutableSetValue(forKey: "tags").addObjects(from: [try any("Tag")].compactMap { $0 })
            case 11:
                try any("Author")?.setValue(
                    number.isMultiple(of: 2) ? DerivedShelf.new("Country", context, ["name": "C\(number)"]) : nil,
                    forKey: "country"
                )
            case 12: try any("Book")?.setValue(number.isMultiple(of: 3) ? nil : "T\(number)", forKey: "title")
            default:
                try context.save()
                try batch(number, context)
                context.reset()
            }
            guard step % 5 == 4 else { continue }
            try context.save()
            context.refreshAllObjects()
            let stranger = try Stack(folder.store, DerivedShelf.make())
            for context in [context, stack.newContext(), stranger.newContext()] {
                for book in try DerivedShelf.books(context) {
                    #expect(DerivedShelf.found(book) == DerivedShelf.expected(book), "step \(step)")
                }
            }
            try stranger.close()
        }
        try stack.close()
    }

    private func batch(_ number: Int, _ context: NSManagedObjectContext) throws {
        let book = try DerivedShelf.books(context).first
        switch number % 4 {
        case 0: try context.execute(NSBatchInsertRequest(entityName: "Page", objects: [["words": number], ["words": 1, "weight": 0.5]]))
        case 1:
            let request = NSBatchUpdateRequest(entityName: "Page")
            request.propertiesToUpdate = ["words": number, "book": book as Any? ?? NSNull()]
            try context.execute(request)
        case 2:
            let request = NSBatchUpdateRequest(entityName: "Author")
            request.propertiesToUpdate = ["name": "n\(number)"]
            try context.execute(request)
        default:
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Page")
            request.predicate = NSPredicate(format: "words < %d", number)
            try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        }
    }

    // * Attributes are derived from derived ones, declared before and after these; everything is new in one save, then the author is renamed.
    // => All have their values: what one trigger writes, another does not undo.
    @Test("may be derived from derived ones, in whatever order they are declared", arguments: [false, true])
    func chained(isReversed: Bool) throws {
        func ordered(_ attributes: [NSAttributeDescription]) -> [NSAttributeDescription] { isReversed ? attributes.reversed() : attributes }
        let model = DerivedShelf.make { entities in
            entities["Author"]?.properties += ordered([
                DerivedShelf.derived("loud", "uppercase:(name)", .string), DerivedShelf.derived("quiet", "lowercase:(loud)", .string),
            ])
            entities["Book"]?.properties += ordered([
                DerivedShelf.derived("first", "author.quiet", .string), DerivedShelf.derived("second", "uppercase:(first)", .string),
            ])
        }
        let stack = try Stack(folder.store, model)
        let context = stack.newContext()
        let book = DerivedShelf.new("Book", context)
        let author = DerivedShelf.new("Author", context, ["name": "Ada"])
        book.setValue(author, forKey: "author")
        for name in ["Ada", "Eve"] {
            author.setValue(name, forKey: "name")
            try context.save()
            context.refreshAllObjects()
            let (small, capital) = (name.lowercased(), name.uppercased())
            #expect(["loud", "quiet"].map { author.value(forKey: $0) as? String } == [capital, small])
            #expect(["first", "second"].map { book.value(forKey: $0) as? String } == [small, capital])
        }
        try stack.close()
    }

    // * A sum is more than its attribute holds; the object is changed.
    // => The save has what anybody reads, and validation does not refuse the next one.
    @Test("that is too small for a sum does not keep its object from being saved")
    func narrow() throws {
        let model = DerivedShelf.make { $0["Book"]?.properties.append(DerivedShelf.derived("small", "pages.words.@sum", .integer16)) }
        let stack = try Stack(folder.store, model)
        let context = stack.newContext()
        let book = DerivedShelf.new("Book", context, ["title": "A"])
        DerivedShelf.new("Page", context, ["words": 70_000, "book": book])
        try context.save()
        let stranger = try Stack(folder.store, model)
        #expect(try DerivedShelf.books(stranger.newContext()).first?.value(forKey: "small") as? Int == book.value(forKey: "small") as? Int)
        try stranger.close()
        book.setValue("B", forKey: "title")
        #expect(throws: Never.self) { try context.save() }
        try stack.close()
    }

    // * An author goes to whom a relationship without an inverse leads, directly and over one more.
    // => There is no value, as for who follows the path.
    @Test("of an object that is deleted has no value, also where there is no inverse")
    func leftBehind() throws {
        let model = DerivedShelf.make { entities in
            entities["Tag"]?.relate("by", to: entities["Author"]!)
            entities["Page"]?.relate("tag", to: entities["Tag"]!)
            entities["Tag"]?.properties.append(DerivedShelf.derived("byName", "by.name", .string))
            entities["Page"]?.properties.append(DerivedShelf.derived("tagName", "uppercase:(tag.by.name)", .string))
            for name in ["Tag", "Page"] { entities[name]?.properties.forEach { $0.isOptional = true } }
        }
        let stack = try Stack(folder.store, model)
        let context = stack.newContext()
        let author = DerivedShelf.new("Author", context, ["name": "Ada"])
        let tag = DerivedShelf.new("Tag", context, ["by": author])
        let page = DerivedShelf.new("Page", context, ["tag": tag])
        try context.save()
        func names() -> [String?] { [tag.value(forKey: "byName") as? String, page.value(forKey: "tagName") as? String] }
        #expect(names() == ["Ada", "ADA"])
        context.delete(author)
        try context.save()
        context.refreshAllObjects()
        #expect(names() == [nil, nil])
        try stack.close()
    }

    // * A derived attribute is set, alone and with others; a new object gets one; a batch update wants to.
    // => The store keeps to the expression. The batch update throws.
    @Test("cannot be assigned for long")
    func assigned() throws {
        let stack = try Stack(folder.store, DerivedShelf.make())
        let context = stack.newContext()
        let book = DerivedShelf.new("Book", context, ["title": "A", "pageCount": 7, "upper": "no"])
        try context.save()
        #expect(DerivedShelf.found(book) == DerivedShelf.expected(book))
        book.setValue(9, forKey: "pageCount")
        try context.save()
        book.setValue(9, forKey: "pageCount")
        book.setValue("B", forKey: "title")
        try context.save()
        #expect(DerivedShelf.found(book) == DerivedShelf.expected(book) && !context.hasChanges)
        let other = stack.newContext()
        #expect(try DerivedShelf.books(other).map(DerivedShelf.found) == [DerivedShelf.expected(book)])
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.propertiesToUpdate = ["pageCount": 3]
        let error = cocoaError(134060) { try context.execute(request) }
        #expect(error?.localizedDescription.contains("pageCount") == true)
        try stack.close()
    }

    // * Somebody adds a page, by which the book's count is another in the same version.
    // => Who reads it again sees the count, and who changes the book's title without that is in no conflict.
    @Test("changes without a new version of its object")
    func others() throws {
        let stack = try Stack(folder.store, DerivedShelf.make())
        let context = stack.newContext()
        let book = DerivedShelf.new("Book", context, ["title": "A"])
        try context.save()
        let connection = try StorePlace.file(folder.store).connect(.readWrite, timeout: 1)
        defer { connection.close() }
        func count(_ book: NSManagedObject?) -> Int? { book?.value(forKey: "pageCount") as? Int }
        for number in 1...3 {
            let entity = "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Page'"
            try connection.run("INSERT INTO ZPAGE(Z_PK, Z_ENT, Z_OPT, ZBOOK) VALUES (\(number), (\(entity)), 1, 1)")
            #expect(count(book) == number - 1)
            let other = stack.newContext()
            #expect(count(try DerivedShelf.books(other).first) == number)
            book.setValue("A\(number)", forKey: "title")
            try context.save()
            #expect(count(book) == number)
        }
        try stack.close()
    }

    // * A results controller sorts by a count; a page moves.
    // => Once it is saved, the delegate has the new order. Nothing more is to be saved.
    @Test("is followed by a results controller, as objects of the save count as refreshed")
    func controller() throws {
        let stack = try Stack(folder.store, DerivedShelf.make())
        let context = stack.newContext()
        let books = ["A", "B", "C"].map { DerivedShelf.new("Book", context, ["title": $0]) }
        let page = DerivedShelf.new("Page", context, ["book": books[0]])
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = ["pageCount", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
        let controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: nil,
            cacheName: nil
        )
        let follower = Follower()
        controller.delegate = follower
        try controller.performFetch()
        func titles() -> [String?] { controller.fetchedObjects?.map { $0.value(forKey: "title") as? String } ?? [] }
        #expect(titles() == ["B", "C", "A"])
        page.setValue(books[1], forKey: "book")
        try context.save()
        #expect(!context.hasChanges)
        context.processPendingChanges()
        #expect(titles() == ["A", "C", "B"] && !context.hasChanges)
        withExtendedLifetime(follower) {}
        try stack.close()
    }

    // * A page comes up through a main context whose parent saves; the book was read in all of them.
    // => Once it is saved, who reads the book again has the count.
    @Test("is seen by children who read again")
    func children() throws {
        let stack = try Stack(folder.store, DerivedShelf.make())
        let root = NSManagedObjectContext(.privateQueue), main = NSManagedObjectContext(.privateQueue)
        root.persistentStoreCoordinator = stack.coordinator
        main.parent = root
        try main.performAndWait {
            let book = DerivedShelf.new("Book", main, ["title": "A"])
            try main.save()
            try root.performAndWait { try root.save() }
            for count in 1...3 {
                DerivedShelf.new("Page", main, ["words": 5, "book": book])
                try main.save()
                try root.performAndWait { try root.save() }
                main.refresh(book, mergeChanges: true)
                #expect(DerivedShelf.found(book)["pageCount"] == "\(count)" && DerivedShelf.found(book)["wordCount"] == "\(5 * count)")
            }
        }
        try stack.close()
    }

    // * A book comes up from two below, and is changed there; nobody follows, or all do. A note that is not saved is there meanwhile.
    // => Once the root has saved, those below have what the store computed, without a refresh, and still their own change.
    @Test("comes down to children, as what they saved has other values", arguments: [false, true])
    func comesDown(areFollowing: Bool) throws {
        let stack = try Stack(
            folder.store,
            DerivedShelf.make { entities in
                let note = attribute("note")
                note.isOptional = true
                entities["Book"]?.properties.append(note)
            }
        )
        let root = NSManagedObjectContext(.privateQueue), main = NSManagedObjectContext(.privateQueue),
            leaf = NSManagedObjectContext(.privateQueue)
        root.persistentStoreCoordinator = stack.coordinator
        main.parent = root
        leaf.parent = main
        for context in [main, leaf] { context.performAndWait { context.automaticallyMergesChangesFromParent = areFollowing } }
        let book = leaf.performAndWait { DerivedShelf.new("Book", leaf) }
        for count in 1...2 {
            try leaf.performAndWait {
                book.setValue("t\(count)", forKey: "title")
                DerivedShelf.new("Page", leaf, ["book": book])
                try leaf.save()
                book.setValue("mine", forKey: "note")
            }
            for context in [main, root] { try context.performAndWait { try context.save() } }
            for context in [main, leaf] { context.performAndWait {} }
            leaf.performAndWait {
                #expect(book.value(forKey: "pageCount") as? Int == count)
                #expect(book.value(forKey: "upper") as? String == "T\(count)")
                #expect(book.value(forKey: "note") as? String == "mine" && book.hasChanges)
            }
        }
        try stack.close()
    }
}
