import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The library model with its people in one store and everything else in another.
struct TwoStores {
    let stack: Stack
    let people: SQLiteStore
    let things: SQLiteStore

    let home: StoreHome

    init(_ home: StoreHome) throws {
        self.home = home
        stack = Stack(Self.model())
        people = try stack.add(home.url("people"), configuration: "People")
        things = try stack.add(home.url("things"), configuration: "Things")
    }

    /// The name of the one person and the label of the one tag.
    func values() throws -> [String] {
        [try home.sql("SELECT ZNAME FROM ZPERSON", in: "people"), try home.sql("SELECT ZLABEL FROM ZTAG", in: "things")]
    }

    static func model() -> NSManagedObjectModel {
        let model = LibraryModel.make()
        let people = model.entities.filter { ["Person", "Author", "Desk"].contains($0.name) }
        model.setEntities(people, forConfigurationName: "People")
        model.setEntities(model.entities.filter { !people.contains($0) }, forConfigurationName: "Things")
        return model
    }
}

@Suite("Several stores on one coordinator")
struct StoresTests {
    /// Two stores of the whole model.
    private func twins(_ home: StoreHome) throws -> (stack: Stack, first: SQLiteStore, second: SQLiteStore) {
        let stack = Stack()
        return (stack, try stack.add(home.url("first")), try stack.add(home.url("second")))
    }

    @Test("say which configurations they are of to who saves an object that is in none of these")
    func missingConfiguration() throws {
        let stack = Stack(TwoStores.model())
        let home = try StoreHome(.file)
        try stack.add(home.url("people"), configuration: "People")
        let context = stack.newContext()
        Tag(context: context).label = "t"
        let text = cocoaError(134030) { try context.save() }?.localizedDescription
        #expect(text == "No store of the coordinator takes objects of entity Tag: their configurations are People.")
    }

    @Test("take new objects by configuration, and each has only its own tables", arguments: StoreKind.allCases)
    func configurations(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let stores = try TwoStores(home)
        let context = stores.stack.newContext()
        let (author, tag) = (Author(context: context), Tag(context: context))
        (author.name, tag.label) = ("n", "l")
        try context.save()
        #expect(author.objectID.persistentStore === stores.people)
        #expect(tag.objectID.persistentStore === stores.things)
        #expect(try home.sql("SELECT group_concat(Z_NAME) FROM Z_PRIMARYKEY", in: "people") == "Desk,Person,Author")
        #expect(try home.sql("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZTAG'", in: "people") == "0")
        #expect(try home.sql("SELECT COUNT(*) FROM ZTAG", in: "things") == "1")
        try stores.stack.close()

        let again = try TwoStores(home)
        #expect(try again.stack.newContext().labels() == ["l"])
        #expect(try again.stack.newContext().all(Person.self, "Person").map(\.name) == ["n"])
    }

    @Test("refuse a relationship from one to the other with 133010, and write nothing", arguments: StoreKind.allCases)
    func crossingRelationship(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let stores = try TwoStores(home)
        let context = stores.stack.newContext()
        let (author, book) = (Author(context: context), Book(context: context))
        book.title = "t"
        book.author = author
        let error = cocoaError(133010) { try context.save() }
        #expect(error?.localizedDescription.contains("to an object of Author in another store") == true)
        #expect(author.isInserted && book.isInserted)
        #expect(try home.sql("SELECT COUNT(*) FROM ZPERSON", in: "people") == "0")
        book.author = nil
        try context.save()
        book.author = author
        cocoaError(133010) { try context.save() }
    }

    @Test("refuse a many-to-many link from one to the other with 133010", arguments: StoreKind.allCases)
    func crossingLink(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (stack, first, second) = try twins(home)
        let context = stack.newContext()
        let (book, tag) = (Book(context: context), Tag(context: context))
        book.title = "t"
        context.assign(book, to: first)
        context.assign(tag, to: second)
        book.tags = [tag]
        cocoaError(133010) { try context.save() }
        book.tags = []
        try context.save()
    }

    @Test(
        "refuse pairs of a many-to-many between objects of two of them, which neither could hold",
        arguments: StoreKind.allCases,
        [true, false]
    )
    func pairsBetweenStores(kind: StoreKind, isBook: Bool) throws {
        let home = try StoreHome(kind)
        let model = LibraryModel.make()
        let names = ["Tag", "Desk"]
        model.setEntities(model.entities.filter { names.contains($0.name ?? "") }, forConfigurationName: "Tags")
        model.setEntities(model.entities.filter { !names.contains($0.name ?? "") }, forConfigurationName: "Books")
        let stack = Stack(model)
        try stack.add(home.url("tags"), configuration: "Tags")
        try stack.add(home.url("books"), configuration: "Books")
        let context = stack.newContext()
        let (book, tag) = (Book(context: context), Tag(context: context))
        book.title = "t"
        try context.save()
        if isBook { book.tags = [tag] } else { tag.books = [book] }
        cocoaError(133010) { try context.save() }
        #expect(book.tags == [tag] && context.hasChanges)
        book.tags = []
        try context.save()
    }

    @Test("take an object where it was assigned to, else the first", arguments: StoreKind.allCases)
    func assignment(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (stack, first, second) = try twins(home)
        let context = stack.newContext()
        let tags = (0..<3).map { number in
            let tag = Tag(context: context)
            tag.label = "\(number)"
            return tag
        }
        context.assign(tags[1], to: second)
        context.assign(tags[2], to: first)
        try context.save()
        #expect(tags.map { $0.objectID.persistentStore === second } == [false, true, false])
        #expect(try home.sql("SELECT ZLABEL FROM ZTAG", in: "second") == "1")
        // => An object of the second store is read from there, though the first has a row with the same key.
        let other = stack.newContext()
        #expect(try (other.existingObject(with: tags[1].objectID) as? Tag)?.label == "1")
        #expect(try (other.existingObject(with: tags[0].objectID) as? Tag)?.label == "0")
        #expect(tags[0].objectID != tags[1].objectID)
    }

    @Test("take a new object that nobody has assigned where what it is related to is, however far", arguments: StoreKind.allCases)
    func relatedAssignment(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (stack, first, second) = try twins(home)
        let context = stack.newContext()
        let author = Author(context: context)
        context.assign(author, to: second)
        try context.save()
        // * A to-one, its to-many, a many-to-many at the end of it, and objects that are related to nothing.
        let (book, chapter, tag, other) = (Book(context: context), Chapter(context: context), Tag(context: context), Tag(context: context))
        (book.title, book.author, book.chapters, book.tags) = ("t", author, [chapter], [tag])
        try context.save()
        #expect([book, chapter, tag].allSatisfy { $0.objectID.persistentStore === second } && other.objectID.persistentStore === first)
        #expect(try home.sql("SELECT (SELECT COUNT(*) FROM Z_1TAGS), ZAUTHOR FROM ZBOOK", in: "second") == "1|1")
        // * In a child, where IDs come from the pool; and where they are obtained.
        let child = Layers.child(of: context, "child")
        let (pooled, obtained) = (Book(context: child), Book(context: child))
        (pooled.title, pooled.author, obtained.title, obtained.author) = ("p", child.own(author), "o", child.own(author))
        try child.obtainPermanentIDs(for: [obtained])
        #expect(obtained.objectID.persistentStore === second)
        try child.save()
        try context.save()
        #expect(try home.sql("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR = 1", in: "second") == "3")
    }

    @Test("are fetched as one, in order, within limit and offset", arguments: StoreKind.allCases)
    func fetching(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (stack, _, second) = try twins(home)
        let context = stack.newContext()
        for number in 0..<20 {
            let tag = Tag(context: context)
            tag.label = String(UnicodeScalar(UInt8(97 + number)))
            if number % 2 == 0 { context.assign(tag, to: second) }
        }
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: false)]
        request.predicate = NSPredicate(format: "label < 's'")
        (request.fetchLimit, request.fetchOffset) = (4, 3)
        #expect(try context.fetch(request).compactMap(\.label) == ["o", "n", "m", "l"])
        try context.save()
        #expect(try context.fetch(request).compactMap(\.label) == ["o", "n", "m", "l"])
        #expect(try context.count(for: request) == 4)
        request.fetchOffset = 16
        #expect(try context.count(for: request) == 2)
        request.fetchOffset = 3
        request.affectedStores = [second]
        #expect(try context.fetch(request).compactMap(\.label) == ["k", "i", "g", "e"])
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Tag")
        ids.resultType = .managedObjectIDResultType
        (ids.sortDescriptors, ids.fetchLimit) = (request.sortDescriptors, 2)
        #expect(try context.fetch(ids).map { (try context.existingObject(with: $0) as? Tag)?.label } == ["t", "s"])
    }

    @Test("are told apart by the URIs of their objects", arguments: StoreKind.allCases)
    func uris(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (stack, first, second) = try twins(home)
        let context = stack.newContext()
        let tags = [Tag(context: context), Tag(context: context)]
        for (tag, store) in zip(tags, [first, second]) {
            tag.label = store === first ? "1" : "2"
            context.assign(tag, to: store)
        }
        try context.save()
        for (tag, store) in zip(tags, [first, second]) {
            let uri = tag.objectID.uriRepresentation()
            #expect(uri.absoluteString == "x-coredata://\(store.identifier!)/Tag/p1")
            let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
            #expect(id == tag.objectID && id.persistentStore === store)
            #expect(try (stack.newContext().existingObject(with: id) as? Tag)?.label == tag.label)
        }
    }

    @Test("give no ID for a URI that is not one of theirs", arguments: StoreKind.allCases)
    func badURIs(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let stores = try TwoStores(home)
        let context = stores.stack.newContext()
        let tag = Tag(context: context)
        let temporary = tag.objectID.uriRepresentation().absoluteString
        #expect(temporary.hasPrefix("x-coredata:///Tag/t"))
        let people = stores.people.identifier!
        for text in [
            temporary, "x-coredata://\(UUID())/Tag/p1", "x-coredata://\(people)/Nothing/p1", "x-coredata://\(people)/Tag/p1",
            "x-coredata://\(people)/Person/p0", "x-coredata://\(people)/Person/p-1", "x-coredata://\(people)/Person/p+1",
            "x-coredata://\(people)/Person/p99999999999999999999", "x-coredata://\(people)/Person/p1/x", "x-coredata://\(people)/Person/1",
            "x-coredata://\(people)/Person", "http://\(people)/Person/p1", "x-coredata:", "", "x-coredata://\(people)/Person/pé",
        ] {
            #expect(stores.stack.coordinator.managedObjectID(for: text) == nil, "\(text)")
        }
        // => A URI whose row is gone gives an ID; looking the object up throws.
        let missing = try #require(stores.stack.coordinator.managedObjectID(for: "x-coredata://\(people)/Person/p77"))
        cocoaError(133000) { _ = try context.existingObject(with: missing) }
    }

    // * UserDefaults is given an object's URI, and gives what it has kept; somebody asks for the ID of another file.
    // => The log says of the first what to keep instead.
    @Test("tell of a URI that UserDefaults has shortened to its path")
    func shortenedURI() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let stores = try TwoStores(StoreHome(.memory))
            let (defaults, key) = (UserDefaults.standard, "shortenedURI")
            defaults.set(URL(string: "x-coredata://\(stores.people.identifier!)/Person/p1"), forKey: key)
            let kept = try #require(defaults.url(forKey: key))
            defaults.removeObject(forKey: key)
            for url in [kept, URL(fileURLWithPath: "/Person/x"), URL(fileURLWithPath: "/Nothing/p1")] {
                #expect(stores.stack.coordinator.managedObjectID(forURIRepresentation: url) == nil)
            }
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.components(separatedBy: "absoluteString").count == 2 && text.contains("file:///Person/p1"), "\(text)")
    }

    @Test("leave no log when they are removed, and their objects can then be neither read nor saved", arguments: StoreKind.allCases)
    func removal(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = home.url()
        let stack = try Stack(url)
        let context = stack.newContext()
        let (kept, fault) = (Tag(context: context), Tag(context: context))
        (kept.label, fault.label) = ("kept", "fault")
        try context.save()
        let id = fault.objectID
        let store = stack.coordinator.persistentStores[0]
        if kind == .file { #expect(exists(url, "-wal")) }
        try stack.coordinator.remove(store)
        #expect(!exists(url, "-wal") && !exists(url, "-shm"))
        #expect(stack.coordinator.persistentStores.isEmpty)
        #expect(store.persistentStoreCoordinator == nil)
        #expect(kept.label == "kept")
        kept.label = "changed"
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(throws: CocoaError.self) { _ = try context.labels() }
        #expect(throws: CocoaError.self) { _ = try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) }
        #expect(throws: CocoaError.self) { _ = try stack.newContext().existingObject(with: id) }
        cocoaError(134060) { try stack.coordinator.remove(store) }
        #expect(throws: CocoaError.self) { try context.obtainPermanentIDs(for: [Tag(context: context)]) }
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == nil)
    }

    @Test("are found by their place", arguments: StoreKind.allCases)
    func places(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (stack, first, second) = try twins(home)
        #expect(stack.coordinator.persistentStore(for: home.url("first")) === first)
        if kind == .file {
            #expect(stack.coordinator.persistentStore(for: home.folder.url.appendingPathComponent("x/../second")) === second)
        }
        #expect(stack.coordinator.persistentStore(for: home.url("third")) == nil)
        #expect(stack.coordinator.url(for: first) == home.url("first"))
    }
}

@Suite("A store's metadata")
struct MetadataTests {
    @Test("is written by the next save, also one without other changes; what is unknown stays", arguments: StoreKind.allCases)
    func writing(kind: StoreKind) throws {
        let library = try Library(kind)
        let (coordinator, store) = (library.coordinator, library.store)
        var metadata = coordinator.metadata(for: store)
        metadata["answer"] = 42
        metadata["nested"] = ["a": [1, 2], "d": Data([1])] as [String: Any]
        coordinator.setMetadata(metadata, for: store)
        let read = { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: library.url) }
        #expect(try read()["answer"] == nil)
        try library.context.save()
        #expect(try read()["answer"] as? Int == 42)
        Tag(context: library.context).label = "x"
        try library.context.save()
        try coordinator.remove(store)
        let again = try Stack(library.url)
        let found = again.coordinator.metadata(for: again.coordinator.persistentStores[0])
        #expect((found["nested"] as? [String: Any])?["d"] as? Data == Data([1]))
        #expect(found[NSStoreTypeKey] as? String == kind.type)
    }

    @Test("keeps the store's identifier and hashes, whatever is set", arguments: StoreKind.allCases)
    func stability(kind: StoreKind) throws {
        let library = try Library(kind)
        let uuid = library.store.identifier
        library.coordinator.setMetadata([NSStoreUUIDKey: "mine", NSStoreTypeKey: "Binary", "k": "v"], for: library.store)
        try library.context.save()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: library.url)
        #expect(metadata[NSStoreUUIDKey] as? String == uuid)
        #expect(metadata[NSStoreTypeKey] as? String == kind.type)
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.count == 6)
        #expect(metadata["k"] as? String == "v")
    }

    @Test("that no property list can hold fails the save, which succeeds once it is gone", arguments: StoreKind.allCases)
    func unwritable(kind: StoreKind) throws {
        let library = try Library(kind)
        let tag = Tag(context: library.context)
        library.coordinator.setMetadata(["bad": library], for: library.store)
        cocoaError(134070) { try library.context.save() }
        #expect(tag.isInserted)
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "0")
        library.coordinator.setMetadata([:], for: library.store)
        try library.context.save()
    }

    @Test("of a store that is not there cannot be read", arguments: StoreKind.allCases)
    func absent(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let url = kind == .file ? home.url() : URL(string: "file:///\(UUID().uuidString)?vfs=memdb")!
        cocoaError(260) { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: url) }
        cocoaError(134000) { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: "Cuneiform", at: url) }
    }

    @Test("of a file that is none cannot be read")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        let read = { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: folder.store) }
        try Data().write(to: folder.store)
        cocoaError(134020, read)
        try Data("no database, whatever its name says".utf8).write(to: folder.store)
        cocoaError(259, read)
    }
}
