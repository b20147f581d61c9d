import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A store with derived attributes")
struct DerivedStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "that cannot be computed is refused with its expression",
        arguments: [
            "pages.words", "pages.@max.words", "title.@count", "length:(title)", "nothing", "author.books.@count", "words + 1", "author",
        ]
    )
    func refused(expression: String) throws {
        let model = DerivedShelf.make { $0["Book"]?.properties.append(DerivedShelf.derived("odd", expression, .integer64)) }
        let error = cocoaError(134060) { try Stack(folder.store, model) }
        #expect(error?.localizedDescription.contains("attribute odd of entity Book") == true)
        #expect(error?.localizedDescription.contains(NSExpression(format: expression).description) == true)
        #expect(try folder.contents() == [])
    }

    @Test("is refused by stores that do not compute", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func documents(type: String) throws {
        let coordinator = Stack(DerivedShelf.make()).coordinator
        let error = cocoaError(134060) {
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("DerivedShelf.document"))
        }
        #expect(error?.localizedDescription.contains("is derived, which stores of SQLite and in memory compute") == true)
    }

    // * A version without derived attributes is followed by one with them; then one where their sources have another name.
    // => All have their values at once, and follow what is changed afterwards.
    @Test("is computed by a migration")
    func migrated() throws {
        let names = Set(DerivedShelf.derivations.map(\.0))
        let plain = DerivedShelf.make { $0["Book"]?.properties.removeAll { names.contains($0.name) } }
        let stack = try Stack(folder.store, plain)
        let context = stack.newContext()
        let author = DerivedShelf.new("Author", context, ["name": "Ada"])
        for number in 1...3 {
            let book = DerivedShelf.new("Book", context, ["title": "Bé\(number)", "author": author])
            for _ in 0..<number { DerivedShelf.new("Page", context, ["words": number, "weight": 0.5, "book": book]) }
        }
        DerivedShelf.new("Box", context)
        try context.save()
        try stack.close()

        let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        let renamed = DerivedShelf.make { entities in
            let page = entities["Page"]
            page?.renamingIdentifier = "Page"
            page?.name = "Leaf"
        }
        for model in [DerivedShelf.make(), renamed] {
            let stack = try Stack(folder.store, model, options: options)
            let context = stack.newContext()
            let books = try DerivedShelf.books(context)
            #expect(books.count == 3)
            for book in books { #expect(DerivedShelf.found(book) == DerivedShelf.expected(book)) }
            DerivedShelf.new(model === renamed ? "Leaf" : "Page", context, ["words": 1000, "book": books[0]])
            try context.save()
            for book in books { #expect(DerivedShelf.found(book) == DerivedShelf.expected(book)) }
            try stack.close()
        }
    }

    @Test("of a store that Apple's Core Data wrote goes on", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func apples() throws {
        try Fixtures.copyStore("samplemodel2/SampleModel2_V1.sqlite", to: folder.store)
        let model = try NSManagedObjectModel(contentsOfStoreAt: folder.store)
        // It is made by a transformer that only that program has.
        model.entitiesByName["Page"]?.propertiesByName["content"]?.isOptional = true
        let options = [NSPersistentHistoryTrackingKey: true, NSIgnorePersistentStoreVersioningOption: true]
        let stack = try Stack(folder.store, model, options: options)
        let context = stack.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        let books = try context.fetch(request)
        func counts() -> [Bool] {
            books.map { $0.value(forKey: "pagesCount") as? Int == ($0.value(forKey: "pages") as? Set<NSManagedObject>)?.count }
        }
        #expect(!books.isEmpty && counts().allSatisfy { $0 })
        let page = DerivedShelf.new("Page", context, ["number": 9999, "book": books[0]])
        try context.save()
        #expect(counts().allSatisfy { $0 })
        page.setValue(books.last, forKey: "book")
        try context.save()
        #expect(counts().allSatisfy { $0 })
        try stack.close()
    }

    // NB: SQLite's order is that of their names.
    @Test("has the triggers that Apple's Core Data makes", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func triggers() throws {
        try Fixtures.copyStore("samplemodel2/SampleModel2_V1.sqlite", to: folder.file("Apple.sqlite"))
        let model = try NSManagedObjectModel(contentsOfStoreAt: folder.file("Apple.sqlite"))
        try Stack(folder.store, model).close()
        let heads = try ["Apple.sqlite", "Store.sqlite"].map { name in
            let inspector = try StoreInspector(url: folder.file(name))
            defer { inspector.connection.close() }
            let triggers = try inspector.connection.rows("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
            return triggers.map { if case .text(let sql) = $0[0] { sql.components(separatedBy: " BEGIN ")[0] } else { "" } }
        }
        #expect(heads[0].count == 5 && heads[0] == heads[1])
    }
    // * Two attributes are derived from each other; one is derived from itself in the parent.
    // => The store is refused: triggers would set off each other without end, in every save.
    @Test(
        "is refused where it is derived from itself",
        arguments: [["other", "odd"], ["part.odd", "title"], ["uppercase:(odd)", "title"]]
    )
    func circular(expressions: [String]) throws {
        let model = DerivedShelf.make { entities in
            for (name, expression) in zip(["odd", "other"], expressions) {
                entities["Book"]?.properties.append(DerivedShelf.derived(name, expression, .string))
            }
        }
        let error = cocoaError(134060) { try Stack(folder.store, model) }
        #expect(error?.localizedDescription.contains("attribute odd of entity Book") == true)
        #expect(try folder.contents() == [])
    }
}
