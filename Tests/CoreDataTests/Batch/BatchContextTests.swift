import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A batch request of a context")
struct BatchContextTests {
    @Test("goes to the stores from any layer, and its result comes into the whole tree", arguments: StoreKind.allCases)
    func layers(_ kind: StoreKind) throws {
        let layers = Layers(try Library(kind))
        try layers.library.save(["A": 1, "B": 2, "C": 3])
        let tree = [layers.root, layers.main, layers.worker]
        let books = try tree.map { try $0.all(Book.self, sortedBy: "title") }
        books[0][0].title = "root's"
        books[1][0].pages = 10
        books[2][1].title = "worker's"
        let update = try layers.worker.batchUpdate("Book", ["copies": 5, "title": "new"], type: .updatedObjectIDsResultType)
        let delete = try layers.main.batchDelete("Book", "pages == 3", type: .resultTypeObjectIDs)
        let insert = try layers.worker.batchInsert("Book", [["title": "D"]], type: .objectIDs)
        for changes in [update.changedObjectIDs, delete.changedObjectIDs, insert.changedObjectIDs] {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: tree)
        }
        #expect(books.map { $0[0].copies } == [5, 5, 5])
        #expect(books.map { $0[1].title } == ["new", "new", "worker's"])
        #expect(books[0][0].title == "root's" && books[1][0].pages == 10)
        #expect(try tree.allSatisfy { try $0.all(Book.self, where: "title == 'D'").count == 1 })
        #expect(books.allSatisfy { $0[2].isDeleted || $0[2].managedObjectContext == nil })
        try layers.saveAll()
        #expect(try layers.library.sql("SELECT ZTITLE, ZPAGES, ZCOPIES FROM ZBOOK ORDER BY Z_PK") == "root's|10|5\nworker's|2|5\nD||")
    }

    @Test("can be asked of the coordinator", arguments: StoreKind.allCases)
    func coordinator(_ kind: StoreKind) throws {
        let library = try Library(kind)
        try library.save(["A": 1])
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.propertiesToUpdate = ["pages": 2]
        #expect((try library.coordinator.execute(request, with: library.context) as? NSBatchUpdateResult)?.result as? Bool == true)
        let books = try library.coordinator.execute(NSFetchRequest<Book>(entityName: "Book"), with: library.context)
        #expect((books as? [Book])?.count == 1)
        let other = try library.separateContext()
        expectError(.coreData, "another") { try library.coordinator.execute(request, with: other) }
    }

    @Test("makes the row cache forget what it has changed", arguments: StoreKind.allCases)
    func rowCache(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let book = try #require(try library.save(["A": 1]).first)
        for type in [NSBatchUpdateRequestResultType.statusOnlyResultType, .updatedObjectIDsResultType] {
            try library.context.batchUpdate("Book", ["pages": NSExpression(format: "pages + 1")], type: type)
            let other = try #require(try library.newContext().existingObject(with: book.objectID) as? Book)
            #expect(other.pages == (type == .statusOnlyResultType ? 2 : 3))
            library.context.refresh(book, mergeChanges: false)
            #expect(book.pages == other.pages)
        }
        try library.context.batchDelete("Book")
        #expect(throws: CocoaError.self) { try library.newContext().existingObject(with: book.objectID) }
    }

    @Test("is a conflict for objects that were not told of it", arguments: StoreKind.allCases)
    func conflict(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let book = try #require(try library.save(["A": 1]).first)
        book.title = "mine"
        try library.context.batchUpdate("Book", ["pages": 2])
        expectError(.managedObjectMerge) { try library.context.save() }
        library.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try library.context.save()
        #expect(try library.books() == "mine|2|3")
    }

    @Test("changes all stores that have the entity, or those that it names", arguments: StoreKind.allCases)
    func severalStores(_ kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let stores = try ["1.sqlite", "2.sqlite"].map {
            try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: home.url($0), options: nil)
        }
        let context = Library.context(on: coordinator)
        let count = { try stores.indices.map { try home.sql("SELECT COUNT(*), MAX(ZPAGES) FROM ZBOOK", in: "\($0 + 1).sqlite") } }
        for (index, store) in stores.enumerated() {
            let request = NSBatchInsertRequest(entityName: "Book", objects: [["title": "A", "pages": index], ["title": "B"]])
            request.affectedStores = [store]
            try context.execute(request)
        }
        #expect(try context.batchUpdate("Book", ["pages": NSExpression(format: "pages + 5")]).count == 4)
        #expect(try count() == ["2|5", "2|6"])
        try context.batchUpdate("Book", ["pages": 1]) { $0.affectedStores = [stores[0]] }
        #expect(try count() == ["2|1", "2|6"])
        expectError(.coreData, "affectedStores") { try context.batchDelete("Book") { $0.fetchLimit = 1 } }
        try context.batchDelete("Book") { ($0.fetchLimit, $0.affectedStores) = (1, [stores[1]]) }
        #expect(try count().map { $0.prefix(1) } == ["2", "1"])
        let other = try #require(
            try context.fetch(NSFetchRequest<Book>(entityName: "Book")).first { $0.objectID.persistentStore === stores[1] }
        )
        let chapter = NSBatchInsertRequest(entityName: "Chapter", objects: [["book": other.objectID]])
        expectError(.managedObjectExternalRelationship, "Chapter.book") { try context.execute(chapter) }
    }

    // * Of two stores one has an author; books of that one are given him by an update that names no store.
    // => The other store, where no book is meant, is no obstacle; where one is, nothing is written in either.
    @Test("leads the rows that it means to an object of their store, whatever other stores there are", arguments: StoreKind.allCases)
    func targetOfOneStore(_ kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let stores = try ["1.sqlite", "2.sqlite"].map {
            try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: home.url($0), options: nil)
        }
        let context = Library.context(on: coordinator)
        let author = Author(context: context)
        context.assign(author, to: stores[0])
        for (store, title) in zip(stores, ["A", "B"]) {
            let book = Book(context: context)
            book.title = title
            context.assign(book, to: store)
        }
        try context.save()
        let authors = { try stores.indices.map { try home.sql("SELECT ZTITLE, ZAUTHOR FROM ZBOOK", in: "\($0 + 1).sqlite") } }
        expectError(.managedObjectExternalRelationship, "Book.author") { try context.batchUpdate("Book", ["author": author.objectID]) }
        #expect(try authors() == ["A|", "B|"])
        #expect(try context.batchUpdate("Book", ["author": author.objectID], where: "title == 'A'").count == 1)
        #expect(try authors() == ["A|1", "B|"])
    }

    // * Two coordinators have a store each, with the same number there.
    // => Who names the other's store gets an error, and nothing is read or changed here.
    @Test("does nothing where a store is named that is another coordinator's", arguments: StoreKind.allCases)
    func strangers(_ kind: StoreKind) throws {
        let (library, other) = (try Library(kind), try Library(kind))
        try library.save(["A": 1])
        #expect(other.store.number == library.store.number)
        let context = library.context
        let fetch = NSFetchRequest<Book>(entityName: "Book")
        fetch.affectedStores = [other.store]
        expectError(.persistentStoreOperation) { _ = try context.fetch(fetch) }
        expectError(.persistentStoreOperation) { try context.batchDelete("Book") { $0.affectedStores = [other.store] } }
        expectError(.persistentStoreOperation) { try context.batchUpdate("Book", ["pages": 7]) { $0.affectedStores = [other.store] } }
        let insertion = NSBatchInsertRequest(entityName: "Book", objects: [["title": "B"]])
        insertion.affectedStores = [other.store]
        expectError(.persistentStoreOperation, "Book") { try context.execute(insertion) }
        #expect(try library.books() == "A|1|1")
        // The same store, as another coordinator has it, is the same.
        fetch.affectedStores = try library.separateCoordinator().persistentStores
        #expect(try context.fetch(fetch).count == 1)
    }

    // * A store in memory has no room for what a request would write.
    // => The request fails; what was there is there, and goes on.
    @Test("that has no room fails, and leaves the store as it was", arguments: StoreKind.allCases, [false, true])
    func noRoom(_ kind: StoreKind, isTracked: Bool) throws {
        let library = try Library(kind, options: [NSPersistentHistoryTrackingKey: isTracked])
        try library.save(["A": 1])
        let limit = try library.store.pool.write { connection in
            let limit = try connection.rows("PRAGMA max_page_count")
            _ = try connection.rows("PRAGMA max_page_count = 100")
            return limit
        }
        if kind == .memory { #expect(limit == [[.integer(Connection.largestMemorySize / 4096)]]) }
        let text = String(repeating: "x", count: 1000)
        expectError(.fileWriteOutOfSpace) { try library.context.batchInsert("Book", (0..<2000).map { ["title": "\($0)\(text)"] }) }
        expectError(.fileWriteOutOfSpace) { try library.context.batchUpdate("Book", ["title": String(repeating: text, count: 1000)]) }
        #expect(try library.books() == "A|1|1")
        try library.context.batchInsert("Book", [["title": "B"]])
        #expect(try library.context.batchDelete("Book").count == 2)
        let told = [["insert Book/p1"], ["insert Book/p2"], ["delete Book/p1", "delete Book/p2"]]
        if isTracked { #expect(try library.context.told() == told) }
    }

    @Test("is refused by stores that cannot, with the store and the request", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func incapable(_ type: String) throws {
        let home = try StoreHome(.file)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let url = home.folder.file("Document")
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        let context = Library.context(on: coordinator)
        let code = CocoaError.Code.persistentStoreUnsupportedRequestType
        expectError(code, "Document", "NSBatchDeleteRequest", type) { try context.batchDelete("Book") }
        expectError(code, "Document", "NSBatchUpdateRequest", type) { try context.batchUpdate("Book", ["pages": 1]) }
        expectError(code, "Document", "NSBatchInsertRequest", type) { try context.batchInsert("Book", [["title": "A"]]) }
    }

    @Test("is refused by a read-only store, a closed one, and by none")
    func refused() throws {
        let library = try Library()
        _ = try library.savedBook()
        let readOnly = try Library.context(on: library.separateCoordinator(options: [NSReadOnlyPersistentStoreOption: true]))
        expectError(.persistentStoreSave, "read-only") { try readOnly.batchDelete("Book") }
        expectError(.persistentStoreSave, "read-only") { try readOnly.batchUpdate("Book", ["pages": 1]) }
        expectError(.persistentStoreSave, "read-only") { try readOnly.batchInsert("Book", [["title": "A"]]) }
        try library.coordinator.remove(library.store)
        expectError(.persistentStoreOperation) { try library.context.batchDelete("Book") }
        #expect(throws: CocoaError.self) { try library.context.batchInsert("Book", [["title": "A"]]) }
        let alone = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        expectError(.persistentStoreOperation, "coordinator") { try alone.batchDelete("Book") }
    }

    // * A handler asks for a permanent ID of the object that it is given. The request ends, and so does the context.
    // => The object gets none, and the context has never had it.
    @Test("that inserts gives its handler an object that gets no permanent ID", arguments: StoreKind.allCases)
    func permanentID(_ kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.newContext()
        var count = 0
        let request = NSBatchInsertRequest(entityName: "Author") { (object: NSManagedObject) -> Bool in
            object.setValue("\(count)", forKey: "name")
            do { try context.obtainPermanentIDs(for: [object]) } catch { Issue.record("\(error)") }
            if !object.objectID.isTemporaryID || !context.registeredObjects.isEmpty { Issue.record("\(object)") }
            count += 1
            return count > 2
        }
        try context.execute(request)
        #expect(try library.sql("SELECT Z_PK, ZNAME FROM ZPERSON") == "1|0\n2|1")
    }
}
